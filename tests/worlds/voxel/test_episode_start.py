"""Claims about how an episode begins: objects, mobs, doors, inventory, light."""

import math

import numpy as np
import pytest

from tests.worlds.voxel.test_fuzz import random_actions
from worlds.blocks import BLOCK_ID, state_of
from worlds.items import ITEM_ID
from worlds.mobs.kinds import MOB_ID
from worlds.spec import BLOCK_BITS, BLOCK_MASK, Episode, Look, Placement, WorldSpec
from worlds.types import EVENT_ITEM_PICKED, INSTANCE_FIRST_OBJECT, ActionBatch, Pose
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.state import Arrows, Drops, Mobs

WORLD = WorldSpec(seed=4, size_blocks=(32, 64, 32), detail="plain")
START = Pose(16.5, 60.0, 16.5, 0.0, 0.0)


def started(**fields) -> VoxelBackend:
    backend = VoxelBackend(1, size_blocks=WORLD.size_blocks, image_px=(16, 16))
    backend.reset([0], [Episode(world=WORLD, start=START, **fields)])
    return backend


def test_a_placed_door_stands_on_both_its_halves_and_belongs_to_one_object():
    backend = started(placements=(Placement(kind="oak_door[facing=east,open=true]", position=(5, 50, 6)),))
    lower, upper = backend.state.terrain.block_EXZY[0, 5, 6, 50:52].tolist()
    assert lower & BLOCK_MASK == state_of("oak_door[facing=east,open=true,half=lower]")
    assert upper & BLOCK_MASK == state_of("oak_door[facing=east,open=true,half=upper]")
    assert lower >> BLOCK_BITS == upper >> BLOCK_BITS == 1


def test_a_placed_mob_is_an_object_with_a_target_label_when_it_is_in_view():
    backend = started(
        placements=(Placement(kind="stone", position=(1, 1, 1)), Placement(kind="cow", position=(16, 60, 19))),
        target_index=1,
    )
    tick = backend.observe()
    assert tick.mob_EM6[0, 0].tolist()[:3] == [MOB_ID["cow"], 2, 16.5]
    assert tick.target_E7[0, 0] > 0.05
    assert (tick.instance_EHW[0] == 3).mean() == pytest.approx(tick.target_E7[0, 0])


def test_a_placed_item_is_an_object_and_picking_it_up_says_which():
    near, far = (Placement(kind="item:apple", position=position) for position in ((16, 60, 17), (1, 9, 1)))
    backend = started(placements=(near, far))
    seen = []
    for _ in range(15):
        seen += [row.tolist() for row in backend.step(ActionBatch.noop(1)).event_EN4[0] if row[0] == EVENT_ITEM_PICKED]
    assert seen == [[EVENT_ITEM_PICKED, ITEM_ID["apple"], 1, 1]]


def test_the_inventory_lies_in_its_slots():
    hands = started(inventory=(("bow", 1), ("", 0), ("arrow", 64))).state.hands
    assert hands.item_ES[0, :4].tolist() == [ITEM_ID["bow"], -1, ITEM_ID["arrow"], -1]
    assert hands.count_ES[0, :3].tolist() == [1, 0, 64]


def test_nothing_of_the_episode_before_is_left():
    backend = started(
        placements=(Placement(kind="zombie", position=(16, 60, 18)),), inventory=(("bow", 1),), num_ambient_mobs=4
    )
    rng = np.random.default_rng(0)
    for _ in range(10):
        backend.step(random_actions(1, rng), num_ticks=4)
    backend.reset([0], [Episode(world=WORLD, start=START)])
    for group, fresh_group in zip(backend.state, started().state, strict=True):
        for name in group._fields:
            # A row without a mob, an arrow or an item keeps what the last one had, and no button the one before.
            is_read = not isinstance(group, (Mobs, Arrows, Drops)) and name != "button_state_E"
            if is_read or name in ("kind_EM", "life_ticks_EA", "item_ED"):
                assert np.array_equal(getattr(group, name), getattr(fresh_group, name)), name


def test_ambient_mobs_follow_the_seed_and_the_mix():
    kinds = [
        started(num_ambient_mobs=6, seed=seed, mob_mix=(("pig", 1.0),)).state.mobs for seed in (1, 1, 2)
    ]  # fmt: skip
    assert set(kinds[0].kind_EM[0].tolist()) <= {MOB_ID["pig"], -1}
    assert np.array_equal(kinds[0].position_EM3, kinds[1].position_EM3)
    assert not np.array_equal(kinds[0].position_EM3, kinds[2].position_EM3)


def test_a_mix_of_what_is_no_mob_is_refused_with_the_mobs_there_are():
    with pytest.raises(ValueError, match=r"episode.mob_mix: 'pigg' is no mob; take one of .*pig"):
        started(num_ambient_mobs=1, mob_mix=(("pigg", 1.0),))


@pytest.mark.parametrize("weight", [0.0, -1.0, math.nan, math.inf])
def test_a_mix_needs_weights_that_can_be_drawn_by(weight):
    with pytest.raises(ValueError, match="the weight of pig must be positive and finite"):
        Episode(world=WORLD, start=START, mob_mix=(("pig", weight),))


def test_night_is_darker_than_day_and_a_torch_is_not():
    torch = (Placement(kind="torch", position=(16, 61, 17)),)
    day, night = (started(placements=torch, look=Look(time_ticks=ticks)) for ticks in (6000, 18000))
    by_day, by_night = day.observe(), night.observe()
    assert by_day.image_EHWC.mean() > 2.0 * by_night.image_EHWC.mean()
    is_torch_EHW = by_day.instance_EHW == INSTANCE_FIRST_OBJECT
    assert is_torch_EHW.any()
    assert by_night.image_EHWC[is_torch_EHW].mean() > 0.8 * by_day.image_EHWC[is_torch_EHW].mean()
    assert day.state.terrain.field_EXZY.max() >> 4 == 15
    assert night.state.terrain.field_EXZY.max() >> 4 == 4


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"placements": (Placement(kind="cheese", position=(1, 1, 1)),)}, "cheese"),
        ({"placements": (Placement(kind="stone", position=(1, 64, 1)),)}, "outside the world"),
        ({"placements": (Placement(kind="item:spoon", position=(1, 9, 1)),)}, "no item of this engine"),
        ({"inventory": (("spoon", 1),)}, "no item of this engine"),
        ({"inventory": (("bow", 2),)}, "holds 2 bow; 1 fits"),
        ({"look": Look(textures="pack:unknown")}, "load the resource pack"),
    ],
)
def test_an_impossible_episode_is_refused_in_one_sentence(fields, sentence):
    with pytest.raises(ValueError, match=sentence):
        started(**fields)


def test_air_stays_air_where_nothing_was_placed():
    backend = started()
    assert backend.state.terrain.block_EXZY[0, 16, 16, 62] == BLOCK_ID["air"]
