"""The skins of mobs and arrows: our own 16 x 16 pictures, drawn by code, one for each part and face.

A face stretches its whole picture. Heads are drawn on a grid of 8 x 8 squares, each two texels wide and high, so that
eyes stay readable from afar. Pictures named `_west` and `_east` are a pair of sides; the drawing has the mob's front at
its right, as on the west side, and is mirrored for the east.
"""

import numpy as np

from worlds.mobs.animal_faces import ANIMAL_FACES, ANIMAL_SIDES
from worlds.mobs.monster_faces import MONSTER_FACES
from worlds.textures.patterns import COLUMN_HW, ROW_HW, TEXTURE_PX, Color, grain, lumps, paint, scaled, shades, stones

_FUR = (0.86, 0.94, 1.0, 1.05, 1.12)


def mob_textures() -> dict[str, np.ndarray]:
    """Return uint8 [16, 16, 4] RGBA, row 0 at the top, by name: "mob/cow_head_front" ..."""
    pictures = _plain_pictures()
    for name, drawing in {**ANIMAL_FACES, **MONSTER_FACES}.items():
        pictures[name] = drawing.on(pictures[drawing.over])
    for name, drawing in ANIMAL_SIDES.items():
        pictures[f"{name}_west"] = drawing.on(pictures[drawing.over])
        pictures[f"{name}_east"] = pictures[f"{name}_west"][:, ::-1]
    return {f"mob/{name}": _opaque(image_HWC) for name, image_HWC in sorted(pictures.items())}


def _opaque(image_HWC: np.ndarray) -> np.ndarray:
    alpha_HW1 = np.full((TEXTURE_PX, TEXTURE_PX, 1), 255, np.uint8)
    return np.concatenate([image_HWC, alpha_HW1], axis=2)


def _fur(
    name: str, color: Color, *, wide: int = 2, tall: int = 2, roughness: float = 0.6, spread: float = 1.0
) -> np.ndarray:
    """Return short hair: lumps in five shades of one colour; `spread` 0 is flat, 2 is shaggy."""
    factors = [1.0 + (factor - 1.0) * spread for factor in _FUR]
    return paint(lumps(name, wide=wide, tall=tall, roughness=roughness), shades(color, factors))


def _patched(name: str, base: Color, patch: Color, *, share: float, size: int = 4) -> np.ndarray:
    """Return fur with large patches of a second colour: a share of `size` squared blobs."""
    blob_HW, _ = stones(f"{name}/blobs", count=size * size)
    is_patch_HW = blob_HW < share * size * size
    return np.where(is_patch_HW[..., None], _fur(name, patch, spread=0.5), _fur(name, base))


def _spotted(name: str, base: Color, spot: Color, *, share: float) -> np.ndarray:
    """Return fur with many small spots."""
    image_HWC = _fur(name, base)
    image_HWC[lumps(name, wide=2, tall=2, roughness=0.1, layer=5) > 1.0 - share] = spot
    return image_HWC


def _striped(name: str, base: Color, stripe: Color) -> np.ndarray:
    """Return fur with broken upright stripes: a tabby."""
    image_HWC = _fur(name, base)
    is_stripe_HW = (COLUMN_HW % 4 == 1) & (lumps(name, tall=5, layer=6) > 0.3)
    image_HWC[is_stripe_HW] = stripe
    return image_HWC


def _legs(name: str, upper: np.ndarray, lower: Color, *, from_row: int) -> np.ndarray:
    """Return a leg: `upper` as it is, hoof or paw or shoe of another colour from `from_row` down."""
    foot_HWC = _fur(f"{name}/foot", lower, spread=0.6)
    return np.where((ROW_HW >= from_row)[..., None], foot_HWC, upper)


def _banded(image_HWC: np.ndarray, color: Color, first: int, last: int) -> np.ndarray:
    """Return the picture with rows first .. last of another colour."""
    banded_HWC = image_HWC.copy()
    banded_HWC[first : last + 1] = scaled(
        np.broadcast_to(np.array(color, np.float64), (last + 1 - first, TEXTURE_PX, 3)),
        0.94 + 0.12 * grain("band", 1)[first : last + 1],
    )
    return banded_HWC


def _ribs(name: str, bone: Color) -> np.ndarray:
    """Return a rib cage: level bones on both sides of a spine, dark between them."""
    image_HWC = _fur(name, (46, 46, 46), spread=0.6)
    is_bone_HW = (ROW_HW % 4 < 2) & (ROW_HW < 12) & (_edge_distance(COLUMN_HW) > 0)
    is_bone_HW |= (COLUMN_HW == 7) | (COLUMN_HW == 8) | (ROW_HW >= 14)
    image_HWC[is_bone_HW] = _fur(name, bone, spread=0.5)[is_bone_HW]
    return image_HWC


