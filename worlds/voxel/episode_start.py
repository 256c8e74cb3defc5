"""Putting an episode into one env: its world, its objects, mobs and items, its agent."""

from typing import NamedTuple

import numpy as np

from worlds.blocks import STATES, state_of
from worlds.generate.biomes import BIOMES
from worlds.items import ITEM_ID
from worlds.mobs.kinds import MOB_ID
from worlds.mobs.spawn import place_mob, spawn_ambient
from worlds.spec import BLOCK_BITS, ITEM_PREFIX, Episode, Placement
from worlds.types import INSTANCE_FIRST_OBJECT
from worlds.voxel.daylight import darkness, daylight
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.field import write_field
from worlds.voxel.kernels import narrow_boxes
from worlds.voxel.motion import GRAVITY, VERTICAL_DRAG
from worlds.voxel.state import FULL_AIR_TICKS, FULL_HEALTH, NO_ITEM, NO_MOB, EnvState
from worlds.voxel.world_cache import PreparedWorld

_MONSTER_DAYLIGHT = 0.3  # darker than that, monsters are about
_MANY_TICKS = 10_000  # a weapon that has not been swung for long is at full strength


class BlockPut(NamedTuple):
    """A block that an episode puts into its world."""

    x: int
    y: int
    z: int
    value: int  # of the cell, see Terrain
    before: int


def begin_episode(state: EnvState, e: int, episode: Episode, prepared: PreparedWorld) -> None:
    """Start `episode` in env e: nothing of the episode before is left."""
    state.terrain.block_EXZY[e] = prepared.world.block_XZY
    write_field(
        prepared.box_XZY, prepared.light_XZY, darkness(episode.look), state.terrain.field_EXZY[e]
    )  # fmt: skip
    puts: list[BlockPut] = []
    begin_life(state, e, episode, prepared, puts)
    for put in puts:
        narrow_boxes(state.terrain.field_EXZY[e], put.x, put.y, put.z)


def begin_life(state: EnvState, e: int, episode: Episode, prepared: PreparedWorld, puts: list[BlockPut]) -> None:
    """Start all of `episode` in env e but the field, in which no box may hold the blocks that are put.

    Env e has the blocks of `prepared` already. What is put into them is added to `puts`, at once, in order.
    """
    state.mobs.kind_EM[e] = NO_MOB
    state.arrows.life_ticks_EA[e] = 0
    state.drops.item_ED[e], state.drops.object_ED[e] = NO_ITEM, 0
    state.clock.key_E[e], state.clock.tick_E[e] = episode.seed & 0x7FFFFFFF, 0
    state.log.event_EN4[e] = 0
    state.log.num_events_E[e] = 0
    _begin_body(state, e, episode)
    _begin_hands(state, e, episode)
    num_mobs = _place_objects(state, e, episode, puts)
    if episode.num_ambient_mobs:
        spawn_ambient(
            state,
            e,
            episode.mob_mix or _biome_mix(episode),
            min(episode.num_ambient_mobs, state.mobs.kind_EM.shape[1] - num_mobs),
            episode.seed,
            engine_tables().blocks,
            prepared.world.ground_XZ,
        )


def _biome_mix(episode: Episode) -> tuple[tuple[str, float], ...]:
    biome = BIOMES[episode.world.biome]
    return biome.mobs + biome.monsters if daylight(episode.look) < _MONSTER_DAYLIGHT else biome.mobs


def target_instance(episode: Episode) -> int:
    """Return the instance id of the episode's target, 0 when it has none."""
    return INSTANCE_FIRST_OBJECT + episode.target_index if episode.target_index >= 0 else 0


def _place_objects(state: EnvState, e: int, episode: Episode, puts: list[BlockPut]) -> int:
    """Put blocks and mobs where the episode wants them; return the number of mobs."""
    size_x, size_y, size_z = episode.world.size_blocks
    num_mobs = 0
    for slot, placement in enumerate(episode.placements):
        x, y, z = placement.position
        if not (0 <= x < size_x and 0 <= y < size_y and 0 <= z < size_z):
            raise ValueError(
                f"backend: placement {slot} at {placement.position} is outside the world of "
                f"{episode.world.size_blocks} blocks; move it inside"
            )
        if placement.kind in MOB_ID:
            if num_mobs == state.mobs.kind_EM.shape[1]:
                raise ValueError(f"backend: more than {num_mobs} mobs are placed; take some out")
            place_mob(state, e, num_mobs, MOB_ID[placement.kind], slot + 1, x + 0.5, float(y), z + 0.5, 0.0)
            num_mobs += 1
            continue
        if placement.kind.startswith(ITEM_PREFIX):
            _lay_item(state, e, placement, slot)
            continue
        state_id = state_of(placement.kind)
        _put_block(state, e, x, y, z, state_id, slot, puts)
        pair = engine_tables().blocks.pair_S3[state_id]
        if pair.any():
            other = (x + pair[0]) % size_x, y + pair[1], (z + pair[2]) % size_z
            if not 0 <= other[1] < size_y:
                raise ValueError(f"backend: the other half of placement {slot} would be outside the world; move it")
            _put_block(state, e, int(other[0]), int(other[1]), int(other[2]), _other_half(state_id), slot, puts)
    return num_mobs


