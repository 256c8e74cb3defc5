"""Claims about an interrupted run: it ends as an unbroken one to the last bit, or says why it cannot."""

import dataclasses
import json
import logging
import os
import signal
from pathlib import Path

import numpy as np
import pytest
import torch

from mcrl import checkpoint
from mcrl.assembly import PRODUCT, make_sampler
from mcrl.cli import main
from mcrl.config import CurriculumConfig, RewardConfig, RolloutConfig, from_json, to_json
from mcrl.metrics import MetricsLog, read_metrics
from mcrl.recipes import smoke
from mcrl.train import resume, train
from task_synthesis.folder_lock import locked
from task_synthesis.task_sampler import TaskSampler
from tests.mcrl.clocks import CLOCKED
from tests.mcrl.corridor import CorridorEnv
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.test_train import make_config, weights

LAST = 6


class StopAfter:
    """Parts of a run whose fragments' env asks it to stop, as SIGTERM would, in the middle of an iteration."""

    def __init__(self, config, iteration, parts=CORRIDOR):
        self.num_steps = int((iteration - 0.5) * config.ppo.fragment_steps * self.collects_per_iteration(config))
        self.num_envs = config.rollout.envs_per_worker
        self.inner = parts

    @staticmethod
    def collects_per_iteration(config):
        return config.ppo.fragments_per_batch // config.rollout.envs_per_worker

    def parts(self):
        return dataclasses.replace(self.inner, make_env=self.make_env)

    def make_env(self, config, source, num_envs):
        env = self.inner.make_env(config, source, num_envs)
        # Only PPO plays tasks of a sampler made by `make_sampler`, and that one is the order of the config.
        if getattr(source, "is_of_ppo", False):
            self.count(env)
        return env

    def count(self, env):
        step = env.step

        def counting(actions):
            self.num_steps -= 1
            if self.num_steps == 0:
                os.kill(os.getpid(), signal.SIGTERM)
            return step(actions)

        env.step = counting


def marked_sampler(config, tasks, seed):
    sampler = make_sampler(config, tasks, seed)
    sampler.is_of_ppo = True
    return sampler


PARTS = dataclasses.replace(CORRIDOR, make_sampler=marked_sampler)


def log_of(run_dir: Path) -> list[dict]:
    """The lines of a run but for the times."""
    lines = read_metrics(run_dir / "metrics.jsonl")
    return [{name: value for name, value in line.items() if name not in CLOCKED} for line in lines]


def assert_same(one: Path, two: Path) -> None:
    assert log_of(one) == log_of(two)
    expected = weights(one / "checkpoints" / "final")
    found = weights(two / "checkpoints" / "final")
    assert expected.keys() == found.keys()
    assert all(torch.equal(tensor, found[name]) for name, tensor in expected.items())
    states = [checkpoint.load_state(path / "checkpoints" / "final") for path in (one, two)]
    assert states[0].learner == states[1].learner
    assert states[0].task_statistics == states[1].task_statistics
    assert states[0].rng_state == states[1].rng_state


def curriculum(config, **changes):
    mixed_tasks = dataclasses.replace(
        config.tasks, skills={"approach": 1.0, "break": 0.0}, curriculum=CurriculumConfig(**changes)
    )
    return dataclasses.replace(config, tasks=mixed_tasks)


def ppo(config, **changes):
    return dataclasses.replace(config, ppo=dataclasses.replace(config.ppo, **changes))


def dagger(config):
    stage = dataclasses.replace(config.imitation, dagger_rounds=1, dagger_steps=64, dagger_updates=10)
    return dataclasses.replace(config, imitation=stage)


def everything(config):
    config = curriculum(config, order="adaptive", key="kind")
    return ppo(config, loss="vtrace", value_normalisation=True, kl_target=0.01, duration_weighting="task_balanced")


def two_workers(config):
    return dataclasses.replace(
        curriculum(config, order="mixed"), rollout=RolloutConfig(envs_per_worker=4, num_workers=2)
    )


VARIANTS = {
    "everything": everything,
    "two workers": two_workers,
    "shuffled": lambda config: config,
    "mixed": lambda config: curriculum(config, order="mixed"),
    "adaptive": lambda config: curriculum(config, order="adaptive", key="kind"),
    "vtrace": lambda config: ppo(config, loss="vtrace", value_normalisation=True, kl_target=0.01),
    "no reference, several epochs": lambda config: ppo(config, kl_to_reference=None, num_epochs=3),
    "task_balanced": lambda config: ppo(config, duration_weighting="task_balanced"),
    "validated often": lambda config: dataclasses.replace(config, val_every=1),
    "dagger": dagger,
}
FAST = [("everything", (3,)), ("two workers", (3,)), ("validated often", (3,))]
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
            config.ppo, num_iterations=5, loss="vtrace", value_normalisation=True, duration_weighting="ipw"
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
            if crashing.num_steps == int(4.5 * config.ppo.fragment_steps):
                raise KeyboardInterrupt  # nothing is saved on the way out
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


