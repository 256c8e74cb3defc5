"""Claims about demonstrations on disk: exact, in LeRobot's layout, and refused in one sentence when they are not."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcrl.cli import main
from mcrl.commands.demos import demos_command
from mcrl.config import PPOConfig
from mcrl.demos.episode import Episode, episodes_of, fragments_of
from mcrl.demos.lerobot_columns import features as columns_of
from mcrl.learning.demonstrations import collect_demonstrations
from mcrl.metrics import read_metrics
from mcrl.seeding import derive_seed
from mcrl.train import train
from policies import action_codec
from task_synthesis.curriculum import ShuffledTasks
from task_synthesis.goal import CrossViewGoal
from task_synthesis.interaction import Interaction
from tests.mcrl.corridor import CorridorEnv, CorridorExpert, make_task
from tests.mcrl.corridor_policy import CORRIDOR, CorridorPolicy
from tests.mcrl.test_train import make_config

_ARRAYS = [field.name for field in dataclasses.fields(Episode) if "_T" in field.name]


def recorded(num_steps=120, noise=0.3):
    source = ShuffledTasks([make_task(index) for index in range(4)], split="train", seed=0)
    return collect_demonstrations(
        CorridorEnv(source, 4, fault_at_step=7),
        CorridorExpert(),
        CorridorPolicy(),
        num_steps=num_steps,
        fragment_steps=10,
        noise=noise,
        seed=0,
    )


def same_goal(one, two):
    same_mask = np.array_equal(one.mask_HW, two.mask_HW)
    return np.array_equal(one.image_HWC, two.image_HWC) and same_mask and one.interaction == two.interaction


def assert_same(one, two):
    assert (one.task_id, one.family) == (two.task_id, two.family)
    assert same_goal(one.goal, two.goal)
    for name in _ARRAYS:
        left, right = getattr(one, name), getattr(two, name)
        assert left.dtype == right.dtype, name
        assert np.array_equal(left, right), name


def made_episode(num_steps, seed=0, image_px=16):
    rng = np.random.default_rng(seed)
    actions = np.stack([rng.integers(size, size=num_steps) for size in action_codec.FACTOR_SIZES], 1).astype(np.uint8)
    ends_T = np.arange(num_steps) == num_steps - 1
    return Episode(
        task_id=f"task{seed}",
        family=("approach/gold_block", "hunt/cow")[seed % 2],
        goal=CrossViewGoal(
            rng.integers(256, size=(image_px, image_px, 3), dtype=np.uint8),
            rng.random((image_px, image_px)) < 0.2,
            Interaction.HUNT,
        ),
        image_THWC=rng.integers(256, size=(num_steps, image_px, image_px, 3), dtype=np.uint8),
        action_TA=actions,
        expert_action_TA=actions[::-1].copy(),
        target_T7=rng.random((num_steps, 7)).astype(np.float32),
        reward_T=rng.normal(size=num_steps).astype(np.float32),
        terminated_T=ends_T & bool(seed % 3),
        truncated_T=ends_T & (seed % 3 == 0),
        is_valid_T=rng.random(num_steps) < 0.9,
        outcome_T=rng.integers(3, size=num_steps),
    )


def test_fragments_taken_apart_come_together_as_they_were():
    before = sorted(recorded(), key=lambda f: (f.env_index, f.sequence))
    after = fragments_of(list(episodes_of(before)), fragment_steps=10, memory=before[0].memory)
    assert len(before) == len(after)
    for one, two in zip(before, after, strict=True):
        for name in (*_ARRAYS, "first_T", "goal_index_T", "log_prob_T", "value_T", "bootstrap_value_T"):
            assert np.array_equal(getattr(one, name), getattr(two, name)), name
        counts = ~one.first_T
        assert np.array_equal(one.previous_action_TA[counts], two.previous_action_TA[counts])
        assert (one.task_ids, one.families) == (two.task_ids, two.families)
        assert all(same_goal(*pair) for pair in zip(one.goals, two.goals, strict=True))


@settings(max_examples=40, deadline=None)
@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=6), fragment_steps=st.integers(1, 12))
def test_every_step_of_every_episode_is_in_exactly_one_fragment(lengths, fragment_steps):
    episodes = [made_episode(length, seed) for seed, length in enumerate(lengths)]
    fragments = fragments_of(episodes, fragment_steps=fragment_steps, memory={})
    assert all(fragment.num_steps == fragment_steps for fragment in fragments)
    image_SHWC = np.concatenate([fragment.image_THWC for fragment in fragments])
    assert np.array_equal(image_SHWC[: sum(lengths)], np.concatenate([episode.image_THWC for episode in episodes]))
    valid_S = np.concatenate([fragment.is_valid_T for fragment in fragments])
    assert np.array_equal(valid_S[: sum(lengths)], np.concatenate([episode.is_valid_T for episode in episodes]))
    assert not valid_S[sum(lengths) :].any()
    first_S = np.concatenate([fragment.first_T for fragment in fragments])
    assert np.flatnonzero(first_S[: sum(lengths)]).tolist() == np.cumsum([0, *lengths[:-1]]).tolist()
    names = [f.task_ids[index] for f in fragments for index in f.goal_index_T]
    assert names[: sum(lengths)] == [episode.task_id for episode in episodes for _ in range(episode.num_steps)]


# --------------------------------------------------------------------------------------------------------- on disk


@pytest.fixture
def lerobot():
    """The writer and the reader, where their libraries are."""
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'mcrl[data]'")
    from mcrl.demos import lerobot_reader, lerobot_writer

    return lerobot_writer, lerobot_reader


def written(lerobot, folder, episodes=None, **options):
    episodes = episodes or [made_episode(5, 0), made_episode(1, 1), made_episode(7, 2)]
    lerobot[0].write_dataset(folder, episodes, **({"split": "train", "action_repeat_ticks": 4} | options))
    return episodes


def test_what_is_written_is_read_back_to_the_bit(lerobot, tmp_path):
    episodes = written(lerobot, tmp_path / "demos", list(episodes_of(recorded())))
    read = lerobot[1].read_dataset(tmp_path / "demos")
    about = read.about
    assert (about.split, about.action_repeat_ticks, about.image_px, about.num_steps) == ("train", 4, 16, 120)
    for one, two in zip(episodes, read.episodes, strict=True):
        assert_same(one, two)


def test_many_files_are_read_in_order(lerobot, tmp_path):
    episodes = [made_episode(3, seed) for seed in range(5)]
    written(lerobot, tmp_path / "demos", episodes, file_mb=0)
    assert len(list((tmp_path / "demos" / "data").glob("*/*.parquet"))) == 5
    for one, two in zip(episodes, lerobot[1].read_dataset(tmp_path / "demos").episodes, strict=True):
        assert_same(one, two)


def test_a_goal_is_stored_once_an_episode(lerobot, tmp_path):
    def size(num_steps):
        episode = made_episode(num_steps, image_px=64)
        episode.image_THWC[:] = 0
        written(lerobot, tmp_path / str(num_steps), [episode])
        return next((tmp_path / str(num_steps) / "data").glob("*/*.parquet")).stat().st_size

    one_goal_bytes = 64 * 64 * 3
    assert size(100) - size(1) < one_goal_bytes


def test_a_folder_that_holds_something_is_not_written_to(lerobot, tmp_path):
    (tmp_path / "note").write_text("mine")
    with pytest.raises(ValueError, match="nothing is overwritten"):
        written(lerobot, tmp_path)
    with pytest.raises(ValueError, match="no episode to write"):
        lerobot[0].write_dataset(tmp_path / "new", [], split="train", action_repeat_ticks=4)


def edit_json(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def edit_column(folder, column, change):
    """Rewrite one column of the data file by a function of its list of values."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = next((folder / "data").glob("*/*.parquet"))
    table = pq.read_table(path)
    field = table.schema.field(column)
    values = pa.array(change(table.column(column).to_pylist()), type=field.type)
    pq.write_table(table.set_column(table.column_names.index(column), field, values), path)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-20])


def first_changed(value):
    return lambda values: [value, *values[1:]]


def drop_column(folder, column):
    import pyarrow.parquet as pq

    path = next((folder / "data").glob("*/*.parquet"))
    pq.write_table(pq.read_table(path).drop_columns([column]), path)


