"""Pictures of items that are eaten or sown. Letters a b c are one colour from dark to bright."""

from worlds.textures.patterns import Color, Drawing
from worlds.textures.sprites import icon, ramp, three

_MEAT = (
    "....bbbb..",
    "..bbcccbb.",
    ".bccbbbccb",
    "bccbwwbbcb",
    "bcbwwbbbcb",
    "bccbbbbcbb",
    ".bbcccbbb.",
    "..bbbbbb..",
)

_LEG = (
    "....bbbb....",
    "..bbccbbb...",
    ".bccbbbbbb..",
    ".bcbbbbbba..",
    ".bbbbbbbba..",
    "..bbbbbaa...",
    "...bbaaww...",
    "......aww...",
    "........wwd.",
    ".........dw.",
)

_BREAD = (
    ".........bbb..",
    ".......bbcccb.",
    ".....bbcacccb.",
    "...bbccccabba.",
    ".bbcaccbbbba..",
    "bccccabbbba...",
    "bccbbbbbaa....",
    "bbbbbbaa......",
    ".aaaaa........",
)

_SEEDS = (
    "...bc.....",
    "...ab...bc",
    "........ab",
    "..........",
    "bc...bc...",
    "ab...ab...",
    "..........",
    "...bc...bc",
    "...ab...ab",
)

_APPLE = (
    "......t...",
    "..l..tt...",
    ".lll.t....",
    "..bblbbb..",
    ".bccbbbbb.",
    "bccbbbbbba",
    "bcbbbbbbba",
    "bbbbbbbbba",
    "bbbbbbbbaa",
    ".bbbbbbaa.",
    "..bbabaa..",
)

_WHEAT = (
    "..cb....cb..",
    ".bcb.cb.bcb.",
    "..bcbcb.cb..",
    ".cbcbbcbcb..",
    "..bcbbcbbc..",
    "...bcbbcb...",
    "....bbbb....",
    "....abba....",
    "....rrrr....",
    "....bbab....",
    "...ab.bba...",
    "..ab...ba...",
)

_CARROT = (
    "........g.g.",
    "......g.gg.g",
    ".......ggg..",
    "......bbgg..",
    ".....bcbbg..",
    "....bcbbba..",
    "...bccbba...",
    "..bcbbba....",
    ".bcbbba.....",
    "bcbbaa......",
    "bbaa........",
)

_POTATO = (
    "....bbbbb..",
    "..bbcccbbb.",
    ".bcccbbkbbb",
    "bcckbbbbbba",
    "bccbbbbkbba",
    "bbbbbbbbbaa",
    ".bkbbbbbaa.",
    "..bbbbaaa..",
)

_SLICE = (
    "b...........",
    "bb..........",
    "gbbb........",
    "gbbbkb......",
    "ggbbbbbb....",
    ".gbkbbbbb...",
    ".ggbbbkbbb..",
    "..ggbbbbbbb.",
    "...ggggbbbbb",
    ".....ggggggg",
)

_EYE = (
    "..bbbbb...",
    ".bcccbbb..",
    "bccdkkbba.",
    "bcdkkkdba.",
    "bbdkkdbbaa",
    ".bbddbbaa.",
    "..bbbaa.b.",
    "...aa..b..",
)

_BERRIES = (
    "....g.g...",
    "...gggg...",
    "..bb.gbb..",
    ".bcbbbcbb.",
    ".bbbabbba.",
    "..ba.bba..",
    "...bcb....",
    "...bba....",
)

_COOKIE = (
    "..bbbbbb..",
    ".bccbbkbb.",
    "bckbbbbbba",
    "bbbbkbbkba",
    "bkbbbbbbba",
    "bbbbbkbbaa",
    ".bbkbbbaa.",
    "..aaaaaa..",
)

_PIE = (
    "...bbbbbb...",
    ".bbccccccbb.",
    "bcccoooocccb",
    "bccooooooccb",
    "bbcccooccbba",
    ".abbbbbbbba.",
    "..aaaaaaaa..",
)

_FISH = (
    "..........b.",
    "...bbbb..bb.",
    ".bbcccbbbbb.",
    "bckcccbbbba.",
    "bcccbbbba.b.",
    ".bbbbbaa..b.",
    "...aa.......",
)

_BEET = (
    "....g..g..",
    "...gg.gg..",
    "....ggg...",
    "..bbbrbb..",
    ".bccbbbbb.",
    "bccbbbbbba",
    "bcbbbbbbba",
    ".bbbbbbba.",
    "..bbbbba..",
    "....aa....",
    "....a.....",
)

_CAKE = (
    "...wwwwww...",
    ".wwwrwwwwww.",
    "wwwwwwwrwwww",
    "wwrwwwwwwwww",
    "wwwwwrwwwwwa",
    "bwwbwwwbwwba",
    "bbwbbwbbbbba",
    "bbbbbbbbbbba",
    ".abbbbbbbba.",
)

