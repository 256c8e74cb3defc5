"""Claims about the JSON line of a task: exact, strict, and clear about what is wrong."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from task_synthesis.libraries.library import load_tasks
from task_synthesis.playing.task_env import TaskEnv
from task_synthesis.task import from_json_line, to_json_line
from tests.task_synthesis.fixtures import some_tasks
from worlds.adapters.catalogue import ENGINES
from worlds.spec import MAX_SEED, SPLITS, Look, split_of
from worlds.types import Pose
from worlds.voxel.backend import VoxelBackend


def line_with(change) -> str:
    fields = json.loads(to_json_line(some_tasks()[0]))
    del fields["task_id"]
    change(fields)
    return json.dumps(fields)


def test_a_line_gives_the_same_task_back():
    for task in some_tasks():
        assert from_json_line(to_json_line(task)) == task


def test_regenerating_from_the_line_gives_byte_equal_start_frame_goal_and_mask():
    pictures = []
    for tasks in (some_tasks(), [from_json_line(to_json_line(task)) for task in some_tasks()]):
        backend = VoxelBackend(1, size_blocks=(64, 64, 64), image_px=(64, 64))
        for task in tasks[:4]:
            observation = TaskEnv(backend, lambda _, task=task: task).reset()
            goal = observation.goals[0]
            pictures.append((observation.image_EHWC.tobytes(), goal.image_HWC.tobytes(), goal.mask_HW.tobytes()))
    assert pictures[:4] == pictures[4:]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda f: f.pop("band"), "task.band is missing"),
        (lambda f: f.update(band="far"), "task.band: 'far' is unknown"),
        (lambda f: f.update(extra=1), "task.extra is not a field"),
        (lambda f: f.update(max_ticks="long"), "task.max_ticks must be int"),
        (lambda f: f.update(max_ticks=True), "task.max_ticks must be int"),
        (lambda f: f.update(start=[1, 2]), "task.start must be five numbers"),
        (lambda f: f.update(start=[math.nan, 27, 1, 0, 0]), "task.start must be five numbers"),
        (lambda f: f.update(start=[1, 1e9, 1, 0, 0]), "task.start: 1e+09 is far outside of any world"),
        (lambda f: f.update(start=[1, 500, 1, 0, 0]), "task.start: y 500 is not in its world, 0 to 64"),
        (lambda f: f["look"].update(fov_deg=math.inf), "task.look.fov_deg must be a finite float"),
        (lambda f: f["look"].update(fov_deg=10**400), "task.look.fov_deg must be a finite float"),
        (lambda f: f.update(family="paint/gold_block"), "skill 'paint' is unknown"),
        (lambda f: f["world"].update(seed=-5), "world.seed must be in"),
        (lambda f: f["world"].update(biome="moon"), "biome: 'moon' is unknown"),
        (lambda f: f.update(inventory=[["spoon", 1]]), "'spoon' is no item"),
        (lambda f: f.update(inventory=[["bow"]]), "must be a list of [item, count]"),
        (lambda f: f.update(inventory=[["", 0], ["dirt", 65]]), "inventory[1]: 65 dirt are no stack, 64 at most"),
        (lambda f: f.update(inventory=[["bow", 0]]), "inventory[0]: 0 bow are no stack, 1 at most"),
        (lambda f: f.update(inventory=[["dirt", 1]] * 37), "inventory holds 37 slots, there are 36"),
        (lambda f: f.update(placements=f["placements"] * 15), "objects, at most 14 fit"),
        (lambda f: f["placements"][0].update(position=[3, 30, 64]), "placements[0]: [3, 30, 64] is not in its world"),
        (lambda f: f["world"].update(detail="lush"), "detail must be one of 'plain', 'full'"),
        (lambda f: f.update(target_index=99), "target_index 99 names none"),
        (lambda f: f.update(task_id="0" * 16), "does not match its content"),
        (lambda f: f["placements"][0].update(position=[0, 1]), "must be three integers"),
    ],
)
def test_a_wrong_field_is_named_in_one_sentence(change, sentence):
    with pytest.raises(ValueError, match="here: ") as caught:
        from_json_line(line_with(change), where="here")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_not_json_is_refused():
    for line in ("{", "[" * 200_000, '{"max_ticks": ' + "9" * 5000 + "}"):
        with pytest.raises(ValueError, match="tasks.jsonl:3: not a line of JSON"):
            from_json_line(line, where="tasks.jsonl:3")


@given(seed=st.integers(0, MAX_SEED))
@settings(max_examples=300, deadline=None)
def test_every_world_is_in_exactly_one_split_and_stays_there(seed):
    assert split_of("generated", seed) in SPLITS
    assert split_of("generated", seed) == split_of("generated", seed)


def test_a_world_of_ours_is_in_one_split_whichever_engine_serves_it():
    source = ENGINES["voxel-process"].source
    assert all(split_of(source, seed) == split_of("generated", seed) for seed in range(200))
    assert any(split_of("luanti:v7", seed) != split_of("generated", seed) for seed in range(200))


@pytest.mark.parametrize(("source", "num_worlds"), [("vizdoom:freedoom2", 32), ("vizdoom:my_way_home", 1)])
def test_no_world_is_in_two_splits_under_two_seeds(source, num_worlds):
    of_seed = {seed: line_with(lambda f, s=seed: f["world"].update(source=source, seed=s)) for seed in range(100)}
    for seed in range(num_worlds):
        assert from_json_line(of_seed[seed]).split == split_of(source, seed)
    for seed in range(num_worlds, 100):
        with pytest.raises(ValueError, match=f"{source} have seeds below {num_worlds}, {seed} is another name"):
            from_json_line(of_seed[seed])


def test_splits_have_their_shares():
    shares = [split_of("generated", seed) for seed in range(20_000)]
    assert shares.count("train") == pytest.approx(16_000, rel=0.02)
    assert shares.count("held_out") == pytest.approx(2_000, rel=0.1)


def test_a_library_is_read_back_and_refuses_another_split(tmp_path):
    tasks = some_tasks()
    (tmp_path / "tasks.jsonl").write_text("".join(to_json_line(task) + "\n" for task in tasks))
    assert load_tasks(tmp_path, split="train") == tasks
    with pytest.raises(ValueError, match="is in split 'train', but this is a 'held_out' set"):
        load_tasks(tmp_path, split="held_out")


def test_a_repeated_task_is_refused(tmp_path):
    line = to_json_line(some_tasks()[0]) + "\n"
    (tmp_path / "tasks.jsonl").write_text(line * 2)
    with pytest.raises(ValueError, match="occurs more than once"):
        load_tasks(tmp_path, split="train")


def test_a_binary_file_is_refused(tmp_path):
    (tmp_path / "tasks.jsonl").write_bytes(np.random.default_rng(0).bytes(100) + b"\xff")
    with pytest.raises(ValueError, match="not a text file|not a line of JSON"):
        load_tasks(tmp_path, split="train")


@pytest.mark.parametrize(
    "fields",
    [{"goal_view": Pose(12, 40, 3, 90, 0)}, {"look": Look(fog=2, fov_deg=60)}, {"look": Look(tint=(1, 0.5, 1))}],
    ids=str,
)
def test_whole_numbers_are_the_numbers_that_their_line_is_read_as(fields):
    task = dataclasses.replace(some_tasks()[0], task_id="", **fields)
    assert from_json_line(to_json_line(task)) == task
    hard = dataclasses.replace(task.difficulty, distance_blocks=12, view_overlap=0)
    task = dataclasses.replace(task, task_id="", difficulty=hard)
    assert from_json_line(to_json_line(task)) == task
