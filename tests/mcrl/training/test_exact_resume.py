"""Claims about an interrupted run: it ends as an unbroken one to the last bit."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from mcrl import checkpoint
from mcrl.assembly import PRODUCT, make_sampler
from mcrl.cli import main
from mcrl.config import CurriculumConfig, RewardConfig, to_json
from mcrl.recipes import smoke
from mcrl.train import resume, train
from task_synthesis.libraries.folder_lock import locked
from tests.mcrl.corridor import CorridorEnv
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import make_config
from tests.mcrl.training.interrupted_runs import (
    LAST,
    PARTS,
    VARIANTS,
    StopAfter,
    StopInCheck,
    assert_same,
    contents,
    curriculum,
    marked_sampler,
    stopped_run,
)

FAST = [
    ("everything", (3,)),
    ("two workers", (3,)),
    ("four workers, two an iteration", (1,)),  # the others have not acted yet
    ("validated often", (3,)),
    ("privileged critic", (3,)),
]
SLOW = [(variant, (1, 3, LAST)) for variant in VARIANTS]


@pytest.mark.parametrize(
    ("variant", "iterations"), [*FAST, *(pytest.param(*row, marks=pytest.mark.slow) for row in SLOW)]
)
def test_an_interrupted_run_is_an_unbroken_one_to_the_bit(tmp_path, variant, iterations):
    config = VARIANTS[variant](make_config(tmp_path / "whole", checkpoint_every=100))
    assert train(config, parts=PARTS).exit_code == 0
    for iteration in iterations:
        run_dir = tmp_path / f"broken_{iteration}"
        broken = dataclasses.replace(config, run_dir=str(run_dir))
        stopped = train(broken, parts=StopAfter(broken, iteration, PARTS).parts())
        assert stopped.exit_code == 143
        assert checkpoint.load_state(stopped.checkpoint).iteration == iteration
        assert resume(run_dir, parts=PARTS).exit_code == 0
        assert_same(tmp_path / "whole" / "run", run_dir)


@pytest.mark.parametrize(
    ("number", "iteration"), [(1, None), (2, 1), (4, 3), (7, LAST)], ids=["clone", "first", "third", "last"]
)
def test_a_stop_ends_a_success_check_at_once_and_loses_nothing(tmp_path, number, iteration):
    config = make_config(tmp_path / "whole", checkpoint_every=100, val_every=1)
    assert train(config, parts=PARTS).exit_code == 0
    broken, stop = dataclasses.replace(config, run_dir=str(tmp_path / "broken")), StopInCheck(number)
    stopped = train(broken, parts=stop.parts())
    assert (stopped.exit_code, stop.num_later_steps) == (143, 0)
    assert (None if stopped.checkpoint is None else checkpoint.load_state(stopped.checkpoint).iteration) == iteration
    assert resume(tmp_path / "broken", parts=PARTS).exit_code == 0
    assert_same(tmp_path / "whole" / "run", tmp_path / "broken")


def on_the_engine(run_dir: Path):
    """A short run of the product with all that remembers."""
    config = smoke()
    rewards = RewardConfig(in_view=0.1, within_reach=0.2, shaping_per_block=0.02)
    return dataclasses.replace(
        config,
        run_dir=str(run_dir),
        tasks=dataclasses.replace(
            config.tasks, num_train_tasks=16, num_val_tasks=4, curriculum=CurriculumConfig(order="adaptive")
        ),
        env=dataclasses.replace(config.env, rewards=rewards),
        imitation=dataclasses.replace(config.imitation, num_demo_steps=256, num_val_demo_steps=64, num_updates=10),
        ppo=dataclasses.replace(
            config.ppo,
            num_iterations=5,
            loss="vtrace",
            value_normalisation=True,
            duration_weighting="ipw",
            privileged_critic=True,
        ),
        checkpoint_every=100,
    )


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_on_the_engine_too_with_partial_credit_an_adaptive_order_and_vtrace(tmp_path):
    parts = dataclasses.replace(PRODUCT, make_sampler=marked_sampler)
    train(on_the_engine(tmp_path / "whole" / "run"), parts=parts)
    for iteration in (2, 4):
        config = on_the_engine(tmp_path / f"broken_{iteration}")
        stopped = train(config, parts=StopAfter(config, iteration, parts).parts())
        assert checkpoint.load_state(stopped.checkpoint).iteration == iteration
        resume(Path(config.run_dir), parts=parts)
        assert_same(tmp_path / "whole" / "run", Path(config.run_dir))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_checkpoint_of_another_world_size_is_refused_by_the_command_with_exit_code_2(tmp_path, capsys):
    parts = dataclasses.replace(PRODUCT, make_sampler=marked_sampler)
    run_dir = tmp_path / "run"
    config = on_the_engine(run_dir)
    train(config, parts=StopAfter(config, 1, parts).parts())
    text = (run_dir / "config.json").read_text()
    wider = dataclasses.replace(config, tasks=dataclasses.replace(config.tasks, side_blocks=64))
    (run_dir / "config.json").write_text(to_json(wider))
    before = contents(run_dir)
    assert main(["train", "--resume", str(run_dir), "--no-report"]) == 2
    assert contents(run_dir) == before
    assert "holds worlds of [32, 64, 32] blocks, this run has [64, 64, 64]; delete play.json" in capsys.readouterr().err
    (run_dir / "config.json").write_text(text)
    assert main(["train", "--resume", str(run_dir), "--no-report"]) == 0


@pytest.mark.slow
def test_a_run_interrupted_in_every_iteration_is_the_unbroken_one(tmp_path):
    config = curriculum(make_config(tmp_path / "whole", checkpoint_every=100), order="adaptive", key="kind")
    train(config, parts=PARTS)
    broken = dataclasses.replace(config, run_dir=str(tmp_path / "broken"))
    train(broken, parts=StopAfter(broken, 1, PARTS).parts())
    for _ in range(LAST - 1):
        assert resume(tmp_path / "broken", parts=StopAfter(broken, 1, PARTS).parts()).exit_code == 143
    assert resume(tmp_path / "broken", parts=PARTS).exit_code == 0
    assert_same(tmp_path / "whole" / "run", tmp_path / "broken")


def test_a_crash_costs_the_iterations_since_the_checkpoint_and_they_come_out_the_same(tmp_path):
    config = make_config(tmp_path / "whole", checkpoint_every=2, val_every=1)
    train(config, parts=PARTS)

    def crash(config, source, num_envs):
        env = CorridorEnv(source, num_envs)
        step = env.step

        def crashing(actions):
            crashing.num_steps += 1
            if crashing.num_steps == int(5.5 * config.ppo.fragment_steps):
                raise KeyboardInterrupt  # nothing is saved on the way out, and iteration 5 is in the log alone
            return step(actions)

        crashing.num_steps = 0
        env.step = crashing if getattr(source, "is_of_ppo", False) else step
        return env

    broken = dataclasses.replace(config, run_dir=str(tmp_path / "broken"))
    with pytest.raises(KeyboardInterrupt):
        train(broken, parts=dataclasses.replace(PARTS, make_env=crash))
    assert resume(tmp_path / "broken", parts=PARTS).exit_code == 0
    assert_same(tmp_path / "whole" / "run", tmp_path / "broken")


# ------------------------------------------------------------------------------------------- what cannot be exact


def test_two_processes_cannot_train_one_run(tmp_path, capsys):
    run_dir = stopped_run(tmp_path)
    with locked(run_dir, other="trains this run"):
        before = contents(run_dir)
        with pytest.raises(ValueError, match="another process trains this run; wait for it, or end it first"):
            resume(run_dir, parts=PARTS)
        assert main(["train", "--resume", str(run_dir), "--no-report"]) == 2
        assert contents(run_dir) == before
    assert capsys.readouterr().err.count("another process trains this run") == 1
    assert resume(run_dir, parts=PARTS).exit_code == 0


def test_what_a_generator_drew_is_part_of_the_order():
    """The harness above would miss a sampler whose order did not depend on its seed."""
    tasks = CORRIDOR.make_tasks(None, "train", 8, lambda _: None)
    config = make_config(Path("unused"))
    orders = [[sampler(0).task_id for _ in range(16)] for sampler in (make_sampler(config, tasks, s) for s in (0, 1))]
    assert not np.array_equal(*orders)