FAULTS = {
    "no info": (lambda d: (d / "meta/info.json").unlink(), "info.json: missing or not JSON"),
    "old version": (lambda d: edit_json(d / "meta/info.json", codebase_version="v2.1"), "'v2.1', wanted v3.x"),
    "count": (lambda d: edit_json(d / "meta/info.json", total_frames=14), "total_frames 14, the data files hold 13"),
    "split": (lambda d: edit_json(d / "meta/mcrl.json", split="all"), "split is 'all'"),
    "ticks": (lambda d: edit_json(d / "meta/mcrl.json", action_repeat_ticks=0), "action_repeat_ticks is 0"),
    "format": (lambda d: edit_json(d / "meta/mcrl.json", format_version=9), "format_version is 9"),
    "no side": (lambda d: edit_json(d / "meta/info.json", features={}), "the shape of observation.images.view is None"),
    "cut short": (lambda d: truncate(next((d / "data").glob("*/*.parquet"))), "truncated or not a parquet file"),
    "no column": (lambda d: drop_column(d, "expert_action"), "column expert_action is missing"),
    "factor": (lambda d: edit_column(d, "action", first_changed([10, *[0] * 11])), "action has hotbar 10 in its row 0"),
    "nan": (lambda d: edit_column(d, "next.reward", first_changed(float("nan"))), "reward holds NaN"),
    "gap": (lambda d: edit_column(d, "next.reward", first_changed(None)), "next.reward has gaps"),
    "gap within": (lambda d: edit_column(d, "action", first_changed([None] * 12)), "action has gaps"),
    "order": (lambda d: edit_column(d, "frame_index", first_changed(3)), "frame_index is 3 in its row 0, wanted 0"),
    "two tasks": (lambda d: edit_column(d, "task_id", first_changed("other")), "task_id changes within the episode"),
    "early end": (lambda d: edit_column(d, "next.terminated", first_changed(True)), "ends before its last row"),
    "deed": (
        lambda d: edit_column(d, "observation.interaction", lambda values: [1] * len(values)),
        "observation.interaction is 1",
    ),
    "outcome": (lambda d: edit_column(d, "next.outcome", first_changed(99)), "next.outcome is not one of"),
    "no picture": (
        lambda d: edit_column(d, "observation.images.view", first_changed({"bytes": b"cos\nsystem", "path": None})),
        "holds something that is no picture",
    ),
    "picture's size": (
        lambda d: edit_json(d / "meta/info.json", features=columns_of(24)),
        "a picture is (16, 16), meta/info.json says 24 x 24",
    ),
    "two goals": (
        lambda d: edit_column(d, "observation.images.goal", lambda values: [values[-1], *values[1:]]),
        "goal changes within the episode",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_sentence(lerobot, tmp_path, fault):
    damage, message = FAULTS[fault]
    written(lerobot, tmp_path / "demos")
    damage(tmp_path / "demos")
    with pytest.raises(ValueError, match=r"^[^\n]+$") as caught:
        lerobot[1].read_dataset(tmp_path / "demos")
    assert message in str(caught.value)


def run_config(tmp_path, **imitation):
    config = make_config(tmp_path, ppo=PPOConfig(num_iterations=0))
    return dataclasses.replace(config, imitation=dataclasses.replace(config.imitation, **imitation))


def test_a_run_learns_from_given_demonstrations_as_from_those_it_records(lerobot, tmp_path):
    shown = []

    def keep_expert(env):
        shown.append(CORRIDOR.make_expert(env))
        return shown[-1]

    recording = run_config(tmp_path / "a", num_updates=10)
    own = train(recording, parts=CORRIDOR)
    # The same demonstrations as that run recorded, in its order.
    seed = derive_seed(recording.seed, "demonstrations", "imitation", "train")
    tasks = [make_task(index) for index in range(8)]
    source = ShuffledTasks(tasks, split="train", seed=derive_seed(seed, "curriculum"))
    fragments = collect_demonstrations(
        CorridorEnv(source, 8),
        CorridorExpert(),
        CorridorPolicy(),
        num_steps=256,
        fragment_steps=8,
        noise=recording.imitation.noise,
        seed=seed,
    )
    written(lerobot, tmp_path / "demos", list(episodes_of(fragments)))
    given = run_config(tmp_path / "b", num_updates=10, demos=str(tmp_path / "demos"))
    ended = train(given, parts=dataclasses.replace(CORRIDOR, make_expert=keep_expert))
    assert len(shown) == 1  # in val worlds alone
    # Only the order of the fragments differs: by env here, by time there.
    losses = [
        next(line["val_loss"] for line in read_metrics(result.run_dir / "metrics.jsonl") if "val_loss" in line)
        for result in (own, ended)
    ]
    assert losses[0] == pytest.approx(losses[1], rel=0.2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "val"}, "its worlds are of the split 'val'"),
        (
            {"action_repeat_ticks": 3},
            "its action_repeat_ticks is 3, that of this run 4; give --env.action-repeat-ticks 3",
        ),
    ],
)
def test_a_dataset_that_does_not_fit_is_refused_before_anything_is_written(lerobot, tmp_path, options, message):
    written(lerobot, tmp_path / "demos", **options)
    with pytest.raises(ValueError, match=message):
        train(run_config(tmp_path, demos=str(tmp_path / "demos")), parts=CORRIDOR)
    with pytest.raises(ValueError, match=r"info.json: missing"):
        train(run_config(tmp_path, demos=str(tmp_path / "nothing")), parts=CORRIDOR)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "say what to do; there are export, check"),
        (["exprt"], "exprt is no such thing to do; did you mean export?"),
        (["check"], "name a folder first"),
        (["export", "lib", "--out", "x", "--noise", "1"], r"--noise must be in \[0, 1\)"),
        (["export", "lib", "--out", "x", "--num-steps", "0"], "--num-steps must be at least 1"),
    ],
)
def test_wrong_arguments_are_one_sentence(args, message):
    with pytest.raises(ValueError, match=message):
        demos_command(args)