def stopped_run(tmp_path, **changes) -> Path:
    config = make_config(tmp_path, checkpoint_every=100, **changes)
    train(config, parts=StopAfter(config, 3, PARTS).parts())
    return tmp_path / "run"


def contents(run_dir: Path) -> dict[str, bytes]:
    """Return all files but the one that says how the last start went."""
    files = (path for path in run_dir.rglob("*") if path.is_file() and path.name != "status.json")
    return {str(path.relative_to(run_dir)): path.read_bytes() for path in files}


def newest(run_dir: Path) -> Path:
    return checkpoint.newest(run_dir / "checkpoints")


def said(caplog) -> str:
    return " ".join(caplog.messages)


@pytest.mark.parametrize("name", ["play.json", "play.safetensors"])
def test_a_checkpoint_without_environments_resumes_with_fresh_episodes_and_says_so(tmp_path, name, caplog):
    caplog.set_level(logging.INFO)
    run_dir = stopped_run(tmp_path)
    (newest(run_dir) / name).unlink()
    if name == "play.safetensors":
        with pytest.raises(ValueError, match=r"play\.safetensors: missing.*delete play\.json there to go on with"):
            resume(run_dir, parts=PARTS)
        return
    assert resume(run_dir, parts=PARTS).exit_code == 0
    assert "holds no environments: they start fresh episodes" in said(caplog)
    assert [line["step"] for line in log_of(run_dir) if line["stage"] == "ppo"] == [1, 2, 3, 4, 5, 6]


def test_exact_resume_off_keeps_no_environments_and_says_nothing(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    run_dir = stopped_run(tmp_path, rollout=RolloutConfig(envs_per_worker=8, exact_resume=False))
    assert sorted(path.name for path in newest(run_dir).iterdir()) == [
        "model.safetensors",
        "optimizer.safetensors",
        "state.json",
    ]
    assert resume(run_dir, parts=PARTS).exit_code == 0
    assert "holds no environments" not in said(caplog)


def test_a_sampler_that_cannot_say_where_it_is_leaves_the_environments_out(tmp_path):
    class InOrder(TaskSampler):
        is_of_ppo = True

        def __init__(self, tasks):
            super().__init__()
            self.tasks, self.next = tasks, 0

        def draw(self):
            self.next += 1
            return self.tasks[self.next % len(self.tasks)]

    parts = dataclasses.replace(CORRIDOR, make_sampler=lambda config, tasks, seed: InOrder(tasks))
    config = make_config(tmp_path, checkpoint_every=100)
    train(config, parts=StopAfter(config, 3, parts).parts())
    assert not (newest(tmp_path / "run") / "play.json").exists()
    assert resume(tmp_path / "run", parts=parts).exit_code == 0


def truncate(folder, name, share):
    path = folder / name
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])


def flip(folder, name):
    path = folder / name
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def rewrite(folder, change):
    fields = json.loads((folder / "play.json").read_text())
    change(fields)
    (folder / "play.json").write_text(json.dumps(fields))