_EGG = (
    "...bbb..",
    "..bccbb.",
    ".bccbbba",
    ".bcbbbba",
    "bccbbbba",
    "bcbbbbba",
    "bbbbbbba",
    ".bbbbba.",
    "..aaaa..",
)

_FAT: Color = (246, 222, 206)
_BEEF, _PORK, _CHICKEN, _MUTTON = (198, 62, 56), (240, 164, 158), (240, 204, 182), (206, 72, 74)


DRAWINGS: dict[str, Drawing] = {
    "apple": icon(_APPLE, three((212, 36, 34)) | {"t": (96, 66, 32), "l": (86, 150, 46)}, at=(3, 3)),
    "baked_potato": icon(_POTATO, three((214, 156, 66)) | {"k": (150, 96, 34)}, at=(4, 2)),
    "beef": icon(_MEAT, three(_BEEF) | {"w": _FAT}, at=(4, 3)),
    "beetroot": icon(_BEET, three((160, 40, 54)) | {"g": (84, 150, 52), "r": (180, 70, 84)}, at=(2, 3)),
    "bread": icon(_BREAD, ramp("abc", (186, 134, 48), [0.72, 1.0, 1.22]), at=(4, 1)),
    "cake": icon(_CAKE, three((176, 104, 54)) | {"w": (244, 242, 240), "r": (210, 34, 34)}, at=(4, 2)),
    "carrot": icon(_CARROT, three((244, 136, 34)) | {"g": (78, 156, 44)}, at=(2, 2)),
    "chicken": icon(_LEG, three(_CHICKEN) | {"w": (244, 238, 226), "d": (214, 206, 190)}, at=(3, 2)),
    "cooked_beef": icon(_MEAT, three((138, 84, 52)) | {"w": (196, 150, 108)}, at=(4, 3)),
    "cooked_chicken": icon(_LEG, three((198, 124, 58)) | {"w": (244, 238, 226), "d": (214, 206, 190)}, at=(3, 2)),
    "cooked_cod": icon(_FISH, three((206, 190, 158)) | {"k": (40, 34, 30)}, at=(5, 2)),
    "cooked_mutton": icon(_LEG, three((150, 92, 62)) | {"w": (236, 226, 208), "d": (206, 194, 172)}, at=(3, 2)),
    "cooked_porkchop": icon(_MEAT, three((212, 166, 106)) | {"w": (240, 214, 164)}, at=(4, 3)),
    "cooked_rabbit": icon(_LEG, three((180, 112, 70)) | {"w": (228, 214, 190), "d": (196, 178, 148)}, at=(3, 2)),
    "cooked_salmon": icon(_FISH, three((222, 128, 76)) | {"k": (40, 34, 30)}, at=(5, 2)),
    "cookie": icon(_COOKIE, three((198, 132, 70)) | {"k": (84, 50, 24)}, at=(4, 3)),
    "cod": icon(_FISH, three((178, 148, 118)) | {"k": (34, 30, 28)}, at=(5, 2)),
    "egg": icon(
        _EGG,
        three((226, 212, 168)),
        at=(4, 4),
    ),
    "golden_apple": icon(_APPLE, three((246, 206, 64)) | {"t": (96, 66, 32), "l": (86, 150, 46)}, at=(3, 3)),
    "melon_slice": icon(_SLICE, three((216, 62, 50)) | {"g": (96, 150, 40), "k": (54, 22, 18)}, at=(3, 2)),
    "mutton": icon(_LEG, three(_MUTTON) | {"w": (244, 232, 220), "d": (218, 200, 186)}, at=(3, 2)),
    "porkchop": icon(_MEAT, three(_PORK) | {"w": (252, 226, 216)}, at=(4, 3)),
    "potato": icon(_POTATO, three((198, 158, 86)) | {"k": (150, 110, 52)}, at=(4, 2)),
    "pumpkin_pie": icon(_PIE, three((202, 132, 66)) | {"o": (234, 142, 42)}, at=(4, 2)),
    "rabbit": icon(_LEG, three((222, 150, 132)) | {"w": (240, 226, 212), "d": (212, 194, 176)}, at=(3, 2)),
    "rotten_flesh": icon(_MEAT, three((146, 84, 46)) | {"w": (108, 128, 58)}, at=(4, 3)),
    "salmon": icon(_FISH, three((172, 66, 58)) | {"k": (34, 30, 28)}, at=(5, 2)),
    "spider_eye": icon(_EYE, three((152, 34, 52)) | {"d": (206, 84, 92), "k": (44, 8, 20)}, at=(4, 3)),
    "sweet_berries": icon(_BERRIES, three((196, 34, 36)) | {"g": (66, 122, 58)}, at=(4, 3)),
    "wheat": icon(_WHEAT, three((214, 180, 76)) | {"r": (150, 84, 36)}, at=(2, 2)),
    "wheat_seeds": icon(_SEEDS, ramp("abc", (92, 146, 44), [0.7, 1.0, 1.25]), at=(4, 3)),
}
