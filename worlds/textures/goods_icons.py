"""Pictures of drops, materials and furniture in the hand. Letters a b c are one colour from dark to bright."""

from worlds.textures.patterns import Color, Drawing
from worlds.textures.sprites import Palette, drawn, icon, ramp, three

_LUMP = (
    "...bbb....",
    "..bccbb...",
    ".bccbbba..",
    "bccbbbbba.",
    "bcbbabbbba",
    "bbbbbbaaba",
    ".bbabbbbaa",
    "..bbbaaba.",
    "...aaaa...",
)

_INGOT = (
    "......bbbb..",
    "...bbcccccb.",
    ".bbcccccccbb",
    "bcccccbbbbba",
    "bbccbbbbbaaa",
    "babbbbaaaaa.",
    ".aabbaaa....",
    "...aa.......",
)

_GEM = (
    "...bbbbbb...",
    "..bccbbccb..",
    ".bccbbbbccb.",
    ".bbbcbbbbba.",
    "..bbbcbbba..",
    "...bbbcba...",
    "....bbba....",
    ".....ba.....",
)

_DUST = (
    "....bc....",
    "..bbcbb...",
    ".bcbbbcbb.",
    "bbbcbbbbba",
    "abbbbcbbba",
    ".aabbbbaa.",
)

_SHARD = (
    "......bc..",
    ".....bccb.",
    "..b..bcbb.",
    ".bcb.bbba.",
    ".bcbbcbba.",
    "bccbbcbba.",
    "bcbbbcbba.",
    ".bbaabbaa.",
)

_BALL = (
    "..bbbb..",
    ".bccbbb.",
    "bccbbbba",
    "bcbbbbba",
    "bbbbbbba",
    "bbbbbbaa",
    ".bbbbaa.",
    "..aaaa..",
)

_SHEET = (
    "...bbbbb....",
    "..bccccbbb..",
    ".bccccccccb.",
    ".bccbbccccb.",
    "bcccccbbccb.",
    "bccccccccccb",
    ".bcccbbcccb.",
    ".bbccccccba.",
    "..abbbbcba..",
    "....aabba...",
)

_BUCKET = (
    "..bbbbbb..",
    ".bwwwwwwb.",
    "bcwwwwwwba",
    "bccwwwwbba",
    "bcccbbbbba",
    ".bccbbbba.",
    ".bccbbbba.",
    ".bccbbbba.",
    "..bcbbba..",
    "..bbbbaa..",
)

_FEATHER = (
    "..........bb.",
    ".........bccb",
    "........bccb.",
    "......bbcccb.",
    ".....bccccb..",
    "....bcccab...",
    "...bccaab....",
    "...bcabb.....",
    "..bcabb......",
    "..babb.......",
    ".aab.........",
    "a............",
)

_BONE = (
    ".........bb..",
    ".........bcb.",
    "........bccbb",
    ".......bccccb",
    "......bccbbb.",
    ".....bccb....",
    "....bccb.....",
    ".bbbccb......",
    "bccccb.......",
    "bbccb........",
    ".bcb.........",
    "..bb.........",
)

_STICK = (
    "..........bc",
    ".........bcb",
    "........bcb.",
    ".......bcb..",
    "......bcb...",
    ".....bcb....",
    "....bcb.....",
    "...bcb......",
    "..bcb.......",
    ".bcb........",
    "bcb.........",
    "bb..........",
)

_BOOK = (
    "..bbbbbbbb..",
    ".bccccccccb.",
    "bbcbbbbbbcb.",
    "bbcbbbbbbcb.",
    "bbcbbbbbbcb.",
    "bbcbbbbbbcb.",
    "bbcbbbbbbcb.",
    "bbccccccccb.",
    "bwwwwwwwwwb.",
    ".bbbbbbbbb..",
)

_STRING = (
    "..cc.....cc.",
    ".c..c...c..c",
    ".c...c.c...c",
    "..c...c...c.",
    "...cc.c.cc..",
    "..c...c...c.",
    ".c...c.c...c",
    ".c..c...c..c",
    "..cc.....cc.",
)

_SAC = (
    "....bb....",
    "...b..b...",
    "....bb....",
    "...bbbb...",
    "..bccbbb..",
    ".bcbbbbba.",
    ".bbbbbbba.",
    "..bbbbaa..",
    "...aaaa...",
)

_SADDLE = (
    "..bbb....bbb",
    ".bccbb..bccb",
    ".bcccbbbbccb",
    "bbcccccccbba",
    "bbbccccbbbba",
    ".abbbbbbbaa.",
    "..aba..aba..",
    "..i.i..i.i..",
    "..i.i..i.i..",
    "..iii..iii..",
)

_DOOR = (
    "bbbbbbb.",
    "bcccccba",
    "bcwcwcba",
    "bcwcwcba",
    "bcccccba",
    "bcccccba",
    "baaaacba",
    "bccccsba",
    "bcccccba",
    "bcaaacba",
    "bcaaacba",
    "bcaaacba",
    "bcccccba",
    "bbbbbbba",
)

