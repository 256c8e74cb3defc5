"""The bodies of monsters, villagers and golems, after the proportions of the game's models."""

from worlds.mobs.anatomy import Anatomy, Part, four_legs, part, two_legs
from worlds.voxel.scene import JOINT_LEG_A, JOINT_LEG_B


def _undead(skin: str, *, thickness: float, has_bow: bool = False, scale: float = 1.0) -> Anatomy:
    """Return an upright body with its arms held forward, and a bow in the right hand if it has one."""
    half = thickness / 2
    shoulder = 4 + half
    # The bow's own picture as an upright sheet, seen from both sides.
    bow = Part(box=(-shoulder, 16, 4, -shoulder, 28, 16), textures=("bow", "bow", "", "", "", ""))
    return Anatomy(
        scale=scale,
        parts=(
            part((-4, 24, -4, 4, 32, 4), f"{skin}_head", front=f"{skin}_head_front"),
            part((-4, 12, -2, 4, 24, 2), f"{skin}_body", front=f"{skin}_chest"),
            *(
                part((side * shoulder - half, 22 - half, -half, side * shoulder + half, 22 + half, 10), f"{skin}_arm")
                for side in (-1, 1)
            ),
            *two_legs(2, thickness, 12, f"{skin}_leg"),
            *((bow,) if has_bow else ()),
        ),
    )


def _arachnid(skin: str, *, scale: float) -> Anatomy:
    legs: list[Part] = []
    for side in (-1, 1):
        # The thigh reaches out from the body, the shin down to the ground; the outer legs are spread fore and aft.
        for n, (hip_z, foot_z) in enumerate(((2.5, 6.5), (0.8, 2.2), (-0.9, -2.2), (-2.5, -6.5))):
            joint = JOINT_LEG_A if (n + (side > 0)) % 2 == 0 else JOINT_LEG_B
            knee = (hip_z + foot_z) / 2
            for near, far, low, high, z in ((2.5, 10.0, 8.5, 10.5, knee), (9.5, 11.5, 0.0, 10.0, foot_z)):
                box = (min(side * near, side * far), low, z - 1, max(side * near, side * far), high, z + 1)
                legs.append(part(box, f"{skin}_leg", joint=joint, pivot=(side * 3, 9, hip_z)))
    return Anatomy(
        scale=scale,
        parts=(
            part((-5, 5, -15, 5, 13, -3), skin, top=f"{skin}_back"),
            part((-3, 6, -3, 3, 12, 3), skin),
            part((-4, 5, 3, 4, 13, 11), skin, front=f"{skin}_front"),
            *legs,
        ),
    )


MONSTERS: dict[str, Anatomy] = {
    "villager": Anatomy(
        scale=0.9375,
        parts=(
            part((-4, 24, -4, 4, 34, 4), "villager_head", front="villager_front"),
            part((-1, 23, 4, 1, 27, 6), "villager_nose"),
            part((-4.5, 5, -3.5, 4.5, 24, 3.5), "villager_robe", front="villager_robe_front"),
            part((-8, 15, -1, -4.5, 23, 4), "villager_robe"),
            part((4.5, 15, -1, 8, 23, 4), "villager_robe"),
            part((-8, 15, 3, 8, 19, 7), "villager_sleeve"),
            *two_legs(2, 4, 12, "villager_leg"),
        ),
    ),
    "iron_golem": Anatomy(
        parts=(
            part((-4, 33, -2, 4, 43, 6), "golem", front="golem_front"),
            part((-1, 32, 6, 1, 36, 8), "golem"),
            part((-9, 21, -5, 9, 33, 6), "golem", front="golem_chest"),
            part((-4.5, 16, -3, 4.5, 21, 3), "golem"),
            *(
                part(
                    (side * 11 - 2, 3.5, -3, side * 11 + 2, 33.5, 3),
                    "golem_limb",
                    joint=joint,
                    pivot=(side * 11, 31, 0),
                )
                for side, joint in ((-1, JOINT_LEG_B), (1, JOINT_LEG_A))
            ),
            *two_legs(4.5, 5.5, 16, "golem_limb"),
        )
    ),
    "zombie": _undead("zombie", thickness=4),
    "husk": _undead("husk", thickness=4, scale=1.0625),
    "skeleton": _undead("skeleton", thickness=2, has_bow=True),
    "stray": _undead("stray", thickness=2, has_bow=True),
    "spider": _arachnid("spider", scale=1.0),
    "cave_spider": _arachnid("cave_spider", scale=0.7),
    "creeper": Anatomy(
        parts=(
            part((-4, 18, -4, 4, 26, 4), "creeper", front="creeper_front"),
            part((-4, 6, -2, 4, 18, 2), "creeper"),
            *four_legs(2, -4, 4, 4, 6, "creeper_leg"),
        )
    ),
}
