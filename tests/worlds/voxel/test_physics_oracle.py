"""Our bodies go where the npm package prismarine-physics, an independent engine, says that Minecraft 1.16.5 puts them.

tests/golden/physics/make_trajectories.mjs makes the golden file: 50 scripts of 100 ticks over 20 terrains. Where the
package departs from the game, it says from which tick on, and the positions are those of the package with that rule
corrected; the corrections are listed with reasons in that file, the scripts they touch are listed here.
"""

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worlds.blocks import build_block_tables, state_of
from worlds.voxel.motion import move_agent
from worlds.voxel.state import EnvState, empty_state

GOLDEN = Path(__file__).parents[2] / "golden" / "physics"
SIZE, FLOOR_Y = 32, 20
MAX_ERROR_BLOCKS = 1e-3

# What the package does otherwise than Minecraft 1.16.5, and the tick of each script in which it first shows. The other
# 29 scripts are the package as published for all their ticks; these are so up to that tick, and are corrected after it.
REASONS = {
    "corners": "always goes along x before z, the game along the longer of them first; and in 1.16.5 a body that is "
    "stopped along both keeps its speed along x",
    "steps": "tries the way up over the free part of the move only, not over all of it",
    "edges": "lets a sneaking body stand over any cell that holds a block at all, and jump over an edge",
    "fluids": "has the smaller body of 1.12 and no surface: is in water and in lava up to 0.4 blocks too late",
    "blocks underfoot": "looks for soul sand in the cell below that of the feet, so that it slows a jumper, too; "
    "slime does not slow anyone",
}
DEPARTURES: dict[str, tuple[int, tuple[str, ...]]] = {
    "hills-0": (37, ("corners",)),
    "hills-2": (80, ("corners",)),
    "hills-3": (61, ("corners",)),
    "slabs-3": (
        23,
        (
            "corners",
            "steps",
        ),
    ),
    "stairs-3": (89, ("corners",)),
    "fences-2": (64, ("corners",)),
    "ceiling-0": (44, ("corners",)),
    "ceiling-1": (
        9,
        (
            "corners",
            "steps",
        ),
    ),
    "ceiling-2": (
        13,
        (
            "corners",
            "steps",
        ),
    ),
    "ice-2": (33, ("corners",)),
    "soul_sand-1": (60, ("blocks underfoot",)),
    "deep_water-0": (27, ("corners",)),
    "deep_water-1": (23, ("corners",)),
    "pond-0": (14, ("fluids",)),
    "pond-1": (12, ("fluids",)),
    "shallows-0": (8, ("fluids",)),
    "shallows-1": (23, ("fluids",)),
    "ladders-1": (67, ("edges",)),
    "lava-0": (14, ("fluids",)),
    "furniture-0": (32, ("corners",)),
    "furniture-1": (19, ("corners",)),
}

Script = dict[str, Any]


@functools.cache
def scripts() -> dict[str, Script]:
    return {script["name"]: script for script in json.loads((GOLDEN / "trajectories.json").read_text())}


@functools.cache
def terrain(name: str) -> np.ndarray:
    block_XZY = np.zeros((SIZE, SIZE, 64), np.uint16)
    block_XZY[:, :, :FLOOR_Y] = state_of("stone")
    for state, x0, y0, z0, x1, y1, z1, *stride in json.loads((GOLDEN / "terrains.json").read_text())[name]:
        stride_x, stride_z = stride or (1, 1)
        block_XZY[x0 : x1 + 1 : stride_x, z0 : z1 + 1 : stride_z, y0 : y1 + 1] = state_of(state)
    return block_XZY


def start_of(script: Script) -> EnvState:
    state = empty_state(1, (SIZE, 64, SIZE))
    state.terrain.block_EXZY[0] = terrain(script["terrain"])
    state.bodies.position_E3[0] = script["start"]
    return state


def errors_of(script: Script) -> np.ndarray:
    """Replay a script; return float64 [T], the longest distance along an axis from the golden position."""
    state = start_of(script)
    errors = []
    for keys, yaw_deg, golden in zip(script["keys"], script["yaws"], script["positions"], strict=True):
        forward, back, left, right, jump, sneak, sprint = (bool(keys >> bit & 1) for bit in range(7))
        state.bodies.yaw_deg_E[0] = yaw_deg
        move_agent(
            0, state.terrain, state.bodies, build_block_tables(), forward - back, left - right, jump, sneak, sprint
        )
        apart = state.bodies.position_E3[0] - golden
        apart[[0, 2]] -= np.round(apart[[0, 2]] / SIZE) * SIZE
        errors.append(np.abs(apart).max())
    return np.array(errors)


@pytest.mark.parametrize("name", list(scripts()))
def test_a_script_of_keys_leads_where_the_oracle_says(name):
    error_T = errors_of(scripts()[name])
    assert error_T.max() <= MAX_ERROR_BLOCKS, f"tick {np.argmax(error_T > MAX_ERROR_BLOCKS)}"


def test_scripts_where_the_package_departs_from_the_game_are_the_listed_ones():
    departures = {
        name: (script["published_until"], tuple(script["topics"]))
        for name, script in scripts().items()
        if "topics" in script
    }
    assert departures == DEPARTURES
    assert {topic for _, topics in DEPARTURES.values() for topic in topics} == set(REASONS)


def test_there_are_fifty_scripts_of_a_hundred_ticks_that_use_every_key():
    assert len(scripts()) == 50
    assert all(len(script["keys"]) == len(script["positions"]) == 100 for script in scripts().values())
    used = np.bitwise_or.reduce([keys for script in scripts().values() for keys in script["keys"]])
    assert used == 2**7 - 1
