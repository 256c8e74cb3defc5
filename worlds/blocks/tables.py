"""The block table as arrays for the engine's kernels. S block states."""

import functools
from collections.abc import Callable

import numpy as np

from worlds.blocks.boxes import FULL_BOX, QUARTER, Box, collision_of, outline_of
from worlds.blocks.states import BLOCK_ID, BLOCKS, NUM_STATES, STATES, BlockState, state_of
from worlds.blocks.tools import TOOLS, is_harvested, mining_speed, share_per_tick, tool_class
from worlds.voxel.tables import FLUID_NONE, USE_NOTHING, USE_OPEN, USE_PRESS, USE_TOGGLE, BlockTables, Boxes

_USES = {"": USE_NOTHING, "toggle": USE_TOGGLE, "press": USE_PRESS, "open": USE_OPEN}
_STEP = ((0, -1), (1, 0), (0, 1), (-1, 0))  # x, z of north, east, south, west
_OTHER_HALF = {"lower": "upper", "upper": "lower", "foot": "head", "head": "foot"}
_FLOORLESS_FACINGS = frozenset(QUARTER)


def _boxes(boxes_of: Callable[[int], tuple[Box, ...]]) -> Boxes:
    boxes_SN = [boxes_of(state_id) for state_id in range(NUM_STATES)]
    count_S = np.array([len(boxes) for boxes in boxes_SN], np.int32)
    return Boxes(
        start_S=(np.cumsum(count_S) - count_S).astype(np.int32),
        count_S=count_S,
        is_cube_S=np.array([boxes == (FULL_BOX,) for boxes in boxes_SN]),
        box_B6=np.array([box for boxes in boxes_SN for box in boxes], np.float64),
    )


def _used_state(state: BlockState) -> int:
    """Return what the state becomes when it is used: opened, closed, switched, pressed; itself if nothing changes."""
    if not state.kind.use:
        return state_of(state.name)
    names = dict(state.properties)
    for name in ("open", "powered"):
        if name in names:
            is_pressed = state.kind.use == "press" and names[name] == "true"
            names[name] = "true" if names[name] == "false" or is_pressed else "false"
    return state_of(state.kind.name, **names)


def _pair(state: BlockState) -> tuple[int, int, int]:
    """Return where the other half is, (0, 0, 0) for whole blocks."""
    if state.kind.shape in ("door", "tall_cross"):
        return (0, 1 if state.get("half") == "lower" else -1, 0)
    if state.kind.shape == "bed":
        x, z = _STEP[QUARTER[state.get("facing")]]
        sign = 1 if state.get("part") == "foot" else -1
        return (sign * x, 0, sign * z)
    return (0, 0, 0)


def _pair_state(state: BlockState) -> int:
    """Return the state of the other half: the same but for `half` or `part`; itself for whole blocks."""
    if _pair(state) == (0, 0, 0):
        return state_of(state.name)
    names = {name: _OTHER_HALF.get(value, value) for name, value in state.properties}
    return state_of(state.kind.name, **names)


def _needs_floor(state: BlockState) -> bool:
    names = dict(state.properties)
    if state.kind.shape in ("lever", "button") and names["facing"] in _FLOORLESS_FACINGS:
        return False
    if state.kind.shape in ("door", "tall_cross") and names["half"] == "upper":
        return False
    return state.kind.needs_floor


def _drop_count(state: BlockState) -> int:
    """Return the number of items: a double slab gives two, snow one a layer."""
    if not state.kind.drop:
        return 0
    names = dict(state.properties)
    if state.kind.shape == "slab" and names["type"] == "double":
        return 2
    return int(names["layers"]) if state.kind.shape == "snow" else state.kind.drop_count


def _opacity(state: BlockState) -> int:
    names = dict(state.properties)
    is_full = names.get("type") == "double" or names.get("layers") == "8"
    return 15 if is_full else state.kind.opacity


def _is_replaceable(state: BlockState) -> bool:
    return state.kind.is_replaceable and dict(state.properties).get("layers", "1") == "1"


