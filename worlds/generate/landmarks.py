"""Structures without a door: drawn as worlds.generate.blueprint says, in three variants each."""

from worlds.generate.blueprint import Blueprint, Canvas, ring
from worlds.generate.style import Style


def well(style: Style, variant: int) -> Blueprint:
    """Return a well with a roof on four posts."""
    stone = ("cobblestone", "stone_bricks", "mossy_cobblestone")[variant] if not style.has_flat_roof else "sandstone"
    canvas = Canvas(6, 6, 5, depth=4)
    canvas.fill((0, 5), (0, 0), (0, 5), "gravel" if not style.has_flat_roof else "sandstone")
    canvas.clear((0, 5), (1, 4), (0, 5))
    canvas.fill((1, 4), (-4, 1), (1, 4), stone)
    canvas.fill((2, 3), (-3, 0), (2, 3), "water")
    canvas.clear((2, 3), (1, 1), (2, 3))
    for x in (1, 4):
        for z in (1, 4):
            canvas.fill((x, x), (2, 3), (z, z), style.fence)
    canvas.fill((1, 4), (4, 4), (1, 4), style.slab)
    canvas.fill((2, 3), (4, 4), (2, 3), style.wall)
    return canvas.finish()


def lamp_post(style: Style, variant: int) -> Blueprint:
    """Return a post with a lantern and a piece of fence on either side, a signpost on a way."""
    canvas = Canvas(5, 3, 5)
    canvas.fill((2, 2), (1, 3), (1, 1), style.fence)
    canvas.put(2, 4, 1, "lantern" if variant < 2 else "jack_o_lantern")
    if variant == 0:
        canvas.fill((0, 4), (1, 1), (1, 1), style.fence)
    elif variant == 1:
        canvas.put(1, 3, 1, style.fence)
        canvas.put(3, 3, 1, style.fence)
        canvas.put(1, 4, 1, "lantern")
        canvas.put(3, 4, 1, "lantern")
        canvas.put(2, 4, 1, style.slab)
    else:
        canvas.put(1, 1, 1, "hay_block")
    return canvas.finish()


def animal_pen(style: Style, variant: int) -> Blueprint:
    """Return a fenced yard with a gate, hay and a trough."""
    size_x, size_z = ((9, 7), (8, 9), (11, 8))[variant]
    canvas = Canvas(size_x, size_z, 4)
    canvas.clear((0, size_x - 1), (1, 3), (0, size_z - 1))
    canvas.walls((0, size_x - 1), (1, 1), (0, size_z - 1), style.fence)
    gate_x = size_x // 2
    canvas.put(gate_x, 1, size_z - 1, style.gate, facing="south")
    for x in (gate_x - 1, gate_x + 1):
        canvas.put(x, 2, size_z - 1, "torch")
    canvas.put(1, 1, 1, "hay_block")
    canvas.put(2, 1, 1, "hay_block", axis="x")
    canvas.put(1, 2, 1, "hay_block")
    canvas.put(size_x - 2, 1, 1, "cauldron")
    # A shelter over the hay.
    canvas.fill((3, 3), (1, 2), (1, 1), style.fence)
    canvas.fill((1, 3), (3, 3), (1, 2), style.slab)
    canvas.fill((1, 1), (1, 2), (2, 2), style.fence)
    canvas.fill((3, 3), (1, 2), (2, 2), style.fence)
    return canvas.finish()


