"""The faces, chests and backs of monsters, villagers and golems."""

from worlds.mobs.drawing import WHITE, Drawing

_SKULL = (
    "........",
    "........",
    "........",
    ".kk..kk.",
    ".kk..kk.",
    "...nn...",
    "........",
    ".tktktk.",
)
_UNDEAD = (
    "........",
    "........",
    "d......d",
    ".kkddkk.",
    ".kkddkk.",
    "...dd...",
    "........",
    "..mmmm..",
)
_SPIDER = (
    "........",
    "..r..r..",
    "........",
    ".rr..rr.",
    ".rr..rr.",
    "........",
    "........",
    "..f..f..",
)
_SPIDER_BACK = (
    "........",
    "...dd...",
    "..dddd..",
    "...dd...",
    "..d..d..",
    ".d.dd.d.",
    "...dd...",
    "........",
)

MONSTER_FACES: dict[str, Drawing] = {
    "villager_front": Drawing(
        "villager_head",
        (
            "........",
            "........",
            "........",
            ".bbbbbb.",
            ".eg..ge.",
            "........",
            "........",
            "..mmmm..",
        ),
        {"b": (64, 42, 28), "e": WHITE, "g": (34, 112, 50), "m": (140, 90, 70)},
    ),
    "villager_robe_front": Drawing(
        "villager_robe",
        (
            "...cc...",
            "...cc...",
            "...cc...",
            "...cc...",
            "...cc...",
            "...cc...",
            "...cc...",
            "cccccccc",
        ),
        {"c": (72, 48, 34)},
    ),
    "golem_front": Drawing(
        "golem",
        (
            "........",
            "........",
            "bbbbbbbb",
            ".rr..rr.",
            ".rr..rr.",
            "........",
            "........",
            "........",
        ),
        {"b": (128, 116, 106), "r": (150, 34, 26)},
    ),
    "golem_chest": Drawing(
        "golem",
        (
            "........",
            "......v.",
            ".....v..",
            "..v..v..",
            "..vv....",
            "...v....",
            "...v....",
            "........",
        ),
        {"v": (96, 128, 58)},
    ),
    "zombie_head_front": Drawing(
        "zombie_head", _UNDEAD, {"k": (20, 26, 16), "d": (54, 86, 42), "m": (40, 58, 30)}
    ),
    "zombie_chest": Drawing(
        "zombie_body",
        (
            "..ssss..",
            "...ss...",
            "........",
            "........",
            ".....tt.",
            "........",
            "........",
            "..tt....",
        ),
        {"s": (86, 130, 66), "t": (0, 98, 102)},
    ),
    "husk_head_front": Drawing(
        "husk_head", _UNDEAD, {"k": (40, 28, 14), "d": (112, 92, 62), "m": (84, 66, 40)}
    ),
    "husk_chest": Drawing(
        "husk_body",
        (
            "........",
            "..dd....",
            "........",
            "....ddd.",
            "........",
            ".d......",
            ".dd...d.",
            "d.dd.ddd",
        ),
        {"d": (128, 106, 74)},
    ),
    "skeleton_head_front": Drawing(
        "skeleton_head", _SKULL, {"k": (28, 28, 28), "n": (96, 96, 96), "t": (214, 214, 214)}
    ),
    "skeleton_chest": Drawing("skeleton_body", ("........",) * 8, {}),
    "stray_head_front": Drawing(
        "stray_head", _SKULL, {"k": (14, 22, 26), "n": (88, 100, 104), "t": (206, 218, 220)}
    ),
    "stray_chest": Drawing(
        "stray_body",
        (
            "........",
            "..kkkk..",
            "..b..b..",
            "..kkkk..",
            "...bb...",
            "..kkk...",
            "....k...",
            "........",
        ),
        {"k": (40, 48, 52), "b": (150, 166, 170)},
    ),
    "spider_front": Drawing("spider", _SPIDER, {"r": (214, 22, 20), "f": (150, 140, 132)}),
    "spider_back": Drawing("spider", _SPIDER_BACK, {"d": (30, 25, 23)}),
    "cave_spider_front": Drawing("cave_spider", _SPIDER, {"r": (222, 24, 24), "f": (140, 158, 160)}),
    "cave_spider_back": Drawing("cave_spider", _SPIDER_BACK, {"d": (8, 28, 32)}),
    "creeper_front": Drawing(
        "creeper",
        (
            "........",
            "........",
            ".kk..kk.",
            ".kk..kk.",
            "...kk...",
            "..kkkk..",
            "..kddk..",
            "..k..k..",
        ),
        {"k": (14, 22, 14), "d": (34, 46, 32)},
    ),
}  # fmt: skip
