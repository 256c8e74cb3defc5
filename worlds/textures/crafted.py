"""Textures of what is made by hand: planks, masonry, machines, wool, metal and gem blocks."""

import numpy as np

from worlds.textures.natural import COBBLE, pebbles
from worlds.textures.patterns import (
    COLUMN_HW,
    ROW_HW,
    Color,
    Drawing,
    bevelled,
    grain,
    lumps,
    paint,
    ring_index,
    scaled,
    shades,
    stamped,
)

_PLANK: Color = (162, 131, 78)


def boards(base: Color) -> Drawing:
    """Draw four boards with dark seams and staggered joints."""

    def draw(name: str) -> np.ndarray:
        image_HWC = paint(lumps(name, wide=6, roughness=0.35), shades(base, [0.88, 0.96, 1.0, 1.05, 1.13]))
        joint_W = np.array([4, 12, 8, 0])
        is_seam_HW = (ROW_HW % 4 == 3) | ((COLUMN_HW == joint_W[ROW_HW // 4]) & (ROW_HW % 4 != 3))
        return scaled(image_HWC, np.where(is_seam_HW, 0.62, 1.0))

    return draw


def planks(name: str) -> np.ndarray:
    """Draw boards of oak, the same wherever they are part of another thing."""
    return boards(_PLANK)("oak_planks")


def bricks(name: str) -> np.ndarray:
    """Draw four courses of bricks in pale mortar."""
    course_HW = ROW_HW // 4
    brick_HW = (COLUMN_HW + 4 * (course_HW % 2)) // 8 % 2 + 2 * course_HW
    own_N = 0.86 + 0.26 * grain(name, 4).ravel()
    image_HWC = scaled(paint(grain(name), shades((158, 88, 71), [0.9, 1.0, 1.0, 1.08])), own_N[brick_HW])
    is_mortar_HW = (ROW_HW % 4 == 3) | ((COLUMN_HW + 4 * (course_HW % 2)) % 8 == 7)
    mortar_HWC = paint(grain(name, 1), [(160, 154, 148), (175, 170, 164), (186, 181, 176)])
    return np.where(is_mortar_HW[..., None], mortar_HWC, image_HWC)


def bookshelf(name: str) -> np.ndarray:
    """Draw two shelves of books between planks."""
    covers = [(139, 47, 38), (58, 92, 48), (52, 70, 130), (160, 118, 48), (104, 58, 110), (46, 105, 110), (120, 78, 42)]
    image_HWC = planks(name)
    pick_N = (grain(name, 1).ravel() * len(covers)).astype(np.int64)
    for shelf, top in enumerate((2, 9)):
        image_HWC[top - 1 : top + 5, 1:15] = (54, 40, 22)
        column = 1
        for book in range(9):
            number = 9 * shelf + book
            width = 1 if grain(name, 2).ravel()[number] < 0.5 else 2
            if column + width > 15:
                break
            height = top + (1 if grain(name, 3).ravel()[number] < 0.35 else 0)
            cover = np.array(covers[(pick_N[number] + book) % len(covers)])
            image_HWC[height - 1 : top + 5, column : column + width] = cover
            image_HWC[height, column : column + width] = np.minimum(cover * 1.5, 255).astype(np.uint8)
            image_HWC[height - 1 : top + 5, column + width - 1] = (0.75 * cover).astype(np.uint8)
            column += width
    return image_HWC


def crafting_table(name: str) -> np.ndarray:
    """Draw a saw and a hammer that hang on planks."""
    image_HWC = scaled(planks(name), 0.86)
    image_HWC[0:3] = paint(grain(name), shades((108, 76, 44), [0.9, 1.0, 1.1]))[0:3]
    image_HWC[3] = (58, 40, 22)
    image_HWC[4:, [0, 15]] = (86, 62, 34)
    tools = ("iii..iiii", "iii..i..i", ".h...i..i", ".h...hhhh", ".h....hh.", ".h....hh.", ".h....hh.")
    return stamped(image_HWC, tools, {"i": (176, 176, 180), "h": (62, 43, 20)}, at=(6, 4))


def crafting_table_top(name: str) -> np.ndarray:
    """Draw the three by three grid."""
    image_HWC = scaled(planks(name), 1.08)
    image_HWC[[0, 15]] = image_HWC[:, [0, 15]] = (92, 62, 34)
    for line in (3, 6, 9, 12):
        image_HWC[line, 3:13] = image_HWC[3:13, line] = (84, 56, 30)
    return image_HWC


def _furnace_body(name: str) -> np.ndarray:
    return bevelled(pebbles(COBBLE[1:], count=12)("furnace"), light=1.18, dark=0.6)


def furnace(name: str) -> np.ndarray:
    """Draw a stone front with a fire in its mouth."""
    image_HWC = scaled(_furnace_body(name), 0.95)
    image_HWC[2:4, 3:13] = (70, 70, 70)
    mouth = (
        ".kkkkkkkk.",
        "kkkkkkkkkk",
        "kkkkkkkkkk",
        "kkrrkkrrkk",
        "krooroorok",
        "kooyooyook",
        "llllllllll",
    )
    colors = {"k": (26, 24, 24), "r": (120, 44, 16), "o": (214, 104, 24), "y": (250, 206, 84), "l": (164, 164, 164)}
    return stamped(image_HWC, mouth, colors, at=(7, 3))


def furnace_top(name: str) -> np.ndarray:
    """Draw a smooth plate with a dark rim."""
    return bevelled(
        paint(lumps(name, wide=3, tall=2), shades((112, 112, 112), [0.9, 1.0, 1.06])), light=0.75, dark=0.62
    )


def tnt(name: str) -> np.ndarray:
    """Draw red sticks with a lettered paper band."""
    stick_W = np.array([0.7, 1.05, 1.12, 0.92])
    image_HWC = scaled(paint(grain(name), shades((205, 58, 36), [0.95, 1.0, 1.05])), stick_W[COLUMN_HW % 4])
    image_HWC[5:11] = (232, 230, 226)
    image_HWC[[4, 11]] = (110, 34, 24)
    letters = ("kkk.k..k.kkk", ".k..kk.k..k.", ".k..k.kk..k.", ".k..k..k..k.")
    return stamped(image_HWC, letters, {"k": (34, 30, 30)}, at=(6, 2))


def tnt_top(name: str) -> np.ndarray:
    """Draw the ends of the sticks and the fuse."""
    image_HWC = paint(grain(name), shades((196, 58, 36), [0.94, 1.0, 1.06]))
    fuse = (".ww.", "wkkw", "wkkw", ".ww.")
    for row in (0, 4, 8, 12):
        for column in (0, 4, 8, 12):
            image_HWC = stamped(image_HWC, fuse, {"w": (226, 120, 92), "k": (92, 40, 28)}, at=(row, column))
    return stamped(image_HWC, fuse, {"w": (236, 234, 230), "k": (40, 36, 34)}, at=(6, 6))


def wool(base: Color) -> Drawing:
    """Draw a knit: rows of short slanted stitches."""

    def draw(name: str) -> np.ndarray:
        stitch_HW = np.array([1.03, 0.97, 0.9, 1.0])[(COLUMN_HW + 2 * (ROW_HW // 2)) % 4]
        row_HW = np.where(ROW_HW % 4 == 3, 0.95, 1.0)
        return scaled(paint(lumps("wool", wide=2, tall=2), shades(base, [0.93, 0.98, 1.0, 1.04])), stitch_HW * row_HW)

    return draw


def hay(name: str) -> np.ndarray:
    """Draw straw held by two red bands."""
    image_HWC = paint(lumps(name, tall=6, roughness=0.4), shades((186, 156, 32), [0.68, 0.88, 1.0, 1.1, 1.25]))
    for row in (3, 4, 11, 12):
        image_HWC[row] = paint(grain(name, 1), [(120, 48, 22), (150, 62, 28), (168, 78, 38)])[row]
    return image_HWC


def hay_top(name: str) -> np.ndarray:
    """Draw the rolled end of a bale."""
    ring_light = np.array([0.72, 1.1, 0.85, 1.12, 0.8, 1.15, 0.85, 1.1])
    return scaled(paint(grain(name), shades((190, 162, 42), [0.86, 1.0, 1.12])), ring_light[ring_index()])


def bars(base: Color, light_step: float) -> Drawing:
    """Draw cast metal: a bevelled plate with bright horizontal bars."""

    def draw(name: str) -> np.ndarray:
        image_HWC = paint(lumps(name, wide=6, roughness=0.15), shades(base, [0.97, 1.0, 1.02]))
        image_HWC = scaled(
            image_HWC, np.where(ROW_HW % 4 == 1, 1.0 + light_step, np.where(ROW_HW % 4 == 3, 1.0 - light_step, 1.0))
        )
        return bevelled(image_HWC, light=1.12, dark=0.62)

    return draw


def facets(base: Color, *, inset: int) -> Drawing:
    """Draw a cut gem: a bevelled plate, a second bevel inside it and a diagonal gleam."""

    def draw(name: str) -> np.ndarray:
        gleam_HW = np.where((ROW_HW + COLUMN_HW) % 15 < 4, 1.16, 1.0) * np.where(ROW_HW + COLUMN_HW > 19, 0.88, 1.0)
        image_HWC = scaled(paint(grain(name), shades(base, [0.97, 1.0, 1.03])), gleam_HW)
        image_HWC = bevelled(image_HWC, light=0.7, dark=1.25, inset=inset)
        return bevelled(image_HWC, light=1.3, dark=0.55)

    return draw


def pressed(base: Color, factors: list[float]) -> Drawing:
    """Draw powder pressed into a block: lumps inside a soft bevel."""

    def draw(name: str) -> np.ndarray:
        image_HWC = paint(lumps(name, wide=3, tall=3, roughness=0.35), shades(base, factors))
        return bevelled(image_HWC, light=1.2, dark=0.62)

    return draw
