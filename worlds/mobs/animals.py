"""The bodies of animals, after the proportions of the game's models."""

from worlds.mobs.anatomy import Anatomy, Part, centred, four_legs, part
from worlds.voxel.scene import JOINT_LEG_A, JOINT_LEG_B


def _cattle(hide: str, head: str, leg: str, extra: tuple[Part, ...] = ()) -> Anatomy:
    return Anatomy(
        parts=(
            part((-6, 12, -10, 6, 22, 8), hide),
            part((-4, 16, 8, 4, 24, 14), head, front=f"{head}_front"),
            part((-5, 22, 10, -4, 25, 11), "horn"),
            part((4, 22, 10, 5, 25, 11), "horn"),
            part((-2, 11, -8, 2, 12, -2), "udder"),
            *four_legs(4, -7, 6, 4, 12, leg, top=head),
            *extra,
        )
    )


def _cross(x: float, z: float, texture: str) -> tuple[Part, Part]:
    """Return a mushroom of the block's own texture on a back 22 pixels high: two upright planes."""
    flat = ("", "", "", "")
    return (
        Part(box=(x - 6, 22, z, x + 6, 34, z), textures=(*flat, texture, texture)),
        Part(box=(x, 22, z - 6, x, 34, z + 6), textures=(texture, texture, *flat)),
    )


def _equine(coat: str, *, scale: float, ear: float, mane: str) -> Anatomy:
    """Return a horse, or a donkey with longer ears."""
    return Anatomy(
        scale=scale,
        parts=(
            part((-5, 11, -12, 5, 21, 10), coat),
            part((-2, 16, 7, 2, 23, 14), coat),
            part((-2, 21, 9, 2, 28, 15), coat),
            part((-3, 24, 10, 3, 29, 17), coat, sides=f"{coat}_head", front=f"{coat}_brow"),
            part((-2, 24, 17, 2, 29, 22), f"{coat}_muzzle", front=f"{coat}_nose"),
            part((-1, 18, 6, 1, 24, 8), mane),
            part((-1, 23, 8, 1, 31, 10), mane),
            part((-2.5, 29, 11, -0.5, 29 + ear, 12), coat),
            part((0.5, 29, 11, 2.5, 29 + ear, 12), coat),
            part((-1.5, 14, -15, 1.5, 20, -12), mane),
            part((-1.5, 6, -16, 1.5, 15, -14), mane),
            *four_legs(3, -10, 7.9, 4, 11, f"{coat}_leg", top=coat),
        ),
    )


def _dog(coat: str, *, ear_top: float, tail: tuple[Part, ...]) -> Anatomy:
    return Anatomy(
        parts=(
            part((-3, 7, -9, 3, 13, 0), coat),
            part((-4, 7, 0, 4, 14, 6), f"{coat}_mane"),
            part((-3, 8, 5, 3, 14, 9), coat, front=f"{coat}_front"),
            part((-1.5, 8, 9, 1.5, 11, 12.5), f"{coat}_snout", front=f"{coat}_nose"),
            part((-3, 14, 6, -1, ear_top, 7), f"{coat}_ear"),
            part((1, 14, 6, 3, ear_top, 7), f"{coat}_ear"),
            *tail,
            *four_legs(1.5, -7, 4, 2, 8, f"{coat}_leg"),
        )
    )


def _feline(coat: str) -> Anatomy:
    return Anatomy(
        scale=0.9,
        parts=(
            part((-2, 4, -9, 2, 10, 7), coat),
            part((-2.5, 7, 7, 2.5, 11, 12), coat, front=f"{coat}_front"),
            part((-1.5, 7, 12, 1.5, 9, 13), f"{coat}_snout"),
            part((-2, 11, 8, -1, 12.3, 10), coat),
            part((1, 11, 8, 2, 12.3, 10), coat),
            part((-0.5, 8, -14, 0.5, 9.5, -9), coat),
            part((-0.5, 9, -18, 0.5, 10.5, -13), coat),
            *four_legs(1.2, -7, 4.5, 2, 6, f"{coat}_leg"),
        ),
    )


