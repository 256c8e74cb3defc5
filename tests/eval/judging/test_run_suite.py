import dataclasses
import json
import shutil
from pathlib import Path

import numba
import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eval.episodes.action_archive import read_unit, unit_file
from eval.episodes.records import read_jsonl
from eval.episodes.replay import Played, difference, replay
from eval.judging.evaluation_plan import EvaluationPlan, claim_folder, make_way
from eval.judging.run_suite import EPISODES_FILE, run_suite
from eval.judging.suite_row import SuiteRow
from eval.judging.suite_rows import suite_rows
from eval.judging.unit import play_unit
from eval.judging.unit_files import part_file
from tests.eval.suite_fixtures import CONFIG, UNIT_TASKS, make_plan, make_tasks, save_checkpoint, simple_row

NUM_TASKS = 10
NUM_UNITS = 3  # of a row: 4, 4 and 2 tasks


@pytest.fixture(scope="module")
def tasks():
    return make_tasks("held_out", NUM_TASKS)


@pytest.fixture(scope="module")
def plan(tasks) -> EvaluationPlan:
    """Two rows that are quick to play."""
    return make_plan(tasks, [simple_row("random", "random"), simple_row("no op")])


@pytest.fixture(scope="module")
def finished(plan, tmp_path_factory):
    out_dir = tmp_path_factory.mktemp("finished")
    run_suite(plan, out_dir, split="held_out", num_workers=1)
    return out_dir


def _run(plan, out_dir, num_workers=1):
    run_suite(plan, out_dir, split="held_out", num_workers=num_workers)
    return (out_dir / EPISODES_FILE).read_bytes()


def test_the_identity_of_a_row_in_another_engine_survives_json():
    config = dataclasses.replace(CONFIG, env=dataclasses.replace(CONFIG.env, backend="video", engine_options=("a=1",)))
    row = dataclasses.replace(simple_row("noop"), config=config)
    assert json.loads(json.dumps(row.identity())) == row.identity()


def test_every_row_plays_every_task_once_and_in_order(plan, tasks, finished):
    episodes = read_jsonl(finished / EPISODES_FILE)
    ids = [task.task_id for task in tasks]
    assert [(e.row, e.task_id) for e in episodes] == [(row, i) for row in ("random", "no op") for i in ids]
    assert [e.unit for e in episodes[:NUM_TASKS]] == [0] * 4 + [1] * 4 + [2] * 2
    assert {e.suite for e in episodes} == {"tiny.v1"}


@pytest.mark.slow
def test_the_table_is_the_same_at_one_and_two_workers_and_on_a_rerun(tasks, tmp_path):
    folder = save_checkpoint(tmp_path / "checkpoint")
    rows = suite_rows({"imitation": (folder, CONFIG)}, main_row="imitation")[1:]
    plan = dataclasses.replace(make_plan(tasks[:4], rows), unit_tasks=2)
    first = _run(plan, tmp_path / "one")
    assert _run(plan, tmp_path / "two", num_workers=2) == first
    assert _run(plan, tmp_path / "one") == first
    assert {e.row for e in read_jsonl(tmp_path / "one" / EPISODES_FILE)} == {row.name for row in rows}
    for row in rows:
        for unit in range(2):
            one, two = (unit_file(tmp_path / name, row.name, unit).read_bytes() for name in ("one", "two"))
            assert one == two


def test_doing_nothing_ends_at_the_time_limit_where_it_began(finished, tasks):
    for episode, task in zip(read_jsonl(finished / EPISODES_FILE)[NUM_TASKS:], tasks, strict=True):
        assert (episode.outcome, episode.success, episode.cause) == ("time_limit", False, "stuck")
        assert episode.walked_blocks == pytest.approx(0.0, abs=0.2)
        assert episode.closest_blocks >= task.difficulty.distance_blocks - 0.2
        assert (episode.first_seen_ticks == 0) == task.difficulty.visible_at_start
        assert episode.last_seen_ticks == (episode.ticks if task.difficulty.visible_at_start else None)


def test_the_actions_kept_are_those_of_every_decision(finished, plan):
    episodes = {(e.row, e.task_id): e for e in read_jsonl(finished / EPISODES_FILE)}
    for row in plan.rows:
        for unit in range(NUM_UNITS):
            for task_id, actions in read_unit(unit_file(finished, row.name, unit)).items():
                assert len(actions.buttons_DB) * actions.ticks_per_decision == episodes[row.name, task_id].ticks


def test_the_actions_kept_lead_where_the_episode_led(finished, tasks):
    episodes = [episode for episode in read_jsonl(finished / EPISODES_FILE) if episode.row == "random"]
    kept = {}
    for unit in range(NUM_UNITS):
        kept |= read_unit(unit_file(finished, "random", unit))
    played = replay([Played(task, kept[task.task_id]) for task in tasks], image_px=16, with_every_image=False)
    for seen, episode in zip(played, episodes, strict=True):
        assert difference(seen, episode) is None
        step_T2 = np.diff(seen.place_T2, axis=0)
        step_T2 -= 32 * np.round(step_T2 / 32)  # their worlds are 32 blocks round
        assert np.hypot(*step_T2.T).sum() == pytest.approx(episode.walked_blocks, abs=0.02)
    assert sum(episode.walked_blocks > 1 for episode in episodes) > NUM_TASKS / 2


