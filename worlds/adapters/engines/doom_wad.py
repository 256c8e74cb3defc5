"""The WAD that makes ViZDoom do what tasks need: our agent, a free camera, marked things, exact placing, maps by plan.

Doom's own console can place neither the agent nor a thing exactly. A small ACS script can; it is assembled here, since
the compiler is no part of ViZDoom. Lengths are in map units, 32 of them a block.
"""

from __future__ import annotations

import struct

import numpy as np

from worlds.adapters.engines.floor_plan import CEILING_BLOCKS, FloorPlan

UNITS_PER_BLOCK = 32
MAP = "MAP01"

# Things that a task can mark: our name -> (sprite, scale, radius, height). Standing, solid, with one frame, so that a
# picture depends on nothing but the poses. Scaled to about a block, as what the policy was taught to walk to.
THINGS = {
    "barrel": ("BAR1A", 1.0, 11, 32),
    "burning_barrel": ("FCANA", 0.8, 11, 32),
    "green_armor": ("ARM1A", 1.4, 13, 28),
    "blue_armor": ("ARM2A", 1.4, 13, 28),
    "soul_sphere": ("SOULA", 1.2, 13, 32),
    "mega_sphere": ("MEGAA", 1.2, 13, 32),
    "tech_lamp": ("TLP2A", 0.7, 11, 32),
    "candelabra": ("CBRAA", 0.6, 11, 32),
    "red_column": ("COL4A", 0.8, 13, 32),
    "green_column": ("COL2A", 0.8, 13, 32),
    "medikit": ("MEDIA", 1.5, 13, 28),
    "backpack": ("BPAKA", 1.3, 13, 32),
}
# Natural things with the same pictures are left out of every map: each would be a wrong object that nobody judges.
_NATURAL = (
    "ExplosiveBarrel", "BurningBarrel", "GreenArmor", "BlueArmor", "Soulsphere", "Megasphere", "TechLamp2",
    "Candelabra", "ShortRedColumn", "ShortGreenColumn", "Medikit", "Backpack",
)  # fmt: skip

_EYE_UNITS = 1.62 * UNITS_PER_BLOCK
_EYE = "McrlEye"
_EYE_TID = 1  # of the actor that is the camera
_WALLS = ("STARTAN3", "BRICK6", "BROWN1", "STONE2", "METAL1", "GRAY5", "MARBLE1", "TEKWALL4", "WOOD1", "BRICK10")
_FLOORS = ("FLOOR4_8", "FLAT5_4", "FLOOR0_1", "FLAT1", "CEIL5_1", "GRASS1", "RROCK09", "FLOOR7_1")
_CEILINGS = ("F_SKY1", "F_SKY1", "CEIL1_1", "FLAT20", "CEIL3_5")

# Numbers of the console command `puke`; negative there, so that one script may run several times in a tic.
SCRIPT_PLACE, SCRIPT_PITCH, SCRIPT_SPAWN, SCRIPT_SEE = 1, 2, 3, 4

# ZDoom's byte code.
_TERMINATE, _PUSH, _SPECIAL_3, _PUSH_ARGUMENT, _CALL = 1, 3, 6, 28, 351
_SET_ANGLE, _SET_POSITION, _SET_PITCH = 276, 283, 332
_SET_VELOCITY, _SPAWN_FORCED = 23, 36  # of _CALL
_CHANGE_CAMERA = 237  # of _SPECIAL_3


def class_of(kind: str) -> str:
    """Return the actor class of a thing in THINGS."""
    return "Marked" + "".join(part.capitalize() for part in kind.split("_"))


def add_on(map_lumps: list[tuple[str, bytes]], *, is_camera: bool) -> bytes:
    """Return a whole WAD: classes, scripts, and the given lumps of a map, none where the game's own maps are played.

    With `is_camera` the scripts place a point that floats and is looked from, else the player. The player's own eye
    would not do: Doom lets it sink and sway whenever its body was moved up or down.
    """
    mapinfo = 'gameinfo { playerclasses = "McrlAgent" }\n'
    if map_lumps:
        mapinfo += f'map {MAP} "rooms" {{ sky1 = "SKY1" nointermission }}\n'
    lumps = [
        ("DECORATE", _classes().encode()),
        ("MAPINFO", mapinfo.encode()),
        ("LOADACS", b"MCRLACS"),
        ("A_START", b""),
        ("MCRLACS", _scripts(_EYE_TID if is_camera else 0)),
        ("A_END", b""),
    ]
    return _wad(lumps + map_lumps)