ANIMALS: dict[str, Anatomy] = {
    "cow": _cattle("cow", "cow_head", "cow_leg"),
    "mooshroom": _cattle(
        "mooshroom",
        "mooshroom_head",
        "mooshroom_leg",
        extra=(*_cross(2, -6, "red_mushroom"), *_cross(-2, 3, "red_mushroom")),
    ),
    "sheep": Anatomy(
        parts=(
            part((-5.5, 10.5, -9.5, 5.5, 19.5, 8.5), "sheep"),
            part((-3, 16, 7, 3, 22, 14), "sheep_skin", front="sheep_front"),
            part((-3.6, 15.6, 6, 3.6, 22.6, 12), "sheep"),
            *four_legs(3, -7, 5, 4, 12, "sheep_leg"),
        )
    ),
    "pig": Anatomy(
        parts=(
            part((-5, 6, -8, 5, 14, 8), "pig"),
            part((-4, 8, 6, 4, 16, 14), "pig", front="pig_front"),
            part((-2, 9, 14, 2, 12, 15), "pig_snout_side", front="pig_snout"),
            *four_legs(3, -7, 5, 4, 6, "pig_leg"),
        )
    ),
    "chicken": Anatomy(
        parts=(
            part((-3, 5, -4, 3, 11, 4), "chicken"),
            part((-2, 9, 3, 2, 15, 6), "chicken", front="chicken_front", sides="chicken_head"),
            part((-2, 11, 6, 2, 13, 8), "chicken_beak"),
            part((-1, 9, 5, 1, 11, 7), "chicken_wattle"),
            part((-4, 7, -3, -3, 11, 3), "chicken_wing"),
            part((3, 7, -3, 4, 11, 3), "chicken_wing"),
            *(
                part(box, "chicken_leg", joint=joint, pivot=(side * 1.5, 5, 0))
                for side, joint in ((-1, JOINT_LEG_A), (1, JOINT_LEG_B))
                for box in (
                    (side * 1.5 - 0.5, 0, -0.5, side * 1.5 + 0.5, 5, 0.5),
                    (side * 1.5 - 1.5, 0, -0.5, side * 1.5 + 1.5, 0.5, 2.5),
                )
            ),
        )
    ),
    "horse": _equine("horse", scale=1.1, ear=3, mane="horse_mane"),
    "donkey": _equine("donkey", scale=0.9, ear=6, mane="donkey_mane"),
    "wolf": _dog("wolf", ear_top=16, tail=(part((-1, 5, -11, 1, 12, -9), "wolf"),)),
    "fox": _dog("fox", ear_top=16.5, tail=(part((-2, 7, -16, 2, 12, -9), "fox_tail", back="fox_tail_tip"),)),
    "rabbit": Anatomy(
        scale=0.6,
        parts=(
            part((-3, 3, -6, 3, 9, 4), "rabbit"),
            part((-2.5, 8, 3, 2.5, 13, 8), "rabbit", front="rabbit_front", sides="rabbit_head"),
            part((-2.5, 13, 3.5, -0.5, 18, 4.5), "rabbit_ear"),
            part((0.5, 13, 3.5, 2.5, 18, 4.5), "rabbit_ear"),
            part((-1.5, 4, -8, 1.5, 7, -6), "rabbit_tail"),
            *(
                part(box, "rabbit", joint=joint, pivot=(side * 2, 5, pivot_z))
                for side in (-1, 1)
                for box, joint, pivot_z in (
                    (centred(side * 2, 2.5, 2, 2, 0, 6), JOINT_LEG_A, 2.5),
                    ((side * 2.5 - 1, 0, -6, side * 2.5 + 1, 6, -1), JOINT_LEG_B, -4),
                    ((side * 2.5 - 1, 0, -1, side * 2.5 + 1, 1, 1), JOINT_LEG_B, -4),
                )
            ),
        ),
    ),
    "cat": _feline("cat"),
    "ocelot": _feline("ocelot"),
    "llama": Anatomy(
        parts=(
            part((-6, 12, -10, 6, 22, 8), "llama"),
            part((-4, 15, 6, 4, 33, 12), "llama", front="llama_front"),
            part((-2, 27, 12, 2, 31, 16), "llama_muzzle", front="llama_nose"),
            part((-4, 33, 8, -1, 36, 10), "llama"),
            part((1, 33, 8, 4, 36, 10), "llama"),
            *four_legs(3.5, -6, 5, 4, 14, "llama_leg"),
        )
    ),
    "polar_bear": Anatomy(
        scale=1.2,
        parts=(
            part((-7, 9, -12, 7, 20, 2), "polar_bear"),
            part((-5.5, 10, 2, 5.5, 19, 9), "polar_bear"),
            part((-3.5, 10, 9, 3.5, 17, 16), "polar_bear", front="polar_bear_front"),
            part((-2.5, 10, 16, 2.5, 13, 19), "polar_bear_snout", front="polar_bear_nose"),
            part((-4.5, 16, 11, -2.5, 18, 12), "polar_bear"),
            part((2.5, 16, 11, 4.5, 18, 12), "polar_bear"),
            *four_legs(4.5, -8, 4, 5, 10, "polar_bear_leg"),
        ),
    ),
}
