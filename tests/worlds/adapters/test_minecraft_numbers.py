"""Claims about Minecraft's numbers that engines have a copy of: they are those of our engine."""

import pytest

from worlds.adapters.engine import EngineError
from worlds.adapters.engines.drawn_bow import DrawnBow
from worlds.adapters.engines.minecraft_bodies import BODY_BLOCKS, distance_to_body
from worlds.adapters.engines.minecraft_cells import EYE_BLOCKS, SNEAK_EYE_BLOCKS
from worlds.adapters.engines.minecraft_commands import FULL_HEALTH
from worlds.adapters.engines.minecraft_events import HAND_BLOCKS
from worlds.adapters.engines.minecraft_look import FOV_DEG, check_fov
from worlds.adapters.engines.minerl import MineRL
from worlds.adapters.engines.minestudio import MineStudio
from worlds.mobs.kinds import MOBS
from worlds.spec import Look
from worlds.types import EYE_HEIGHT_BLOCKS, SNEAK_EYE_HEIGHT_BLOCKS
from worlds.voxel.bow import bow_power
from worlds.voxel.mining import REACH_BLOCKS


def test_bodies_eyes_and_reach_are_those_of_our_engine():
    ours = {kind.name: (kind.width, kind.height) for kind in MOBS}
    assert {kind: size for kind, size in BODY_BLOCKS.items() if kind in ours} == ours
    assert set(BODY_BLOCKS) == set(FULL_HEALTH)
    assert (EYE_BLOCKS, SNEAK_EYE_BLOCKS) == (EYE_HEIGHT_BLOCKS, SNEAK_EYE_HEIGHT_BLOCKS)
    assert HAND_BLOCKS == REACH_BLOCKS


def test_a_body_is_met_on_its_near_side_or_from_within_and_never_behind():
    pig, ahead = (0.0, 0.0, 3.0), (0.0, 0.0, 1.0)
    assert distance_to_body("pig", pig, (0.0, 0.5, 0.0), ahead) == pytest.approx(2.55)
    assert distance_to_body("pig", pig, (0.0, 0.5, 3.0), ahead) == 0.0
    assert distance_to_body("pig", pig, (0.0, 0.5, 4.0), ahead) == float("inf")
    assert distance_to_body("pig", pig, (0.0, 1.0, 0.0), ahead) == float("inf")


def test_a_bow_is_as_strong_as_in_our_engine():
    for num_ticks in range(30):
        bow = DrawnBow()
        for _ in range(num_ticks):
            bow.hold(is_using=True, in_hand="bow")
        assert bow.shoot() == int(bow_power(num_ticks) * 100.0 + 0.5)


def test_the_games_field_of_view_is_that_of_a_task_that_asks_for_none():
    assert Look().fov_deg == FOV_DEG
    check_fov({"fov_deg": Look().fov_deg})


@pytest.mark.parametrize("engine", [MineRL, MineStudio])
def test_a_task_with_another_field_of_view_is_refused_before_the_game_is_asked(engine):
    without_game = engine.__new__(engine)
    with pytest.raises(EngineError, match="the game draws 70 degrees, and the task's look.fov_deg is 90; make it 70"):
        without_game.reset({"look": {"fov_deg": 90.0}})
