"""Structures with a roof and a door: drawn as worlds.generate.blueprint says, in three variants each."""

from worlds.generate.blueprint import Blueprint, Canvas, ring
from worlds.generate.style import Style


def house(style: Style, variant: int) -> Blueprint:
    """Return a hut of 7 x 6, a house of 9 x 7 or one of 7 x 8, with windows, a bed and a chest."""
    size_x, size_z = ((7, 6), (9, 7), (7, 8))[variant]
    # One block of eaves on every side.
    canvas = Canvas(size_x + 2, size_z + 2, 5 + (size_z + 2) // 2)
    x, z = (1, size_x), (1, size_z)
    canvas.fill(x, (0, 0), z, style.floor)
    canvas.walls(x, (0, 0), z, "cobblestone")
    canvas.clear(x, (1, 4), z)
    canvas.walls(x, (1, 3), z, style.wall)
    for corner_x in x:
        for corner_z in z:
            canvas.fill((corner_x, corner_x), (1, 3), (corner_z, corner_z), style.post)
    door_x = (size_x + 1) // 2
    canvas.put_door(door_x, size_z, style.door, "north")
    canvas.clear((door_x, door_x), (1, 3), (size_z + 1, size_z + 1))
    for window_x in (3, size_x - 2):
        canvas.put(window_x, 2, 1, "glass_pane")
        if abs(window_x - door_x) > 1 or variant == 1:
            canvas.put(window_x, 2, size_z, "glass_pane")
    for window_z in range(3, size_z - 1, 2):
        canvas.put(1, 2, window_z, "glass_pane")
        canvas.put(size_x, 2, window_z, "glass_pane")
    _roof(canvas, style, x, z)
    canvas.put(door_x + 1, 2, size_z + 1, "wall_torch", facing="south")
    canvas.put(door_x, 3, 2, "wall_torch", facing="south")
    canvas.put_bed(2, 1, 3, "red_bed" if variant else "white_bed", "north")
    canvas.put(size_x - 1, 1, 2, "chest", facing="south")
    canvas.put(size_x - 2, 1, 2, "crafting_table")
    canvas.put(size_x - 1, 1, 3, "furnace", facing="west")
    if variant:
        canvas.put(size_x - 1, 1, size_z - 1, "bookshelf")
        canvas.put(size_x - 1, 2, size_z - 1, "bookshelf")
    return canvas.finish()


def _roof(canvas: Canvas, style: Style, x: tuple[int, int], z: tuple[int, int]) -> None:
    """Draw a gable roof whose ridge runs along x, or a flat one with a low wall around it."""
    if style.has_flat_roof:
        canvas.fill(x, (4, 4), z, style.wall)
        canvas.walls(x, (5, 5), z, style.slab)
        return
    low, high, y = z[0] - 1, z[1] + 1, 3
    while low < high:
        canvas.fill((x[0] - 1, x[1] + 1), (y, y), (low, low), style.stairs, facing="south")
        canvas.fill((x[0] - 1, x[1] + 1), (y, y), (high, high), style.stairs, facing="north")
        if low + 1 < high:
            if y > 3:
                canvas.clear((x[0] + 1, x[1] - 1), (y, y), (low + 1, high - 1))
                for gable_x in x:
                    canvas.fill((gable_x, gable_x), (y, y), (low + 1, high - 1), style.wall)
            elif low + 2 < high:
                canvas.fill(x, (4, 4), (low + 2, high - 2), style.wall)
        low, high, y = low + 1, high - 1, y + 1
    if low == high:
        canvas.fill((x[0] - 1, x[1] + 1), (y, y), (low, low), style.slab)


def igloo(style: Style, variant: int) -> Blueprint:
    """Return a dome of snow, 7 wide, with a short entrance."""
    canvas = Canvas(7, 9, 5)
    canvas.fill((1, 5), (0, 0), (1, 5), "snow_block")
    # Rows (y, half side, half diagonal).
    for y, half, diagonal in ((1, 3, 5), (2, 3, 5), (3, 2, 4), (4, 1, 2)):
        for x in range(7):
            for z in range(7):
                side, sum_of_sides = max(abs(x - 3), abs(z - 3)), abs(x - 3) + abs(z - 3)
                if side <= half and sum_of_sides <= diagonal:
                    is_shell = y == 4 or side == half or sum_of_sides == diagonal
                    canvas.put(x, y, z, "snow_block" if is_shell else "air")
    canvas.fill((2, 4), (0, 0), (7, 8), "snow_block")
    for side_x in (2, 4):
        canvas.fill((side_x, side_x), (1, 2), (6, 7), "snow_block")
    canvas.fill((2, 4), (3, 3), (6, 7), "snow_block")
    canvas.clear((3, 3), (1, 2), (6, 8))
    canvas.put(1, 2, 3, "ice")
    canvas.put(5, 2, 3, "ice")
    for x in range(2, 5):
        canvas.put(x, 1, 4, "white_carpet")
    canvas.put(3, 1, 5, "white_carpet")
    canvas.put_bed(2, 1, 3, "red_bed" if variant else "white_bed", "north")
    canvas.put(3, 1, 1, "furnace", facing="south")
    canvas.put(4, 1, 2, "crafting_table" if variant < 2 else "chest")
    canvas.put(4, 1, 3, "torch")
    return canvas.finish()


def witch_hut(style: Style, variant: int) -> Blueprint:
    """Return a hut on stilts with stairs up to its porch."""
    canvas = Canvas(7, 11, 8)
    canvas.clear((0, 6), (1, 2), (0, 10))
    for x in (1, 5):
        for z in (1, 5):
            canvas.fill((x, x), (1, 6), (z, z), "oak_log")
    canvas.fill((1, 5), (3, 3), (1, 7), "spruce_planks")
    canvas.clear((2, 4), (4, 6), (2, 4))
    for side in (1, 5):
        canvas.fill((side, side), (4, 6), (2, 4), "spruce_planks")
        canvas.fill((2, 4), (4, 6), (side, side), "spruce_planks")
    canvas.clear((3, 3), (4, 5), (5, 5))
    canvas.clear((1, 5), (4, 6), (6, 7))
    canvas.put(1, 5, 3, "glass_pane")
    canvas.put(5, 5, 3, "air")
    canvas.fill((0, 6), (7, 7), (0, 7), "spruce_slab")
    canvas.fill((1, 5), (7, 7), (1, 5), "spruce_planks")
    canvas.fill((2, 4), (8, 8), (2, 4), "spruce_slab")
    for x in (1, 5):
        canvas.put(x, 4, 6, "oak_fence")
        canvas.fill((x, x), (4, 6), (7, 7), "oak_fence")
    for x in (2, 4):
        canvas.put(x, 4, 7, "oak_fence")
    for step in range(3):
        canvas.fill((3, 3), (1, 6 - step), (8 + step, 8 + step), "air")
        canvas.put(3, 3 - step, 8 + step, "spruce_stairs", facing="north")
        if step < 2:
            canvas.fill((3, 3), (1, 2 - step), (8 + step, 8 + step), "spruce_planks")
    canvas.put(2, 4, 2, "cauldron")
    canvas.put(4, 4, 2, "crafting_table")
    canvas.put(4, 4, 4, "chest[facing=west]" if variant else "brown_mushroom")
    canvas.put(2, 5, 6, "wall_torch", facing="south")
    return canvas.finish()


def watch_tower(style: Style, variant: int) -> Blueprint:
    """Return a tower of stone bricks, 5 wide, with a ladder up to its platform."""
    height = 7 + 2 * variant
    canvas = Canvas(7, 7, height + 4)
    canvas.fill((1, 5), (0, 0), (1, 5), "cobblestone")
    canvas.walls((1, 5), (1, height), (1, 5), "stone_bricks")
    canvas.clear((2, 4), (1, height), (2, 4))
    for x, y, z in ((1, 2, 2), (5, 3, 4), (4, 1, 1), (1, 5, 4), (2, 4, 5), (5, 6, 2)):
        canvas.put(x, y, z, "mossy_stone_bricks" if (x + y) % 2 else "cracked_stone_bricks")
    canvas.clear((3, 3), (1, 2), (5, 6))
    for y in (4, 7):
        for x, z in ((1, 3), (5, 3), (3, 1)):
            if y < height and (x, z) != (3, 1):
                canvas.put(x, y, z, "iron_bars")
    canvas.fill((1, 5), (height, height), (1, 5), "stone_bricks")
    canvas.fill((3, 3), (1, height), (2, 2), "ladder", facing="south")
    canvas.clear((0, 6), (height + 1, height + 3), (0, 6))
    for x, z in ring(7):
        # A platform one block wider than the tower, with battlements.
        canvas.put(x, height, z, "stone_bricks")
        canvas.put(x, height + 1, z, "stone_bricks")
        if (x + z) % 2 == 0:
            canvas.put(x, height + 2, z, "stone_brick_slab")
    canvas.put(4, 1, 2, "chest", facing="south")
    canvas.put(2, 2, 6, "wall_torch", facing="south")
    canvas.put(4, 2, 6, "wall_torch", facing="south")
    canvas.put(4, height + 1, 4, "lantern")
    return canvas.finish()


def tent(style: Style, variant: int) -> Blueprint:
    """Return a tent of wool with a fire pit before it."""
    wool, stripe = (("red_wool", "white_wool"), ("blue_wool", "light_gray_wool"), ("yellow_wool", "green_wool"))[
        variant
    ]
    canvas = Canvas(7, 8, 4)
    canvas.clear((1, 5), (1, 3), (0, 7))
    for z in range(5):
        block = wool if z % 2 == 0 else stripe
        for level, side in ((1, 3), (2, 2), (3, 1)):
            canvas.put(3 - side, level, z, block)
            canvas.put(3 + side, level, z, block)
        canvas.put(3, 4, z, block)
    canvas.fill((1, 5), (1, 1), (0, 0), wool)
    canvas.fill((2, 4), (2, 2), (0, 0), wool)
    canvas.put(3, 3, 0, wool)
    canvas.fill((1, 5), (1, 1), (1, 3), "red_carpet" if variant == 0 else "white_carpet")
    canvas.put_bed(2, 1, 2, "red_bed" if variant else "white_bed", "north")
    canvas.put(4, 1, 1, "chest", facing="south")
    canvas.put(4, 1, 2, "crafting_table")
    canvas.put(3, 0, 6, "netherrack")
    for x, z in ((2, 6), (4, 6), (3, 5), (3, 7)):
        canvas.put(x, 0, z, "cobblestone")
    canvas.put(3, 1, 6, "torch")
    return canvas.finish()