def _lay_item(state: EnvState, e: int, placement: Placement, slot: int) -> None:
    name = placement.kind.removeprefix(ITEM_PREFIX)
    if name not in ITEM_ID:
        raise ValueError(f"backend: placement {slot} is {placement.kind!r}, but {name!r} is no item of this engine")
    drops = state.drops
    row = int(np.argmax(drops.item_ED[e] == NO_ITEM))  # at most 14 objects are placed, 16 rows are there
    drops.item_ED[e, row], drops.count_ED[e, row], drops.object_ED[e, row] = ITEM_ID[name], 1, slot + 1
    x, y, z = placement.position
    drops.position_ED3[e, row] = (x + 0.5, y, z + 0.5)
    drops.velocity_ED3[e, row] = 0.0
    drops.age_ticks_ED[e, row] = 0


def _put_block(state: EnvState, e: int, x: int, y: int, z: int, state_id: int, slot: int, puts: list[BlockPut]) -> None:
    block_EXZY = state.terrain.block_EXZY
    put = BlockPut(x, y, z, value=state_id | ((slot + 1) << BLOCK_BITS), before=int(block_EXZY[e, x, z, y]))
    puts.append(put)
    block_EXZY[e, x, z, y] = put.value


def _other_half(state_id: int) -> int:
    """Return the state of the other half of a door, bed or tall plant: the same but for `half` or `part`."""
    swapped = {"lower": "upper", "upper": "lower", "foot": "head", "head": "foot"}
    block_state = STATES[state_id]
    properties = {name: swapped[value] if name in ("half", "part") else value for name, value in block_state.properties}
    return state_of(block_state.kind.name, **properties)


def _begin_body(state: EnvState, e: int, episode: Episode) -> None:
    bodies, start = state.bodies, episode.start
    size_x, _, size_z = episode.world.size_blocks
    bodies.position_E3[e] = (start.x % size_x, start.y, start.z % size_z)
    # A body at rest is always falling a little: so the first tick finds the ground under it.
    bodies.velocity_E3[e] = (0.0, -GRAVITY * VERTICAL_DRAG, 0.0)
    bodies.yaw_deg_E[e], bodies.pitch_deg_E[e] = start.yaw_deg, start.pitch_deg
    bodies.is_on_ground_E[e] = True
    bodies.is_sprinting_E[e] = bodies.is_sneaking_E[e] = bodies.has_bumped_E[e] = False
    bodies.jump_delay_ticks_E[e] = bodies.hurt_ticks_E[e] = 0
    bodies.fall_blocks_E[e] = 0.0
    bodies.health_E[e] = FULL_HEALTH
    bodies.air_ticks_E[e] = FULL_AIR_TICKS


def _begin_hands(state: EnvState, e: int, episode: Episode) -> None:
    hands = state.hands
    hands.mine_cell_E[e], hands.mine_progress_E[e], hands.mine_delay_ticks_E[e] = -1, 0.0, 0
    hands.use_delay_ticks_E[e] = hands.bow_ticks_E[e] = hands.selected_E[e] = 0
    hands.swing_ticks_E[e] = _MANY_TICKS
    hands.button_cell_E[e], hands.button_ticks_E[e] = -1, 0
    hands.was_attacking_E[e] = hands.was_dropping_E[e] = False
    hands.item_ES[e], hands.count_ES[e] = NO_ITEM, 0
    max_stack_I = engine_tables().items.max_stack_I
    for slot, (name, count) in enumerate(episode.inventory):
        if not name:
            continue
        if name not in ITEM_ID:
            raise ValueError(
                f"episode.inventory: slot {slot} holds {name!r}, which is no item of this engine; see "
                "worlds.items.ITEMS for the names"
            )
        item = ITEM_ID[name]
        if not 1 <= count <= max_stack_I[item]:
            fit = "1 fits" if max_stack_I[item] == 1 else f"1 to {max_stack_I[item]} fit"
            raise ValueError(f"episode.inventory: slot {slot} holds {count} {name}; {fit}")
        hands.item_ES[e, slot], hands.count_ES[e, slot] = item, count