_DAMAGES = ("missing", "cut", "flipped", "no actions", "cut actions")


def _damage(out_dir, row, unit, damage):
    path = part_file(out_dir, row.file_stem, unit)
    actions = unit_file(out_dir, row.name, unit)
    if damage == "missing":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif damage == "flipped":
        path.write_text(path.read_text().replace('"outcome":"time_limit"', '"outcome":"success"', 1) + " ")
    elif damage == "no actions":
        actions.unlink()
    else:
        actions.write_bytes(actions.read_bytes()[:-7])


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    damages=st.dictionaries(
        st.tuples(st.integers(0, 1), st.integers(0, NUM_UNITS - 1)), st.sampled_from(_DAMAGES), min_size=1
    )
)
def test_missing_and_damaged_parts_are_made_again_and_others_are_not(plan, finished, tmp_path_factory, damages):
    out_dir = tmp_path_factory.mktemp("damaged") / "out"
    shutil.copytree(finished, out_dir)
    (out_dir / EPISODES_FILE).unlink()
    kept = {}
    for index, row in enumerate(plan.rows):
        for unit in range(NUM_UNITS):
            if (index, unit) in damages:
                _damage(out_dir, row, unit, damages[index, unit])
            else:
                path = part_file(out_dir, row.file_stem, unit)
                kept[path] = path.stat().st_mtime_ns
    heard = []
    run_suite(plan, out_dir, split="held_out", num_workers=1, on_progress=heard.append)
    assert (out_dir / EPISODES_FILE).read_bytes() == (finished / EPISODES_FILE).read_bytes()
    assert all(path.stat().st_mtime_ns == time_ns for path, time_ns in kept.items())
    num_lost = sum(2 if unit == NUM_UNITS - 1 else UNIT_TASKS for _, unit in damages)
    assert (heard[0], heard[-1]) == (2 * NUM_TASKS - num_lost, 2 * NUM_TASKS)


def test_a_row_can_be_added_to_a_finished_folder(plan, finished, tmp_path):
    out_dir = tmp_path / "out"
    shutil.copytree(finished, out_dir)
    more = dataclasses.replace(plan, rows=(*plan.rows, simple_row("again")))
    heard = []
    judged = run_suite(more, out_dir, split="held_out", num_workers=1, on_progress=heard.append)
    assert heard[0] == 2 * NUM_TASKS
    assert [e.outcome for e in judged["again"].episodes] == [e.outcome for e in judged["no op"].episodes]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"seed": 1}, "was begun with seed 0, now it is 1; choose another --out"),
        ({"suite": "other.v1"}, "was begun with suite tiny.v1, now it is other.v1"),
        ({"suite": ""}, "was begun with suite tiny.v1, now it is none"),
        ({"rows": (simple_row("random", "noop"),)}, "row 'random' was begun with agent random, now it is noop; choose"),
    ],
)
def test_another_plan_is_refused_and_nothing_is_touched(plan, finished, change, expected):
    before = {path: path.read_bytes() for path in finished.rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match=expected):
        run_suite(dataclasses.replace(plan, **change), finished, split="held_out", num_workers=1)
    assert {path: path.read_bytes() for path in finished.rglob("*") if path.is_file()} == before


def test_an_older_evaluation_makes_way_only_where_it_differs(plan, finished, tmp_path):
    out_dir = tmp_path / "out"
    shutil.copytree(finished, out_dir)
    make_way(plan, out_dir)
    assert part_file(out_dir, "random", 0).exists()
    other = dataclasses.replace(plan, seed=1)
    make_way(other, out_dir)
    assert not part_file(out_dir, "random", 0).exists()
    assert not unit_file(out_dir, "random", 0).exists()
    assert (out_dir / EPISODES_FILE).exists()
    run_suite(other, out_dir, split="held_out", num_workers=1)


def test_tasks_of_another_save_are_another_plan(plan, finished):
    other = dataclasses.replace(plan, tasks=plan.tasks[::-1], save=finished)
    with pytest.raises(ValueError, match="begun with other tasks, of another save or .*; choose another --out, or del"):
        run_suite(other, finished, split="held_out", num_workers=1)
    with pytest.raises(ValueError, match="begun with seed 0, now it is 1"):
        run_suite(dataclasses.replace(other, seed=1), finished, split="held_out", num_workers=1)


def test_fewer_tasks_are_another_plan(plan, finished):
    fewer = dataclasses.replace(plan, tasks=plan.tasks[:5])
    with pytest.raises(ValueError, match="num_tasks 10, now it is 5"):
        run_suite(fewer, finished, split="held_out", num_workers=1)


