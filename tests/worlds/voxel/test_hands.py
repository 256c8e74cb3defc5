"""Hands, arrows and drops together: random play keeps the world in order, and compiled play equals plain Python."""

import copy

import numba
import numpy as np
import pytest

from tests.worlds.voxel.arena import GROUND_Y, TABLES, Arena
from tests.worlds.voxel.free_box_promises import broken_promises
from worlds.blocks import STATES, tools
from worlds.items import ITEM_ID, NUM_ITEMS
from worlds.spec import BLOCK_MASK
from worlds.types import BUTTON_INDEX, BUTTONS, EVENT_ITEM_DROPPED, EVENT_NONE
from worlds.voxel import (
    arrows,
    body,
    bow,
    cells,
    chance,
    combat,
    drops,
    free_boxes,
    hands,
    inventory,
    log,
    mining,
    placing,
    raycast,
    using,
)
from worlds.voxel.field import build_distance
from worlds.voxel.free_boxes import BOX_BITS, add_flat_boxes
from worlds.voxel.link import link
from worlds.voxel.state import NO_ITEM

MODULES = (
    tools, chance, log, body, raycast, free_boxes, cells, inventory, drops, combat, arrows, mining, placing, using, bow,
    hands,
)  # fmt: skip
SOURCES = tuple(source for module in MODULES for source in module.SOURCES)


def busy_arena(seed):
    """An agent among furniture, plants and cows, with a full bag, and well kept free boxes."""
    random = np.random.default_rng(seed)
    arena = Arena()
    columns = [(x, z) for x in range(12, 22) for z in range(12, 22) if (x, z) != (16, 16)]
    fillings = ("dirt", "chest", "poppy", "glass", "water", "oak_button", "lever", "crafting_table", "furnace", "snow")
    for x, z in columns:
        if random.random() < 0.35:
            arena.put(str(random.choice(fillings)), x, GROUND_Y, z, slot=int(random.integers(0, 4)))
        elif random.random() < 0.2:
            for half, y in (("lower", GROUND_Y), ("upper", GROUND_Y + 1)):
                arena.put(f"{random.choice(['oak_door', 'tall_grass'])}[half={half}]", x, y, z, slot=5)
    for x, z in columns:  # two different halves never stand on each other
        lower, upper = arena.at(x, GROUND_Y, z), arena.at(x, GROUND_Y + 1, z)
        if upper and STATES[lower].kind is not STATES[upper].kind:
            arena.put("air", x, GROUND_Y, z)
            arena.put("air", x, GROUND_Y + 1, z)
    for row in range(4):
        arena.put_mob("cow", *random.uniform(14, 19, 3), row=row, slot=row)
        arena.state.mobs.position_EM3[0, row, 1] = GROUND_Y
    carried = ("oak_fence", "oak_door", "red_bed", "bow", "bread", "torch", "iron_pickaxe", "glass_pane", "tall_grass")
    for slot, name in enumerate(carried):
        arena.give(name, 1 if name in ("bow", "iron_pickaxe", "red_bed") else 20, slot=slot)
    arena.give("arrow", 64, slot=20)
    box_XZY = np.zeros((32, 32, 64), np.uint8)
    build_distance(arena.state.terrain.block_EXZY[0], box_XZY)
    add_flat_boxes(box_XZY)
    arena.state.terrain.field_EXZY[0] = box_XZY | (15 << 4)
    return arena


def random_play(arena, seed, num_ticks, play):
    """Press random keys while looking around; `play(state, buttons_B)` is one tick. Yields after every tick."""
    random = np.random.default_rng(seed)
    s = arena.state
    buttons_B = np.zeros(len(BUTTONS), bool)
    for tick in range(num_ticks):
        if tick % 7 == 0:
            buttons_B[:] = False
            for key in ("attack", "use"):
                buttons_B[BUTTON_INDEX[key]] = random.random() < 0.6
            for key in ("drop", "sneak", f"hotbar.{random.integers(1, 10)}"):
                buttons_B[BUTTON_INDEX[key]] = random.random() < 0.2
            s.bodies.yaw_deg_E[0] = random.uniform(-180.0, 180.0)
            s.bodies.pitch_deg_E[0] = random.uniform(0.0, 70.0)
            s.bodies.is_on_ground_E[0] = random.random() < 0.8
            s.bodies.health_E[0] = random.integers(1, 21)
        play(s, buttons_B)
        s.clock.tick_E[0] += 1
        s.mobs.hurt_ticks_EM[0] = np.maximum(s.mobs.hurt_ticks_EM[0] - 1, 0)
        yield


