"""Claims about what training never sees: every way into a training stream refuses it, and nothing else is refused."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from task_synthesis.held_out import (
    FIRST_HELD_OUT_VARIANT,
    HELD_OUT_BIOMES,
    HELD_OUT_BLOCKS,
    HELD_OUT_KINDS,
    TRAIN_BIOMES,
    check_trainable,
    held_out_reason,
    kinds_allowed,
    look_reason,
    unseen_reason,
)
from task_synthesis.libraries.library import load_tasks
from task_synthesis.look_mix import LookMix
from task_synthesis.playing.curriculum import AdaptiveTasks, MixedTasks, ShuffledTasks
from task_synthesis.skills import SKILLS
from task_synthesis.synthesis_config import SynthesisConfig, at_scale
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import TaskSpec, to_json_line
from tests.task_synthesis.fixtures import some_tasks
from worlds.blocks import STATES
from worlds.generate.biomes import BIOMES
from worlds.generate.terrain import generate
from worlds.spec import Look, WorldSpec, split_of

UNSEEN_LOOKS = [
    Look(textures=f"own:{FIRST_HELD_OUT_VARIANT}"),
    Look(textures="pack:" + "0" * 64),
    Look(time_ticks=18000),
    Look(time_ticks=11001),
    Look(time_ticks=999),
    Look(fog=2.0),
]


def _changed(task: TaskSpec, **fields: object) -> TaskSpec:
    return dataclasses.replace(task, task_id="", **fields)


def _in_biome(task: TaskSpec, biome: str) -> TaskSpec:
    return _changed(task, world=dataclasses.replace(task.world, biome=biome))


def _with_other(task: TaskSpec, kind: str) -> TaskSpec:
    """Return the task with one more object, which is not its target."""
    extra = dataclasses.replace(task.placements[0], kind=kind)
    return _changed(task, placements=(*task.placements, extra))


UNSEEN = {
    **{f"biome {name}": lambda task, name=name: _in_biome(task, name) for name in HELD_OUT_BIOMES},
    **{f"other {kind}": lambda task, kind=kind: _with_other(task, kind) for kind in sorted(HELD_OUT_KINDS)},
    **{f"item of {kind}": lambda task, kind=kind: _with_other(task, f"item:{kind}") for kind in HELD_OUT_BLOCKS},
    "biome of a served world": lambda task: _changed(
        task, world=dataclasses.replace(task.world, source=f"voxel:{HELD_OUT_BIOMES[0]}:64:plain")
    ),
    "other in a state": lambda task: _with_other(task, "oak_trapdoor[facing=east]"),
    **{f"look {look}": lambda task, look=look: _changed(task, look=look) for look in UNSEEN_LOOKS},
    "inventory": lambda task: _changed(task, inventory=((HELD_OUT_BLOCKS[0], 1),)),
    "inventory, an item": lambda task: _changed(task, inventory=(("bread", 1),)),
}


@pytest.mark.parametrize("unseen", UNSEEN.values(), ids=UNSEEN)
@pytest.mark.parametrize("split", ["train", "val"])
def test_no_sampler_takes_a_task_with_what_is_held_out(unseen, split):
    tasks = some_tasks(split=split)
    bad = unseen(tasks[3])
    assert unseen_reason(bad)
    for make in (
        lambda mixed: ShuffledTasks(mixed, split=split, seed=0),
        lambda mixed: MixedTasks(mixed, split=split, seed=0, shares={"near": 1.0, "easy": 1.0}),
        lambda mixed: AdaptiveTasks(mixed, split=split, seed=0),
    ):
        with pytest.raises(ValueError, match=f"task {bad.task_id} may not be in a '{split}' set"):
            make([*tasks, bad])


@pytest.mark.parametrize("unseen", UNSEEN.values(), ids=UNSEEN)
def test_a_file_of_train_tasks_with_what_is_held_out_is_refused(unseen, tmp_path):
    path = tmp_path / "tasks.jsonl"
    bad = unseen(some_tasks()[0])
    path.write_text(to_json_line(bad) + "\n")
    with pytest.raises(ValueError, match=f"{path}: task {bad.task_id} may not be in a 'train' set"):
        load_tasks(path, split="train")


def test_held_out_worlds_may_hold_everything():
    tasks = some_tasks(split="held_out")
    unseen = [make(tasks[0]) for make in UNSEEN.values()]
    ShuffledTasks(unseen, split="held_out", seed=0)
    assert all(held_out_reason(task) for task in tasks)


def test_tasks_of_training_are_not_refused():
    for split in ("train", "val"):
        assert {held_out_reason(task) for task in some_tasks(split=split)} == {None}


@given(
    variant=st.integers(0, FIRST_HELD_OUT_VARIANT - 1),
    time_ticks=st.integers(1000, 11000),
    fog=st.floats(0.25, 1.5),
    brightness=st.floats(0.5, 1.5),
)
def test_looks_of_training_are_not_refused(variant, time_ticks, fog, brightness):
    look = Look(textures=f"own:{variant}", time_ticks=time_ticks, fog=fog, brightness=brightness)
    assert look_reason(look) is None


@pytest.mark.parametrize("split", ["train", "val"])
@pytest.mark.parametrize(
    "changes",
    [
        *({"biomes": ("plains", biome)} for biome in HELD_OUT_BIOMES),
        {"kinds": "held_out"},
        {"kinds": "any"},
        *({"looks": LookMix(textures=(look.textures,))} for look in UNSEEN_LOOKS[:2]),
        {"looks": LookMix(time_ticks=(6000, 12000))},
        {"looks": LookMix(fog=(1.0, 1.6))},
    ],
    ids=str,
)
def test_no_synthesis_of_train_tasks_is_begun_with_what_is_held_out(split, changes):
    config = SynthesisConfig(**changes)
    with pytest.raises(ValueError, match=f"of split '{split}'|split '{split}' holds"):
        Synthesizer(config, split=split, seed=0, num_parallel=1)
    config.check_split("held_out")


def test_the_default_configs_are_those_of_training():
    for config in (SynthesisConfig(), at_scale()):
        assert set(config.biomes) == set(TRAIN_BIOMES) == set(BIOMES) - set(HELD_OUT_BIOMES)
        config.check_split("train")


def test_every_skill_has_kinds_on_both_sides_and_others_to_choose_from():
    for skill in SKILLS.values():
        seen, unseen = (kinds_allowed(skill.kinds, kinds) for kinds in ("train", "held_out"))
        assert len(seen) >= 4, skill.name
        assert len(unseen) >= 2, skill.name
        assert not set(seen) & set(unseen)
        assert set(seen) | set(unseen) == set(skill.kinds)


def test_every_held_out_kind_is_a_target_of_some_skill():
    assert {kind for skill in SKILLS.values() for kind in skill.kinds} >= HELD_OUT_KINDS


def test_held_out_tasks_have_only_the_kinds_and_looks_that_were_asked_for():
    looks = LookMix(textures=("own:1000", "own:1001"), time_ticks=(12000, 13000), fog=(1.6, 2.0), tint_reach=0.1)
    config = SynthesisConfig(kinds="held_out", looks=looks, biomes=HELD_OUT_BIOMES)
    tasks = Synthesizer(config, split="held_out", seed=0, num_parallel=8).run(16)
    for task in tasks:
        assert {placement.kind for placement in task.placements} <= HELD_OUT_KINDS
        assert task.world.biome in HELD_OUT_BIOMES
        assert 12000 <= task.look.time_ticks <= 13000
        assert 1.6 <= task.look.fog <= 2.0
        assert task.look.textures in looks.textures
    assert len({task.look for task in tasks}) == len(tasks)


def test_another_look_leaves_the_rest_of_a_task_as_it_is():
    plain, tinted = (
        Synthesizer(SynthesisConfig(looks=looks), split="train", seed=0, num_parallel=4).run(6)
        for looks in (LookMix(), LookMix(tint_reach=0.3))
    )
    assert [_changed(task, look=Look()) for task in tinted] == plain


def test_no_world_that_training_may_see_holds_a_held_out_block_by_itself():
    for seed, biome in enumerate(BIOMES):
        world = generate(WorldSpec(seed=seed, biome=biome, size_blocks=(64, 64, 64)))
        found = {STATES[state].kind.name for state in np.unique(world.block_XZY).tolist()}
        assert not found & set(HELD_OUT_BLOCKS), biome


def test_who_wants_to_judge_by_it_is_told_a_seed_that_is_held_out():
    bad = UNSEEN["inventory"](some_tasks()[0])
    with pytest.raises(ValueError, match=r"which a world's seed decides: \d+ is of it") as refused:
        check_trainable(bad, "train", where="tasks")
    seed = int(str(refused.value).split()[-4])
    assert split_of(bad.world.source, seed) == "held_out"