@pytest.mark.slow
def test_the_expert_plays_a_library_into_a_dataset_that_a_run_clones(lerobot, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    library, out, run_dir = (str(tmp_path / name) for name in ("library", "demos", "run"))
    assert main(["synth", "-n", "24", "--out", library, "--size", "32", "--image-px", "32", "--num-workers", "1"]) == 0
    export = ["demos", "export", library, "--out", out, "--num-steps", "512", "--num-envs", "8", "--image-px", "32"]
    assert main(export) == 0
    assert main(["demos", "check", out]) == 0
    assert "512 decisions of 4 ticks, 32 px, train worlds" in capsys.readouterr().out
    options = {
        "run-dir": run_dir,
        "tasks.library": library,
        "tasks.num-val-tasks": "8",
        "imitation.demos": "demos",
        "imitation.num-updates": "4",
        "imitation.num-val-demo-steps": "64",
        "imitation.dagger-rounds": "1",
        "imitation.dagger-steps": "64",
        "imitation.dagger-updates": "4",
    }
    given = [argument for name, value in options.items() for argument in (f"--{name}", value)]
    assert main(["pretrain", "smoke", *given, "--no-report"]) == 0
    assert json.loads((tmp_path / "run" / "config.json").read_text())["imitation"]["demos"] == out
    # A run folder is exported with its own tasks and config.
    again = ["demos", "export", run_dir, "--out", out + "-run", "--num-steps", "64", "--num-envs", "4"]
    assert main(again) == 0
    stages = {path.name for path in (tmp_path / "run" / "checkpoints").iterdir()}
    assert stages == {"imitation", "dagger", "final"}
    assert main(export) == 2


def test_without_pyarrow_the_way_to_get_it_is_named(monkeypatch, tmp_path):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    from mcrl.demos.pyarrow_import import import_pyarrow

    with pytest.raises(ValueError, match=r"pip install 'mcrl\[data\]'"):
        import_pyarrow()