def play_plain(s, buttons_B):
    hands.act(0, s.terrain, s.bodies, s.hands, s.mobs, s.arrows, s.drops, s.log, s.clock, TABLES, buttons_B)
    arrows.move_arrows(0, s.terrain, s.bodies, s.mobs, s.arrows, s.drops, s.log, s.clock, TABLES)
    drops.move_drops(0, s.terrain, s.bodies, s.hands, s.drops, s.log, s.clock, TABLES)


def check_world(arena):
    s, blocks = arena.state, TABLES.blocks
    block_XZY = s.terrain.block_EXZY[0] & BLOCK_MASK
    for x, z, y in np.argwhere(block_XZY > 0):
        if y < GROUND_Y - 5:
            continue
        state = block_XZY[x, z, y]
        assert state < len(STATES)
        pair = blocks.pair_S3[state]
        if pair.any():
            other = block_XZY[(x + pair[0]) % 32, (z + pair[2]) % 32, y + pair[1]]
            assert other == blocks.pair_state_S[state], STATES[state].name
        if blocks.connect_S16[state, 0] >= 0:
            assert state == cells.linked_state(s.terrain.block_EXZY[0], blocks, state, x, y, z)
    assert len(broken_promises(s.terrain.field_EXZY[0] & BOX_BITS, s.terrain.block_EXZY[0])) == 0


@pytest.mark.parametrize("seed", range(3))
def test_random_play_keeps_the_world_and_the_bag_in_order(seed):
    arena = busy_arena(seed)
    seen = set()
    for _ in random_play(arena, seed, 300, play_plain):
        s = arena.state
        is_empty_S = s.hands.item_ES[0] == NO_ITEM
        assert ((s.hands.count_ES[0] == 0) == is_empty_S).all()
        assert (s.hands.item_ES[0] < NUM_ITEMS).all()
        assert (s.hands.count_ES[0] <= TABLES.items.max_stack_I[s.hands.item_ES[0]])[~is_empty_S].all()
        for kind, _, _, cell in arena.events():
            assert EVENT_NONE < kind <= EVENT_ITEM_DROPPED
            assert cell < 32 * 32 * 64
            seen.add(kind)
        assert np.isfinite(s.arrows.position_EA3).all()
        assert np.isfinite(s.drops.position_ED3).all()
        assert np.isfinite(s.mobs.velocity_EM3).all()
    check_world(arena)
    assert len(seen) >= 5


def test_items_are_conserved_while_only_thrown_and_picked_up():
    arena = Arena()
    arena.give("dirt", 20)
    arena.state.bodies.pitch_deg_E[0] = 80.0
    s = arena.state
    for tick in range(200):
        arena.press(*(["drop"] if tick % 13 == 0 else []))
        drops.move_drops(0, s.terrain, s.bodies, s.hands, s.drops, s.log, s.clock, TABLES)
        assert arena.count("dirt") + arena.dropped().get(ITEM_ID["dirt"], 0) == 20


def test_names_of_kernels_are_unique():
    names = [source.__name__ for source in SOURCES]
    assert len(set(names)) == len(names)


@pytest.mark.slow
def test_compiled_play_equals_plain_play():
    # Wrappers for calls from Python would double the compile time: only `play` needs one.
    inner = numba.njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
    compiled = link(SOURCES, inner, {})
    act, move_arrows, move_drops = compiled["act"], compiled["move_arrows"], compiled["move_drops"]

    @numba.njit(nogil=True)
    def play(s, tables, buttons_B):
        act(0, s.terrain, s.bodies, s.hands, s.mobs, s.arrows, s.drops, s.log, s.clock, tables, buttons_B)
        move_arrows(0, s.terrain, s.bodies, s.mobs, s.arrows, s.drops, s.log, s.clock, tables)
        move_drops(0, s.terrain, s.bodies, s.hands, s.drops, s.log, s.clock, tables)

    def play_compiled(s, buttons_B):
        play(s, TABLES, buttons_B)

    for seed in range(4):
        plain = busy_arena(seed)
        fast = copy.deepcopy(plain)
        plays = (random_play(plain, seed, 400, play_plain), random_play(fast, seed, 400, play_compiled))
        for tick, _ in enumerate(zip(*plays, strict=True)):
            assert plain.events() == fast.events(), tick
        for group, other in zip(plain.state, fast.state, strict=True):
            for name, expected, got in zip(group._fields, group, other, strict=True):
                np.testing.assert_array_equal(got, expected, err_msg=name)
