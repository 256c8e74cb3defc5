"""The faces of animals. Eyes are dark beside white, so that a face reads at 8 px."""

from worlds.mobs.drawing import BLACK, WHITE, Drawing

_COW = (
    "...ww...",
    "...ww...",
    "ke.ww.ek",
    "ke.ww.ek",
    "...ww...",
    ".gggggg.",
    ".gnggng.",
    ".gggggg.",
)
_HORSE_SIDE = (
    "........",
    "........",
    "....ke..",
    "....kk..",
    "........",
    "........",
    "........",
    "........",
)
_HORSE_BROW = (
    "..mmmm..",
    "...mm...",
    "...ww...",
    "...ww...",
    "...ww...",
    "...ww...",
    "........",
    "........",
)
_NOSE = (
    "........",
    "........",
    "........",
    ".nn..nn.",
    ".nn..nn.",
    "........",
    "llllllll",
    "........",
)
_DOG = (
    "........",
    "........",
    "........",
    "ke....ek",
    "kk....kk",
    "..wwww..",
    "wwwwwwww",
    "wwwwwwww",
)
_DOG_NOSE = (
    "..kkkk..",
    "..kkkk..",
    "..kkkk..",
    "........",
    "........",
    "llllllll",
    "........",
    "........",
)
_CAT = (
    "........",
    ".s.ss.s.",
    ".s.ss.s.",
    ".gk..kg.",
    ".gk..kg.",
    "........",
    "..wppw..",
    ".wwwwww.",
)

ANIMAL_FACES: dict[str, Drawing] = {
    "cow_head_front": Drawing(
        "cow_head", _COW,
        {"k": BLACK, "e": WHITE, "w": (226, 222, 216), "g": (192, 170, 160), "n": (92, 66, 60)},
    ),
    "mooshroom_head_front": Drawing(
        "mooshroom_head", _COW,
        {"k": BLACK, "e": WHITE, "w": (214, 206, 200), "g": (196, 186, 180), "n": (92, 66, 60)},
    ),
    "sheep_front": Drawing(
        "sheep_skin",
        (
            "wwwwwwww",
            "w......w",
            "........",
            "ke....ek",
            "ke....ek",
            "........",
            "...pp...",
            "...pp...",
        ),
        {"w": (232, 230, 224), "k": BLACK, "e": WHITE, "p": (222, 150, 146)},
    ),
    "pig_front": Drawing(
        "pig",
        (
            "........",
            "........",
            "ke....ek",
            "ke....ek",
            "........",
            "........",
            "........",
            "........",
        ),
        {"k": BLACK, "e": WHITE},
    ),
    "pig_snout": Drawing(
        "pig_snout_side",
        (
            "........",
            "........",
            ".nn..nn.",
            ".nn..nn.",
            ".nn..nn.",
            "........",
            "........",
            "........",
        ),
        {"n": (132, 62, 58)},
    ),
    "chicken_front": Drawing("chicken", ("........",) * 8, {}),
    "horse_brow": Drawing("horse", _HORSE_BROW, {"m": (46, 34, 26), "w": (232, 226, 220)}),
    "horse_nose": Drawing("horse_muzzle", _NOSE, {"n": (46, 28, 18), "l": (72, 46, 28)}),
    "donkey_brow": Drawing("donkey", _HORSE_BROW, {"m": (60, 52, 46), "w": (142, 126, 112)}),
    "donkey_nose": Drawing("donkey_muzzle", _NOSE, {"n": (66, 56, 50), "l": (120, 108, 98)}),
    "wolf_front": Drawing("wolf", _DOG, {"k": BLACK, "e": WHITE, "w": (228, 216, 200)}),
    "wolf_nose": Drawing("wolf_snout", _DOG_NOSE, {"k": BLACK, "l": (150, 132, 112)}),
    "fox_front": Drawing("fox", _DOG, {"k": BLACK, "e": WHITE, "w": (244, 238, 230)}),
    "fox_nose": Drawing("fox_snout", _DOG_NOSE, {"k": BLACK, "l": (190, 178, 166)}),
    "rabbit_front": Drawing(
        "rabbit",
        (
            "........",
            "........",
            "k......k",
            "k......k",
            "........",
            "...pp...",
            "..wwww..",
            "..wwww..",
        ),
        {"k": BLACK, "p": (222, 140, 140), "w": (232, 222, 208)},
    ),
    "cat_front": Drawing(
        "cat", _CAT,
        {"s": (176, 100, 36), "g": (92, 176, 66), "k": BLACK, "p": (214, 120, 116), "w": (246, 232, 212)},
    ),
    "ocelot_front": Drawing(
        "ocelot", _CAT,
        {"s": (124, 82, 38), "g": (70, 158, 92), "k": BLACK, "p": (196, 116, 104), "w": (252, 244, 222)},
    ),
    "llama_front": Drawing(
        "llama",
        (
            "................",
            "................",
            ".kke........ekk.",
            ".kke........ekk.",
            "................",
            "................",
            "................",
            "................",
        )
        + ("................",) * 8,
        {"k": BLACK, "e": WHITE},
    ),
    "llama_nose": Drawing("llama_muzzle", _NOSE, {"n": (92, 70, 54), "l": (150, 126, 98)}),
    "polar_bear_front": Drawing(
        "polar_bear",
        (
            "........",
            "........",
            ".k....k.",
            ".k....k.",
            "........",
            "........",
            "........",
            "........",
        ),
        {"k": BLACK},
    ),
    "polar_bear_nose": Drawing("polar_bear_snout", _DOG_NOSE, {"k": BLACK, "l": (140, 136, 130)}),
}  # fmt: skip

# Pairs of sides, drawn with the front at the right.
ANIMAL_SIDES: dict[str, Drawing] = {
    "chicken_head": Drawing(
        "chicken",
        (
            "........",
            "........",
            "....kk..",
            "....kk..",
            "........",
            "........",
            "........",
            "........",
        ),
        {"k": BLACK},
    ),
    "horse_head": Drawing("horse", _HORSE_SIDE, {"k": BLACK, "e": WHITE}),
    "donkey_head": Drawing("donkey", _HORSE_SIDE, {"k": BLACK, "e": WHITE}),
    "rabbit_head": Drawing(
        "rabbit",
        (
            "........",
            "........",
            "....kk..",
            "....kk..",
            "........",
            "........",
            "........",
            "........",
        ),
        {"k": BLACK},
    ),
}