def _edge_distance(column_HW: np.ndarray) -> np.ndarray:
    """Return the distance of each column to the nearer edge of the picture, 0 .. 7."""
    return np.minimum(column_HW, TEXTURE_PX - 1 - column_HW)


def _mottled(name: str, palette: list[Color], *, size: int = 2) -> np.ndarray:
    return paint(lumps(name, wide=size, tall=size, roughness=0.5), palette)


def _plain_pictures() -> dict[str, np.ndarray]:
    """Return the pictures without a face, RGB: hides, legs, clothes."""
    wool = _fur("sheep", (232, 230, 224), wide=3, tall=3, roughness=0.2, spread=0.9)
    sheep_skin = _fur("sheep_skin", (196, 164, 140), spread=0.5)
    llama = _fur("llama", (214, 192, 152), wide=1, tall=3, roughness=0.3)
    zombie = _mottled("zombie", [(66, 104, 50), (76, 118, 58), (86, 130, 66), (92, 138, 72)])
    husk = _mottled("husk", [(128, 110, 78), (142, 122, 88), (154, 134, 98), (164, 144, 108)])
    shirt = _mottled("zombie_shirt", [(0, 124, 128), (0, 138, 142), (6, 150, 154), (14, 160, 162)])
    rags = _mottled("husk_rags", [(84, 66, 42), (96, 77, 50), (110, 89, 59)], size=3)
    bone, frost = (196, 196, 196), (186, 200, 204)
    creeper = _mottled(
        "creeper", [(52, 124, 44), (74, 158, 62), (92, 182, 78), (114, 200, 100), (156, 220, 144), (206, 236, 198)]
    )
    robe = _fur("villager_robe", (100, 68, 48), wide=1, tall=4, roughness=0.3)
    skin = _fur("villager_head", (190, 138, 108), spread=0.4)
    golem = _mottled("golem", [(186, 176, 166), (200, 190, 180), (212, 204, 194), (222, 214, 206)], size=3)
    vine = lumps("golem", wide=2, tall=4, roughness=0.2, layer=3) > 0.9
    golem[vine] = (104, 132, 62)
    cow = _patched("cow", (78, 54, 38), (226, 222, 216), share=0.3)
    cow_head = _fur("cow_head", (78, 54, 38))
    mooshroom = _patched("mooshroom", (168, 24, 26), (222, 214, 208), share=0.24)
    mooshroom_head = _fur("mooshroom_head", (168, 24, 26))
    horse, donkey = _fur("horse", (142, 92, 52)), _fur("donkey", (126, 110, 96))
    wolf, fox = _fur("wolf", (206, 200, 196), wide=1, tall=2), _fur("fox", (218, 122, 46), wide=1, tall=2)
    rabbit = _fur("rabbit", (158, 128, 92))
    cat, ocelot = (
        _striped("cat", (216, 142, 66), (176, 100, 36)),
        _spotted("ocelot", (236, 200, 112), (124, 82, 38), share=0.2),
    )
    bear = _fur("polar_bear", (238, 238, 232), spread=0.5)
    return {
        "horn": _fur("horn", (206, 200, 184)),
        "udder": _fur("udder", (226, 160, 156)),
        "cow": cow,
        "cow_head": cow_head,
        "cow_leg": _legs("cow_leg", cow_head, (62, 56, 50), from_row=13),
        "mooshroom": mooshroom,
        "mooshroom_head": mooshroom_head,
        "mooshroom_leg": _legs("mooshroom_leg", mooshroom_head, (96, 88, 82), from_row=13),
        "sheep": wool,
        "sheep_skin": sheep_skin,
        "sheep_leg": np.where((ROW_HW < 8)[..., None], wool, sheep_skin),
        "pig": _fur("pig", (238, 158, 152), spread=0.6),
        "pig_leg": _legs("pig_leg", _fur("pig", (238, 158, 152), spread=0.6), (206, 118, 112), from_row=13),
        "pig_snout_side": _fur("pig_snout", (222, 132, 126), spread=0.5),
        "chicken": _fur("chicken", (240, 240, 236), spread=0.5),
        "chicken_wing": _banded(_fur("chicken_wing", (222, 222, 218), tall=3), (198, 198, 194), 12, 15),
        "chicken_beak": _banded(_fur("chicken_beak", (230, 172, 46), spread=0.5), (186, 128, 28), 7, 8),
        "chicken_wattle": _fur("chicken_wattle", (206, 30, 24), spread=0.7),
        "chicken_leg": _fur("chicken_leg", (222, 168, 54)),
        "horse": horse,
        "horse_mane": _fur("horse_mane", (46, 34, 26), wide=1, tall=4, spread=1.5),
        "horse_muzzle": _fur("horse_muzzle", (118, 76, 44)),
        "horse_leg": _legs("horse_leg", _banded(horse, (226, 220, 212), 9, 13), (52, 44, 38), from_row=14),
        "donkey": donkey,
        "donkey_mane": _fur("donkey_mane", (60, 52, 46), wide=1, tall=4, spread=1.5),
        "donkey_muzzle": _fur("donkey_muzzle", (206, 196, 184)),
        "donkey_leg": _legs("donkey_leg", donkey, (58, 52, 46), from_row=14),
        "wolf": wolf,
        "wolf_mane": _fur("wolf_mane", (186, 180, 178), wide=1, tall=3, spread=1.3),
        "wolf_snout": _fur("wolf_snout", (222, 208, 188)),
        "wolf_ear": _fur("wolf_ear", (150, 142, 136)),
        "wolf_leg": wolf,
        "fox": fox,
        "fox_mane": fox,
        "fox_snout": _fur("fox_snout", (240, 232, 222), spread=0.6),
        "fox_ear": _banded(_fur("fox_ear", (218, 122, 46)), (36, 28, 26), 0, 8),
        "fox_leg": _legs("fox_leg", fox, (52, 36, 30), from_row=5),
        "fox_tail": fox,
        "fox_tail_tip": _fur("fox_tail_tip", (242, 236, 228), spread=0.6),
        "rabbit": rabbit,
        "rabbit_ear": _fur("rabbit_ear", (172, 140, 108)),
        "rabbit_tail": _fur("rabbit_tail", (236, 230, 222)),
        "cat": cat,
        "cat_snout": _fur("cat_snout", (244, 224, 196), spread=0.5),
        "cat_leg": _legs("cat_leg", cat, (244, 232, 214), from_row=12),
        "ocelot": ocelot,
        "ocelot_snout": _fur("ocelot_snout", (250, 238, 206), spread=0.5),
        "ocelot_leg": _legs("ocelot_leg", ocelot, (244, 222, 160), from_row=11),
        "llama": llama,
        "llama_muzzle": _fur("llama_muzzle", (232, 216, 184), spread=0.5),
        "llama_leg": _legs("llama_leg", llama, (120, 98, 72), from_row=14),
        "polar_bear": bear,
        "polar_bear_snout": _fur("polar_bear_snout", (220, 218, 210), spread=0.5),
        "polar_bear_leg": _legs("polar_bear_leg", bear, (206, 204, 196), from_row=13),
        "villager_head": skin,
        "villager_nose": _fur("villager_nose", (176, 120, 94), spread=0.5),
        "villager_robe": robe,
        "villager_sleeve": np.where((_edge_distance(COLUMN_HW) >= 5)[..., None], skin, robe),
        "villager_leg": _legs("villager_leg", robe, (66, 46, 34), from_row=12),
        "golem": golem,
        "golem_limb": golem,
        "zombie_head": zombie,
        "zombie_body": _banded(shirt, (58, 48, 128), 15, 15),
        "zombie_arm": zombie,
        "zombie_leg": _legs(
            "zombie_leg",
            _mottled("zombie_trousers", [(54, 46, 122), (64, 54, 142), (72, 62, 156)]),
            (84, 84, 84),
            from_row=14,
        ),
        "husk_head": husk,
        "husk_body": rags,
        "husk_arm": husk,
        "husk_leg": _legs("husk_leg", rags, (120, 104, 76), from_row=12),
        "skeleton_head": _fur("skeleton_head", bone, spread=0.6),
        "skeleton_body": _ribs("skeleton", bone),
        "skeleton_arm": _fur("skeleton_arm", bone, spread=0.8),
        "skeleton_leg": _fur("skeleton_leg", bone, spread=0.8),
        "stray_head": _fur("stray_head", frost, spread=0.6),
        "stray_body": _mottled("stray_coat", [(74, 92, 98), (88, 108, 114), (104, 124, 130), (58, 72, 78)]),
        "stray_arm": _mottled("stray_sleeve", [(74, 92, 98), (88, 108, 114), (104, 124, 130)]),
        "stray_leg": _fur("stray_leg", frost, spread=0.8),
        "spider": _mottled("spider", [(38, 32, 30), (50, 43, 40), (60, 52, 48), (72, 62, 57)]),
        "spider_leg": _mottled("spider_leg", [(44, 37, 34), (58, 50, 46), (76, 66, 60)]),
        "cave_spider": _mottled("cave_spider", [(12, 40, 46), (18, 54, 62), (24, 66, 74), (32, 80, 88)]),
        "cave_spider_leg": _mottled("cave_spider_leg", [(16, 46, 54), (24, 62, 70), (36, 84, 92)]),
        "creeper": creeper,
        "creeper_leg": _legs("creeper_leg", creeper, (44, 74, 40), from_row=13),
        "arrow_shaft": _fur("arrow_shaft", (136, 104, 60)),
        "arrow_tip": _fur("arrow_tip", (110, 110, 114)),
        "arrow_feather": _fur("arrow_feather", (236, 236, 236), spread=0.8),
    }