_POT = (
    "bbbbbbbbbbbb",
    "bcccccccccca",
    "bckkkkkkkkca",
    ".bccccccccb.",
    ".bbbbbbbbba.",
    ".bbbbbbbbba.",
    ".bbbbbbbbba.",
    ".bbbbbbbbba.",
    ".abbbbbbbaa.",
    ".aa......aa.",
    ".aa......aa.",
)

_SWITCH = (
    "..........ss",
    ".........sst",
    "........sst.",
    ".......sst..",
    "......sst...",
    ".....sst....",
    "..bbbsttbbb.",
    ".bccbbbbcbba",
    ".bcbbcbbbbba",
    ".abbbbbbabaa",
)

_HANDLE: Palette = {"s": (122, 90, 46), "t": (88, 62, 30)}


def _filled_bucket(liquid: Color) -> Palette:
    return three((196, 196, 200)) | {"w": liquid}


def _door(wood: Color) -> Drawing:
    return icon(_DOOR, three(wood) | {"w": (190, 210, 214), "s": (60, 56, 52)}, at=(1, 4))


DRAWINGS: dict[str, Drawing] = {
    "birch_door": _door((214, 200, 158)),
    "bone": icon(_BONE, three((214, 210, 192)), at=(2, 1)),
    "bone_meal": icon(_DUST, three((220, 220, 220)), at=(6, 3)),
    "book": icon(_BOOK, three((134, 82, 40)) | {"w": (236, 230, 214)}, at=(3, 2)),
    "brick": icon(_INGOT, three((166, 84, 66)), at=(4, 2)),
    "bucket": icon(_BUCKET, _filled_bucket((92, 92, 98)), at=(3, 3)),
    "cauldron": icon(_POT, three((84, 84, 90)) | {"k": (34, 34, 38)}, at=(3, 2)),
    "charcoal": icon(_LUMP, three((62, 54, 44)), at=(3, 3)),
    "clay_ball": icon(_BALL, three((160, 166, 180)), at=(4, 4)),
    "coal": icon(_LUMP, ramp("abc", (44, 44, 46), [0.5, 0.9, 1.7]), at=(3, 3)),
    "diamond": icon(_GEM, three((70, 214, 208)), at=(4, 2)),
    "dried_kelp": icon(_SHEET, three((62, 76, 40)), at=(3, 2)),
    "emerald": icon(_GEM, three((40, 190, 92)), at=(4, 2)),
    "ender_pearl": icon(_BALL, three((30, 110, 96)), at=(4, 4)),
    "feather": icon(_FEATHER, three((220, 222, 226)), at=(2, 1)),
    "flint": icon(_SHARD, three((72, 70, 72)), at=(4, 3)),
    "glowstone_dust": icon(_DUST, three((244, 208, 110)), at=(6, 3)),
    "gold_ingot": icon(_INGOT, three((244, 206, 62)), at=(4, 2)),
    "gold_nugget": icon(_DUST, three((244, 206, 62)), at=(6, 3)),
    "gunpowder": icon(_DUST, three((104, 104, 106)), at=(6, 3)),
    "ink_sac": icon(_SAC, three((52, 50, 60)), at=(4, 3)),
    "iron_door": _door((206, 206, 206)),
    "iron_ingot": icon(_INGOT, three((208, 208, 208)), at=(4, 2)),
    "iron_nugget": icon(_DUST, three((208, 208, 208)), at=(6, 3)),
    "lapis_lazuli": icon(_LUMP, three((44, 82, 190)), at=(3, 3)),
    "lava_bucket": icon(_BUCKET, _filled_bucket((244, 122, 28)), at=(3, 3)),
    "leather": icon(_SHEET, three((176, 92, 48)), at=(3, 2)),
    "lever": icon(_SWITCH, three((118, 118, 118)) | _HANDLE, at=(4, 2)),
    "milk_bucket": icon(_BUCKET, _filled_bucket((246, 246, 244)), at=(3, 3)),
    "netherite_ingot": icon(_INGOT, three((80, 70, 74)), at=(4, 2)),
    "oak_door": _door((150, 118, 68)),
    "paper": icon(_SHEET, three((226, 226, 220)), at=(3, 2)),
    "prismarine_crystals": icon(_DUST, three((180, 224, 206)), at=(6, 3)),
    "quartz": icon(_SHARD, three((232, 226, 218)), at=(4, 3)),
    "rabbit_hide": icon(_SHEET, three((198, 152, 104)), at=(3, 2)),
    "redstone": icon(_DUST, three((206, 24, 16)), at=(6, 3)),
    "saddle": icon(_SADDLE, three((170, 92, 44)) | {"i": (176, 176, 180)}, at=(3, 2)),
    "slime_ball": icon(_BALL, three((116, 190, 92)), at=(4, 4)),
    "snowball": icon(_BALL, three((226, 238, 242)), at=(4, 4)),
    "spruce_door": _door((108, 80, 46)),
    "stick": icon(_STICK, three((132, 98, 50)), at=(2, 2)),
    "string": lambda seed: drawn(_STRING, {"c": (232, 232, 232)}, at=(4, 2)),
    "sugar": icon(_DUST, three((238, 240, 244)), at=(6, 3)),
    "water_bucket": icon(_BUCKET, _filled_bucket((60, 104, 224)), at=(3, 3)),
}