def farm(style: Style, variant: int) -> Blueprint:
    """Return a field of wheat on both sides of a ditch, in a frame of logs."""
    size_x, size_z = ((9, 7), (9, 9), (13, 7))[variant]
    canvas = Canvas(size_x, size_z, 2, depth=1)
    canvas.clear((0, size_x - 1), (1, 2), (0, size_z - 1))
    canvas.fill((0, size_x - 1), (-1, -1), (0, size_z - 1), "dirt")
    canvas.walls((0, size_x - 1), (0, 0), (0, size_z - 1), style.post)
    for z in (0, size_z - 1):
        canvas.fill((1, size_x - 2), (0, 0), (z, z), style.post + ("" if style.has_flat_roof else "[axis=x]"))
    canvas.fill((1, size_x - 2), (0, 0), (1, size_z - 2), "farmland")
    canvas.fill((1, size_x - 2), (1, 1), (1, size_z - 2), "wheat")
    ditch_z = size_z // 2
    canvas.fill((1, size_x - 2), (0, 0), (ditch_z, ditch_z), "water")
    canvas.clear((1, size_x - 2), (1, 1), (ditch_z, ditch_z))
    if variant == 2:
        canvas.fill((size_x // 2, size_x // 2), (0, 0), (1, size_z - 2), style.floor)
        canvas.clear((size_x // 2, size_x // 2), (1, 1), (1, size_z - 2))
    for x, z in ((0, 0), (size_x - 1, size_z - 1)):
        canvas.put(x, 1, z, style.fence)
        canvas.put(x, 2, z, "torch")
    return canvas.finish()


_MINE_DEPTH, _MINE_HALL = 9, 9


def mine(style: Style, variant: int) -> Blueprint:
    """Return a timbered gate and a slope of one in one down to a hall with rails and a chest."""
    size_z = 3 + _MINE_DEPTH + _MINE_HALL
    canvas = Canvas(5, size_z, 5, depth=_MINE_DEPTH + 1)
    front = size_z - 1
    canvas.clear((1, 3), (1, 4), (front - 2, front))
    canvas.fill((1, 3), (0, 0), (front - 1, front), "coarse_dirt")
    for step in range(_MINE_DEPTH):
        z = front - 2 - step
        floor = -1 - step
        canvas.clear((1, 3), (floor + 1, min(floor + 4, 4)), (z, z))
        canvas.fill((1, 3), (floor, floor), (z, z), "cobblestone" if (step + variant) % 3 else "gravel")
        if step % 3 == 2:
            _frame(canvas, style, floor + 1, z)
    floor = -_MINE_DEPTH
    back = front - 1 - _MINE_DEPTH
    canvas.clear((1, 3), (floor + 1, floor + 3), (1, back))
    canvas.fill((1, 3), (floor, floor), (0, back), "gravel")
    for z in range(back - 1, 0, -3):
        _frame(canvas, style, floor + 1, z)
    canvas.fill((2, 2), (floor + 1, floor + 1), (2, back), "rail")
    # The end wall shows what was mined here.
    ores = (("coal_ore", "iron_ore"), ("iron_ore", "gold_ore"), ("coal_ore", "diamond_ore"))[variant]
    canvas.fill((0, 4), (floor, floor + 3), (0, 0), "stone")
    for number, (x, y) in enumerate(((1, 1), (2, 2), (3, 1), (3, 2), (1, 3))):
        canvas.put(x, floor + y, 0, ores[number % 2])
    canvas.put(1, floor + 1, 1, "chest", facing="south")
    canvas.put(2, floor + 2, 1, "wall_torch", facing="south")
    canvas.put(3, floor + 1, back - 2, "barrel" if variant else "crafting_table")
    canvas.put(3, floor + 3, 1, "cobweb")
    # The gate.
    for x in (0, 4):
        canvas.fill((x, x), (1, 3), (front - 2, front - 2), style.post)
        canvas.put(x, 4, front - 2, "torch")
    canvas.fill((0, 4), (4, 4), (front - 2, front - 2), style.wall)
    canvas.put(0, 3, front - 1, "wall_torch", facing="south")
    canvas.put(4, 3, front - 1, "wall_torch", facing="south")
    canvas.put(1, 1, front, style.fence)
    return canvas.finish()


def _frame(canvas: Canvas, style: Style, y: int, z: int) -> None:
    """Draw two posts and a beam, 3 high, with a torch every time."""
    for x in (1, 3):
        canvas.fill((x, x), (y, y + 1), (z, z), style.fence)
    canvas.fill((1, 3), (y + 2, y + 2), (z, z), style.wall)


def ruined_portal(style: Style, variant: int) -> Blueprint:
    """Return a frame of obsidian, alight in one variant, with some of it fallen in the others."""
    canvas = Canvas(8, 6, 7)
    canvas.clear((1, 6), (1, 6), (1, 4))
    for x, z, block in (
        (0, 2, "netherrack"), (1, 1, "netherrack"), (1, 3, "magma_block"), (2, 4, "netherrack"), (3, 3, "netherrack"),
        (4, 1, "netherrack"), (5, 3, "netherrack"), (6, 2, "magma_block"), (6, 4, "netherrack"), (7, 3, "netherrack"),
        (2, 1, "cobblestone"), (5, 4, "mossy_stone_bricks"), (4, 3, "stone_bricks"), (3, 1, "cracked_stone_bricks"),
    ):  # fmt: skip
        canvas.put(x, 0, z, block)
    canvas.fill((2, 5), (1, 5), (2, 2), "obsidian")
    canvas.fill((2, 5), (0, 0), (2, 2), "obsidian")
    canvas.fill((3, 4), (1, 4), (2, 2), "nether_portal[axis=x]" if variant == 0 else "air")
    if variant:
        for x, y in ((5, 5), (4, 5), (5, 4)) if variant == 1 else ((2, 5), (2, 3), (2, 4), (3, 5)):
            canvas.put(x, y, 2, "air")
        canvas.put(6, 1, 2, "obsidian")
        canvas.put(1, 1, 3, "stone_brick_slab")
    canvas.put(1, 1, 2, "stone_bricks")
    canvas.put(2, 1, 3, "mossy_stone_bricks")
    canvas.put(6, 1, 4, "chest", facing="south")
    canvas.put(0, 1, 2, "gold_block" if variant == 2 else "netherrack")
    return canvas.finish()


def pyramid(style: Style, variant: int) -> Blueprint:
    """Return a stepped pyramid with a corridor to the chamber in its middle."""
    size = (13, 15, 11)[variant]
    stone, line = ("sandstone", "orange_terracotta") if variant != 2 else ("red_sandstone", "blue_terracotta")
    height = size // 2
    middle = size // 2
    canvas = Canvas(size, size, height + 1, depth=1)
    canvas.fill((0, size - 1), (-1, 0), (0, size - 1), stone)
    for y in range(1, height + 1):
        edge = y - 1
        canvas.fill((edge, size - 1 - edge), (y, y), (edge, size - 1 - edge), stone)
        if y % 3 == 0:
            canvas.walls((edge, size - 1 - edge), (y, y), (edge, size - 1 - edge), line)
    canvas.put(middle, height + 1, middle, "blue_terracotta" if variant == 0 else line)
    canvas.clear((middle - 2, middle + 2), (1, 3), (middle - 2, middle + 2))
    canvas.clear((middle, middle), (1, 2), (middle + 3, size - 1))
    # The front door stands out of the slope.
    for x in (middle - 1, middle + 1):
        canvas.fill((x, x), (1, 3), (size - 2, size - 1), stone)
    canvas.fill((middle - 1, middle + 1), (3, 3), (size - 2, size - 1), line)
    for x, z in ((-2, -2), (2, -2), (-2, 2), (2, 2)):
        canvas.put(middle + x, 1, middle + z, "torch")
    canvas.put(middle, 0, middle, "blue_terracotta")
    for x, z in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        canvas.put(middle + x, 0, middle + z, "orange_terracotta")
    canvas.put(middle, 1, middle - 2, "chest", facing="south")
    canvas.put(middle - 2, 1, middle, "chest", facing="east")
    return canvas.finish()


def stone_circle(style: Style, variant: int) -> Blueprint:
    """Return standing stones around a flat one."""
    size = (11, 9, 13)[variant]
    middle, radius = size // 2, size // 2
    canvas = Canvas(size, size, 5)
    number = 0
    for x, z in ring(size):
        dx, dz = x - middle, z - middle
        if (dx == 0 or dz == 0 or abs(dx) == abs(dz)) and dx * dx + dz * dz <= 2 * radius * radius:
            # Corners move in, so that the eight stones stand on a circle.
            if abs(dx) == abs(dz):
                x, z = middle + dx * 7 // 10 + (dx < 0), middle + dz * 7 // 10 + (dz < 0)
            top = 2 + (number * 5 + variant) % 3
            canvas.fill((x, x), (1, top), (z, z), "stone" if number % 3 else "mossy_cobblestone")
            number += 1
    canvas.put(middle, 0, middle, "polished_andesite")
    canvas.put(middle, 1, middle, ("polished_diorite", "jack_o_lantern", "polished_granite")[variant])
    return canvas.finish()


def fountain(style: Style, variant: int) -> Blueprint:
    """Return a basin of water around a lit column."""
    stone, lamp = (("quartz_block", "sea_lantern"), ("prismarine", "sea_lantern"), ("polished_granite", "glowstone"))[
        variant
    ]
    canvas = Canvas(7, 7, 5, depth=1)
    canvas.clear((0, 6), (1, 4), (0, 6))
    canvas.fill((0, 6), (-1, 0), (0, 6), "smooth_stone")
    canvas.walls((0, 6), (1, 1), (0, 6), stone)
    for x, z in ((0, 0), (0, 6), (6, 0), (6, 6)):
        canvas.put(x, 1, z, "air")
        canvas.put(x, 0, z, stone)
    canvas.walls((1, 5), (1, 1), (1, 5), stone)
    canvas.fill((2, 4), (1, 1), (2, 4), "water")
    canvas.fill((3, 3), (1, 3), (3, 3), stone)
    canvas.put(3, 4, 3, lamp)
    for x, z in ((0, 3), (6, 3), (3, 0), (3, 6)):
        canvas.put(x, 1, z, "stone_slab")
    return canvas.finish()


def fossil(style: Style, variant: int) -> Blueprint:
    """Return the spine and the ribs of something large."""
    num_ribs = (4, 3, 5)[variant]
    canvas = Canvas(7, 2 * num_ribs + 4, 5)
    canvas.fill((3, 3), (4, 4), (1, 2 * num_ribs + 1), "bone_block", axis="z")
    for rib in range(num_ribs):
        z = 2 * rib + 1
        half = 3 if 0 < rib < num_ribs - 1 else 2
        for side in (-1, 1):
            for out in range(1, half + 1):
                canvas.put(3 + side * out, 4, z, "bone_block", axis="x")
            canvas.fill((3 + side * half,) * 2, (1, 3), (z, z), "bone_block")
    skull_z = 2 * num_ribs + 1
    canvas.fill((2, 4), (2, 4), (skull_z, skull_z + 2), "bone_block")
    canvas.fill((3, 3), (1, 1), (skull_z, skull_z), "bone_block")
    canvas.put(2, 3, skull_z + 2, "coal_block")
    canvas.put(4, 3, skull_z + 2, "coal_block")
    return canvas.finish()