def plan_lumps(plan: FloorPlan) -> list[tuple[str, bytes]]:
    """Return the lumps of a map: the plan's cells from (0, 0) to the east and to the south, Doom's negative y."""
    walls = [_WALLS[(plan.style + index) % len(_WALLS)] for index in range(3)]
    floor = _FLOORS[(plan.style >> 4) % len(_FLOORS)]
    ceiling = _CEILINGS[(plan.style >> 8) % len(_CEILINGS)]
    vertices: dict[tuple[int, int], int] = {}
    lines = []
    is_free_XZ = plan.is_free_XZ
    for x, z in np.argwhere(is_free_XZ).tolist():
        west, east, north, south = x, x + 1, -z, -z - 1
        # Clockwise round the cell: a line's front is to its right.
        for dx, dz, start, end in (
            (0, -1, (west, north), (east, north)),
            (1, 0, (east, north), (east, south)),
            (0, 1, (east, south), (west, south)),
            (-1, 0, (west, south), (west, north)),
        ):
            if not is_free_XZ[x + dx, z + dz]:
                ends = [vertices.setdefault(corner, len(vertices)) for corner in (start, end)]
                lines.append((ends[0], ends[1], walls[(x // 8 + z // 8) % len(walls)]))
    text = ['namespace = "zdoom";']
    text += [f"vertex {{ x = {x * UNITS_PER_BLOCK}; y = {y * UNITS_PER_BLOCK}; }}" for x, y in vertices]
    text.append(
        f"sector {{ heightfloor = 0; heightceiling = {CEILING_BLOCKS * UNITS_PER_BLOCK}; lightlevel = 208; "
        f'texturefloor = "{floor}"; textureceiling = "{ceiling}"; }}'
    )
    for index, (v1, v2, wall) in enumerate(lines):
        text.append(f"linedef {{ v1 = {v1}; v2 = {v2}; sidefront = {index}; blocking = true; }}")
        text.append(f'sidedef {{ sector = 0; texturemiddle = "{wall}"; }}')
    x, z = np.argwhere(is_free_XZ)[0].tolist()
    always = " ".join(
        f"{name} = true;" for name in ("skill1", "skill2", "skill3", "skill4", "skill5", "single", "class1")
    )
    text.append(
        f"thing {{ x = {(x + 0.5) * UNITS_PER_BLOCK}; y = {-(z + 0.5) * UNITS_PER_BLOCK}; type = 1; {always} }}"
    )
    return [(MAP, b""), ("TEXTMAP", "\n".join(text).encode()), ("ENDMAP", b"")]


def map_lumps_of(wad: bytes) -> list[tuple[str, bytes]]:
    """Return the geometry of another WAD's first map in text form, without its scripts, which would reward and end."""
    num_lumps, directory = struct.unpack_from("<ii", wad, 4)
    kept: dict[str, bytes] = {}
    for index in range(num_lumps):
        offset, size, name = struct.unpack_from("<ii8s", wad, directory + 16 * index)
        kept.setdefault(name.rstrip(b"\0").decode("ascii"), wad[offset : offset + size])
    return [(MAP, b"")] + [(name, kept[name]) for name in ("TEXTMAP", "ZNODES", "ENDMAP") if name in kept]


def _classes() -> str:
    agent = f"Player.ViewHeight {_EYE_UNITS} Height {1.8 * UNITS_PER_BLOCK} Radius {0.3 * UNITS_PER_BLOCK}"
    text = [
        f'actor McrlAgent : DoomPlayer {{ {agent} Player.StartItem "Fist" -SHOOTABLE -PICKUP RenderStyle None }}',
        f"actor {_EYE} {{ Radius 1 Height 1 +NOGRAVITY +NOCLIP +NOBLOCKMAP States {{ Spawn: TNT1 A -1\nStop }} }}",
    ]
    for kind, (sprite, scale, radius, height) in THINGS.items():
        text.append(
            f"actor {class_of(kind)} {{ Radius {radius} Height {height} Scale {scale} +SOLID "
            f"States {{ Spawn: {sprite[:4]} {sprite[4]} -1\nStop }} }}"
        )
    for name in _NATURAL:
        text.append(f"actor No{name} replaces {name} {{ States {{ Spawn: TNT1 A 0\nStop }} }}")
    return "\n".join(text)


def _scripts(placed_tid: int) -> bytes:
    """Assemble place(x, y, z, angle), pitch(angle), spawn(class, x, y, z) and see(x, y, z), arguments in 16.16.

    `placed_tid` is what place and pitch move: a thing's id, 0 is the player.
    """
    placed, player = [_PUSH, placed_tid], [_PUSH, 0]
    arguments = [[_PUSH_ARGUMENT, index] for index in range(4)]
    stop = placed + [_PUSH, 0] * 3 + [_PUSH, 0, _PUSH, 1, _CALL, 6, _SET_VELOCITY]
    place = placed + sum(arguments[:3], []) + [_PUSH, 0, _SET_POSITION]
    place += placed + arguments[3] + [_SET_ANGLE] + stop
    see = [_PUSH, len(THINGS)] + sum(arguments[:3], []) + [_PUSH, _EYE_TID, _PUSH, 0, _CALL, 6, _SPAWN_FORCED]
    see += [_PUSH, _EYE_TID] + player + [_PUSH, 0, _SPECIAL_3, _CHANGE_CAMERA]
    codes = {
        SCRIPT_PLACE: (4, place),
        SCRIPT_PITCH: (1, placed + arguments[0] + [_SET_PITCH]),
        SCRIPT_SPAWN: (4, sum(arguments, []) + [_PUSH, 0, _PUSH, 0, _CALL, 6, _SPAWN_FORCED]),
        SCRIPT_SEE: (3, see),
    }
    body, table = b"", struct.pack("<i", len(codes))
    for number, (num_arguments, code) in codes.items():
        table += struct.pack("<iii", number, 8 + len(body), num_arguments)
        body += struct.pack(f"<{len(code) + 1}i", *code, _TERMINATE)
    names = [name.encode() + b"\0" for name in [*(class_of(kind) for kind in THINGS), _EYE]]
    offset = 8 + len(body) + len(table) + 4 + 4 * len(names)
    table += struct.pack("<i", len(names))
    for name in names:
        table += struct.pack("<i", offset)
        offset += len(name)
    return b"ACS\0" + struct.pack("<i", 8 + len(body)) + body + table + b"".join(names)


def _wad(lumps: list[tuple[str, bytes]]) -> bytes:
    body, directory = b"", b""
    for name, content in lumps:
        directory += struct.pack("<ii8s", 12 + len(body), len(content), name.encode())
        body += content
    return struct.pack("<4sii", b"PWAD", len(lumps), 12 + len(body)) + body + directory