DAMAGE = {
    "tensors cut short": (lambda f: truncate(f, "play.safetensors", 0.7), "truncated or not a safetensors file"),
    "json cut short": (lambda f: truncate(f, "play.json", 0.5), "not JSON, or only a part of it"),
    "json empty": (lambda f: truncate(f, "play.json", 0), "not JSON"),
    "one bit": (lambda f: flip(f, "play.safetensors"), "not the file that was written with play.json"),
    "foreign": (lambda f: (f / "play.json").write_text("{}"), "not what mcrl writes"),
    "newer": (lambda f: rewrite(f, lambda x: x.update(format_version=9)), "format 9, this build reads 1"),
    "no workers": (lambda f: rewrite(f, lambda x: x["values"].pop("worker_0")), "worker_0 is None"),
    "turn": (lambda f: rewrite(f, lambda x: x["values"].update(turn=1)), "with worker 1 next, this run has 1"),
    "books": (lambda f: rewrite(f, lambda x: x["values"]["books"].update(produced=3)), "do not balance"),
    "generator": (
        lambda f: rewrite(f, lambda x: x["values"]["worker_0"]["sampler"]["order"].update(rng={"state": 1})),
        "no state of a PCG64 generator",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_one_sentence_and_leaves_the_run_as_it_was(tmp_path, damage):
    run_dir = stopped_run(tmp_path)
    harm, sentence = DAMAGE[damage]
    harm(newest(run_dir))
    before = contents(run_dir)
    with pytest.raises(ValueError, match=sentence) as error:
        resume(run_dir, parts=PARTS)
    assert "\n" not in str(error.value)
    assert str(error.value).endswith(
        "delete play.json there to go on with fresh episodes, or go on from an earlier checkpoint"
    )
    assert contents(run_dir) == before


def test_another_number_of_envs_or_no_reference_is_one_sentence_too(tmp_path):
    run_dir = stopped_run(tmp_path)
    config = from_json((run_dir / "config.json").read_text(), where="x")
    before = contents(run_dir)
    fewer = dataclasses.replace(config, rollout=RolloutConfig(envs_per_worker=4))
    (run_dir / "config.json").write_text(to_json(fewer))
    with pytest.raises(ValueError, match="holds 8 envs, this run has 4"):
        resume(run_dir, parts=PARTS)
    (run_dir / "config.json").write_text(to_json(ppo(config, kl_to_reference=None)))
    with pytest.raises(ValueError, match="has a reference policy, and the other has none"):
        resume(run_dir, parts=PARTS)
    (run_dir / "config.json").write_text(to_json(config))
    assert contents(run_dir) == before


# --------------------------------------------------------------------------------------- the stages before PPO


class StopAt:
    """A run's wish to stop, uttered when its log has a line of `stage` and `step`."""

    def __init__(self, monkeypatch, stage, step):
        self.stage, self.step = stage, step
        write = MetricsLog.write

        def writing(log, stage, step, metrics):
            write(log, stage, step, metrics)
            if (stage, step) == (self.stage, self.step):
                self.stage = None  # once
                os.kill(os.getpid(), signal.SIGTERM)

        monkeypatch.setattr(MetricsLog, "write", writing)


STOPS = [
    ("train_demos", 0),  # before there is a progress to keep
    ("imitation", 10),  # a validation
    pytest.param("imitation", 20, marks=pytest.mark.slow),  # the last update
    pytest.param("dagger", 10, marks=pytest.mark.slow),
    pytest.param("imitation-long", 10, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("stage", "step"), STOPS)
def test_a_run_stopped_while_it_clones_ends_as_an_unbroken_one(tmp_path, monkeypatch, stage, step):
    config = make_config(tmp_path / "whole")
    imitation = dataclasses.replace(config.imitation, control_updates=20, val_every_updates=5)
    config = ppo(dagger(dataclasses.replace(config, imitation=imitation)), num_iterations=1)
    train(config, parts=CORRIDOR)
    broken = dataclasses.replace(config, run_dir=str(tmp_path / "broken"))
    StopAt(monkeypatch, stage, step)
    assert train(broken, parts=CORRIDOR).exit_code == 143
    has_progress = (tmp_path / "broken" / "checkpoints" / f"{stage}.progress").is_dir()
    assert has_progress == stage.startswith("imitation")
    assert resume(tmp_path / "broken", parts=CORRIDOR).exit_code == 0
    assert_same(tmp_path / "whole" / "run", tmp_path / "broken")
    for name in ("imitation", "dagger", "imitation-long"):
        one, other = (
            weights(path / "checkpoints" / name) for path in (tmp_path / "whole" / "run", tmp_path / "broken")
        )
        assert all(torch.equal(tensor, other[key]) for key, tensor in one.items())
    assert not list((tmp_path / "broken" / "checkpoints").glob("*.progress"))


def test_a_cloning_goes_on_where_it_was_and_does_not_begin_again(tmp_path, monkeypatch):
    config = ppo(make_config(tmp_path), num_iterations=0)
    StopAt(monkeypatch, "imitation", 10)
    train(config, parts=CORRIDOR)
    steps = []
    monkeypatch.setattr(torch.optim.Adam, "step", lambda optimizer: steps.append(optimizer))
    resume(tmp_path / "run", parts=CORRIDOR)
    assert len(steps) == 10


def test_a_damaged_progress_of_a_cloning_is_one_sentence(tmp_path, monkeypatch):
    StopAt(monkeypatch, "imitation", 10)
    train(make_config(tmp_path), parts=CORRIDOR)
    folder = tmp_path / "run" / "checkpoints" / "imitation.progress"
    truncate(folder, "progress.safetensors", 0.5)
    before = contents(tmp_path / "run")
    with pytest.raises(ValueError, match=r"truncated or not a safetensors file; delete .*imitation\.progress to begin"):
        resume(tmp_path / "run", parts=CORRIDOR)
    assert contents(tmp_path / "run") == before


# ----------------------------------------------------------------------------------------------------- the lock


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