@pytest.mark.parametrize(
    "content", ['{"common": 3}', '{"common": {}, "rows": {"random": 3}}', "[]", '{"common": {', "\u00e9"]
)
def test_a_foreign_or_broken_plan_file_is_refused(plan, tmp_path, content):
    (tmp_path / "plan.json").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match="not the plan of an evaluation"):
        run_suite(plan, tmp_path, split="held_out", num_workers=1)


def test_other_weights_under_the_same_name_are_another_plan(tasks, tmp_path):
    rows = [
        suite_rows(
            {"rl": (save_checkpoint(tmp_path / str(seed), seed=seed), CONFIG)}, main_row="rl"
        )[1]
        for seed in (0, 1)
    ]  # fmt: skip
    run_suite(make_plan(tasks[:2], rows[:1]), tmp_path / "out", split="held_out", num_workers=1)
    with pytest.raises(ValueError, match="row 'rl' was begun with other weights, of another checkpoint or of th"):
        run_suite(make_plan(tasks[:2], rows[1:]), tmp_path / "out", split="held_out", num_workers=1)


def _rows_of(preset, image_px, weights):
    env = dataclasses.replace(CONFIG.env, image_px=image_px)
    config = dataclasses.replace(CONFIG, preset=preset, env=env)
    policy = {"checkpoint": Path("somewhere"), "weights_sha256": weights, "config": config}
    return [
        dataclasses.replace(simple_row("random", "random"), config=config),
        SuiteRow(name="rl", agent="policy", source="", **policy),
    ]


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (("keen", 96, "b"), "row 'rl' was begun with another policy, of preset small, now it is keen; choose another"),
        (("small", 64, "b"), "row 'rl' was begun with other weights, of another checkpoint or of this one before it"),
        (("small", 96, "a"), "row 'random' was begun with env.image_px 64, now it is 96; choose another --out"),
    ],
)
def test_who_judges_something_else_in_a_folder_is_told_what_differs(tasks, tmp_path, other, expected):
    claim_folder(make_plan(tasks, _rows_of("small", 64, "a")), tmp_path)
    with pytest.raises(ValueError, match=expected):
        claim_folder(make_plan(tasks, _rows_of(*other)), tmp_path)


def test_train_worlds_are_refused(tmp_path):
    plan = make_plan(make_tasks("train", 2), [simple_row("a")])
    with pytest.raises(ValueError, match=r"split 'train', but this is a 'held_out' set"):
        run_suite(plan, tmp_path, split="held_out", num_workers=1)


def test_a_task_that_occurs_twice_is_refused(tasks, tmp_path):
    plan = make_plan([*tasks[:2], tasks[0]], [simple_row("a")])
    with pytest.raises(ValueError, match="a task occurs more than once, so its episodes cannot be told apart"):
        run_suite(plan, tmp_path, split="held_out", num_workers=1)


def test_worlds_of_two_sizes_are_refused(tasks, tmp_path):
    world = dataclasses.replace(tasks[1].world, size_blocks=(64, 64, 64))
    wide = dataclasses.replace(tasks[1], world=world, task_id="")
    with pytest.raises(ValueError, match=r"worlds of sizes \[\(32, 64, 32\), \(64, 64, 64\)\]; judge tasks of one"):
        run_suite(make_plan([tasks[0], wide], [simple_row("a")]), tmp_path, split="held_out", num_workers=1)


@pytest.mark.parametrize("names", [("a", "a"), ("a b", "a_b")])
def test_rows_whose_files_would_be_the_same_are_refused(tasks, tmp_path, names):
    plan = make_plan(tasks, [simple_row(name) for name in names])
    with pytest.raises(ValueError, match="two rows have the name"):
        run_suite(plan, tmp_path, split="held_out", num_workers=1)


def test_rows_whose_files_differ_are_played_whatever_their_names_hold(tasks, tmp_path):
    rows = [simple_row("step 1"), simple_row("step 1.0000 of 2"), simple_row("step 1.00001")]
    assert len(run_suite(make_plan(tasks[:1], rows), tmp_path, split="held_out", num_workers=1)) == 3


def test_the_plan_says_what_decides_a_row(finished):
    rows = json.loads((finished / "plan.json").read_text())["rows"]
    assert rows["random"]["agent"] == "random"
    assert rows["random"]["env"]["image_px"] == 32


def test_a_unit_plays_on_one_thread_and_leaves_the_threads_as_they_were(plan):
    heard = []
    numba_threads = numba.get_num_threads()
    torch.set_num_threads(2)
    try:
        play_unit(plan.units()[0], lambda num_over: heard.append((num_over, torch.get_num_threads())))
        assert (torch.get_num_threads(), numba.get_num_threads()) == (2, numba_threads)
    finally:
        torch.set_num_threads(1)
    assert heard[-1] == (UNIT_TASKS, 1)