def _emission(state: BlockState) -> int:
    return 0 if dict(state.properties).get("lit") == "false" else state.kind.emission


def _connections(state: BlockState) -> list[int]:
    if state.kind.shape not in ("fence", "pane"):
        return [-1] * 16
    return [state_of(state.kind.name, links=str(links)) for links in range(16)]


@functools.cache
def build_block_tables() -> BlockTables:
    """Return the rows of STATES as arrays. Read-only."""
    from worlds.items import ITEM_ID  # items are built on blocks

    def column(value_of: Callable[[BlockState], object], dtype: type) -> np.ndarray:
        return np.array([value_of(state) for state in STATES], dtype)

    collision = _boxes(collision_of)
    return BlockTables(
        kind_S=column(lambda state: BLOCK_ID[state.kind.name], np.int32),
        collision=collision,
        outline=_boxes(outline_of),
        is_solid_S=collision.count_S > 0,
        fluid_S=column(lambda state: state.kind.fluid, np.uint8),
        slipperiness_S=column(lambda state: state.kind.slipperiness, np.float64),
        speed_factor_S=column(lambda state: state.kind.speed_factor, np.float64),
        jump_factor_S=column(lambda state: state.kind.jump_factor, np.float64),
        is_climbable_S=column(lambda state: state.kind.is_climbable, bool),
        is_web_S=column(lambda state: state.kind.is_web, bool),
        hurt_S=column(lambda state: state.kind.hurt, np.int32),
        hardness_S=column(lambda state: state.kind.hardness, np.float64),
        tool_S=column(lambda state: tool_class(state.kind.tool, of=state.kind.name), np.int32),
        needs_tier_S=column(lambda state: state.kind.needs_tier, np.int32),
        drop_item_S=column(lambda state: ITEM_ID[state.kind.drop] if state.kind.drop else -1, np.int32),
        drop_count_S=column(_drop_count, np.int32),
        is_replaceable_S=column(_is_replaceable, bool),
        needs_floor_S=column(_needs_floor, bool),
        use_S=column(lambda state: _USES[state.kind.use], np.uint8),
        used_state_S=column(_used_state, np.int32),
        pair_S3=column(_pair, np.int32),
        pair_state_S=column(_pair_state, np.int32),
        pressed_ticks_S=column(
            lambda state: state.kind.press_ticks if dict(state.properties).get("powered") == "true" else 0, np.int32
        ),
        connect_S16=column(_connections, np.int32),
        link_class_S=column(lambda state: state.kind.link_class, np.int32),
        emission_S=column(_emission, np.uint8),
        opacity_S=column(_opacity, np.uint8),
    )


def solid_table() -> np.ndarray:
    """Return bool [S]: whether a body collides with a state."""
    return np.array([bool(collision_of(state_id)) for state_id in range(NUM_STATES)])


def fluid_table() -> np.ndarray:
    """Return bool [S]: whether a state is a fluid."""
    return np.array([state.kind.fluid != FLUID_NONE for state in STATES])


def break_damage_per_tick(tool: str) -> np.ndarray:
    """Return float64 [S]: share of a state that one tick of mining with `tool` removes, on the ground, in air.

    `tool` is a name in TOOLS, "" the bare hand. 0 for what cannot be broken, 1 for what breaks at once.
    """
    if tool not in TOOLS:
        raise ValueError(f"{tool!r} is no tool of this engine; choose one of {sorted(TOOLS)}")
    tool_name, speed, tier = TOOLS[tool]
    item_class = tool_class(tool_name, of=tool)
    damage_K = np.zeros(len(BLOCKS))
    for index, kind in enumerate(BLOCKS):
        block_class = tool_class(kind.tool, of=kind.name)
        drops = is_harvested(block_class, kind.needs_tier, item_class, tier)
        damage_K[index] = share_per_tick(kind.hardness, mining_speed(block_class, item_class, speed), drops)
    return np.minimum(damage_K, 1.0)[[BLOCK_ID[state.kind.name] for state in STATES]]
