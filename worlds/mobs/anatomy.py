"""What a body is made of: boxes with pictures on their faces, some of which turn about a joint.

Lengths are in pixels of 1/16 block from the feet, before the kind's scale; a mob looks along +z. The game tilts necks
and tails; ours are stepped out of upright boxes, because parts turn about one axis only.
"""

from dataclasses import dataclass

from worlds.voxel.scene import JOINT_FIXED, JOINT_LEG_A, JOINT_LEG_B

Box = tuple[float, float, float, float, float, float]
Point = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One box: where it is, what it wears and how it turns."""

    box: Box  # x0, y0, z0, x1, y1, z1 in pixels from the feet
    textures: tuple[str, str, str, str, str, str]  # full names by face, in the order of worlds.types.FACES
    joint: int = JOINT_FIXED
    pivot: Point = (0.0, 0.0, 0.0)  # pixels from the feet


@dataclass(frozen=True, kw_only=True, slots=True)
class Anatomy:
    """A mob's parts and the factor from its pixels to 1/16 blocks."""

    parts: tuple[Part, ...]
    scale: float = 1.0


def part(
    box: Box,
    skin: str,
    *,
    front: str = "",
    back: str = "",
    top: str = "",
    sides: str = "",
    joint: int = JOINT_FIXED,
    pivot: Point = (0.0, 0.0, 0.0),
) -> Part:
    """Return a box that wears `skin`, but for the faces named; `sides` has a picture for each side, see skins."""
    west, east = (f"{sides}_west", f"{sides}_east") if sides else (skin, skin)
    names = (west, east, skin, top or skin, back or skin, front or skin)
    west, east, down, up, north, south = (f"mob/{name}" for name in names)
    return Part(box=box, textures=(west, east, down, up, north, south), joint=joint, pivot=pivot)


def centred(x: float, z: float, width: float, depth: float, low: float, high: float) -> Box:
    """Return a box around the upright line through (x, z)."""
    return (x - width / 2, low, z - depth / 2, x + width / 2, high, z + depth / 2)


def four_legs(
    x: float, back_z: float, front_z: float, thickness: float, height: float, skin: str, *, top: str = ""
) -> tuple[Part, ...]:
    """Return legs that step in diagonal pairs; `top` is what shows where a leg swings out of the body."""
    return tuple(
        part(
            centred(side * x, z, thickness, thickness, 0.0, height),
            skin,
            top=top,
            joint=JOINT_LEG_A if (side > 0) == (z == front_z) else JOINT_LEG_B,
            pivot=(side * x, height, z),
        )
        for side in (-1, 1)
        for z in (back_z, front_z)
    )


def two_legs(x: float, thickness: float, height: float, skin: str) -> tuple[Part, Part]:
    """Return legs that step in turn."""
    left, right = (
        part(centred(side * x, 0, thickness, thickness, 0, height), skin, joint=joint, pivot=(side * x, height, 0))
        for side, joint in ((-1, JOINT_LEG_A), (1, JOINT_LEG_B))
    )
    return left, right
