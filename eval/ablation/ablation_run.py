"""Bringing the runs of an ablation to their end, each in a process of its own, and letting their results play."""

import dataclasses
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from eval.ablation.ablation_plan import PlannedRun
from eval.judging.evaluation_plan import tasks_sha256
from eval.judging.suite_row import weights_sha256_of
from mcrl import assembly, checkpoint
from mcrl.config import TrainConfig, to_json
from mcrl.interrupt import StopRequest
from mcrl.provenance import commit
from mcrl.rollout.episodes import TaskListSource, run_episodes
from mcrl.seeding import derive_seed
from mcrl.stages.dagger_stage import steps_per_round
from mcrl.telemetry.metrics import number_of, read_metrics
from mcrl.trained import load_policy
from policies.agent import PolicyAgent
from task_synthesis.json_text import parse_json
from task_synthesis.libraries.folder_lock import locked
from task_synthesis.libraries.library import write_whole
from task_synthesis.playing.task_env import Outcome
from task_synthesis.task import TaskSpec

_LOG = logging.getLogger(__name__)

_TASK_FILES = ("tasks_train.jsonl", "tasks_val.jsonl")
_STOP_POLL_S = 0.5
# Of the agents' draws; the same for all variants, so that they differ by their weights alone.
_AGENT_SEED = 0
_FAULT = Outcome.FAULT.name.lower()


@dataclass(frozen=True, kw_only=True, slots=True)
class VariantResult:
    """What a variant trained from one seed does on the judged tasks."""

    variant: str
    seed: int
    run_dir: Path
    success_N: tuple[bool | None, ...]
    """For each judged task, in their order; None where the engine failed, which says nothing of the policy."""
    commit: str
    """Of the code that let it play them."""
    ppo_ticks: int
    """Ticks of 50 ms played by PPO."""
    expert_ticks: int
    """Ticks that the expert labelled, those of a shared start included."""
    learning_s: float
    """Wall time of updates and of waiting for what they learn from, a shared start included; without demonstrations,
    task synthesis and success checks."""

    @property
    def counted(self) -> list[bool]:
        """Return whether each task was solved, without those that the engine failed."""
        return [success for success in self.success_N if success is not None]

    @property
    def success_rate(self) -> float:
        """Return the share of the tasks that were solved, of those that the engine did not fail."""
        return sum(self.counted) / len(self.counted)


class TrainingFailedError(Exception):
    """Raised when the process of a run ended with an error; the text says where its output is."""


class EngineFailedError(Exception):
    """Raised when the engine failed in every episode that was to judge a run."""


def finish_run(planned: PlannedRun, stop: StopRequest) -> None:
    """Train the run and the one it starts from, as far as they are not finished.

    Raises:
        TrainingFailedError: a process ended with an error of its own.
        KeyboardInterrupt: `stop` was set; the run saved itself and a later call goes on from there.
    """
    if planned.start is not None:
        _finish(planned.start, None, stop)
    _finish(planned.config, planned.start, stop)


def _finish(config: TrainConfig, start: TrainConfig | None, stop: StopRequest) -> None:
    run_dir = Path(config.run_dir)
    if stop.is_set:
        raise stop.interrupt()
    if _is_finished(config):
        return
    run_dir.mkdir(parents=True, exist_ok=True)
    if not (run_dir / "config.json").exists():
        if start is not None:
            # They play the same tasks: making them again would only cost time.
            for name in _TASK_FILES:
                write_whole(run_dir / name, (Path(start.run_dir) / name).read_text(encoding="utf-8"))
        write_whole(run_dir / "config.json", to_json(config))
    log_path = run_dir / "train.log"
    _LOG.info("training %s; `mcrl status %s` tells how far it is", run_dir, quote(str(run_dir)))
    exit_code = _train(run_dir, log_path, stop)
    if stop.is_set:
        raise stop.interrupt()
    if exit_code or not _is_finished(config):
        raise TrainingFailedError(f"training ended with exit code {exit_code}{_reason(log_path)}, see {log_path}")


def _reason(log_path: Path) -> str:
    """Return the last sentence in which the command says why it ended, as a part of another one; "" without one."""
    lines = log_path.read_text(encoding="utf-8", errors="replace").splitlines()
    sentences = [line.removeprefix("mcrl: ") for line in lines if line.startswith("mcrl: ")]
    return f" ({sentences[-1]})" if sentences else ""


def _train(run_dir: Path, log_path: Path, stop: StopRequest) -> int:
    """Run `mcrl train --resume` to its end and return its exit code; a wish to stop, or our end, is passed on."""
    command = [sys.executable, "-m", "eval.ablation.training_process", str(os.getpid()), str(run_dir)]
    with locked(run_dir, other="trains this run"):
        pass  # Where another holds it that is said at once; from here on the process below holds it.
    with log_path.open("a", encoding="utf-8") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # Else Ctrl-C would reach it twice, and the second time it does not save itself.
            start_new_session=True,
        )
        was_told = False
        while True:
            try:
                return process.wait(timeout=_STOP_POLL_S)
            except subprocess.TimeoutExpired:
                if stop.is_set and not was_told:
                    process.send_signal(signal.SIGTERM)
                    was_told = True


def _is_finished(config: TrainConfig) -> bool:
    folder = Path(config.run_dir) / "checkpoints"
    has_control = not config.imitation.control_updates or (folder / "imitation-long").is_dir()
    return (folder / checkpoint.FINAL).is_dir() and has_control


def judge_run(planned: PlannedRun, tasks: Sequence[TaskSpec], *, label: str, num_envs: int) -> VariantResult:
    """Let the result of a finished run play every task once, or read what an earlier call saw it do.

    `label` names the tasks in the file judged_LABEL.json of the run; other tasks of that name, other weights, or
    another number of environments, which draws other actions, are played anew. Another commit is not: the result says
    which it was.

    Raises:
        EngineFailedError: the engine failed in every episode; nothing is kept, so that a later call plays them.
    """
    path = planned.run_dir / f"judged_{label}.json"
    wanted = {
        "tasks_sha256": tasks_sha256(tasks),
        "num_envs": num_envs,
        "weights_sha256": weights_sha256_of(planned.run_dir / "checkpoints" / checkpoint.FINAL),
    }
    judged = _read(path)
    if not wanted.items() <= judged.items() or _all_failed(judged):
        judged = {**wanted, "commit": commit(), "outcomes": _outcomes(planned.config, tasks, num_envs)}
        if _all_failed(judged):
            raise EngineFailedError(
                "the engine failed in every episode that was to judge it; mend it and run the same command again"
            )
        write_whole(path, json.dumps(judged) + "\n")
    start = planned.start or planned.config
    return VariantResult(
        variant=planned.variant,
        seed=planned.seed,
        run_dir=planned.run_dir,
        success_N=tuple(None if outcome == _FAULT else outcome == "success" for outcome in judged["outcomes"]),
        commit=str(judged["commit"]),
        ppo_ticks=_ppo_ticks(planned.config),
        expert_ticks=_expert_ticks(start),
        learning_s=sum(
            _learning_s(Path(run_dir)) for run_dir in dict.fromkeys((start.run_dir, planned.config.run_dir))
        ),
    )


def _read(path: Path) -> dict[str, Any]:
    """Return what was judged before; nothing where there is no such file yet."""
    if not path.exists():
        return {}
    try:
        judged: dict[str, Any] = parse_json(path.read_text(encoding="ascii"))
        if not isinstance(judged["tasks_sha256"], str) or not isinstance(judged["outcomes"], list):
            raise ValueError("wrong kind of value")
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path}: not what an ablation saw; delete the file and the tasks are played again") from None
    return judged


def _all_failed(judged: Mapping[str, Any]) -> bool:
    return all(outcome == _FAULT for outcome in judged["outcomes"])


def _outcomes(config: TrainConfig, tasks: Sequence[TaskSpec], num_envs: int) -> list[str]:
    """Return how each task ended."""
    side_blocks = tasks[0].world.size_blocks[0]
    config = dataclasses.replace(config, tasks=dataclasses.replace(config.tasks, side_blocks=side_blocks))
    folder = Path(config.run_dir) / "checkpoints" / checkpoint.FINAL
    num_envs = min(num_envs, len(tasks))
    agent = PolicyAgent(
        load_policy(folder, config),
        num_envs=num_envs,
        precision=config.precision,
        seed=derive_seed(_AGENT_SEED, "ablation"),
    )
    with closing(assembly.make_env(config, TaskListSource(tasks), num_envs)) as env, agent.casts_kept():
        return [record.outcome for record in run_episodes(agent, env, tasks)]


def _ppo_ticks(config: TrainConfig) -> int:
    ppo = config.ppo
    return ppo.num_iterations * ppo.fragments_per_batch * ppo.fragment_steps * config.env.action_repeat_ticks


def _expert_ticks(config: TrainConfig) -> int:
    """Return the ticks that the expert labelled in a run that is no more than the start of another, or all there is."""
    imitation = config.imitation
    if not imitation.num_updates:
        return 0
    num_steps = imitation.num_demo_steps
    if imitation.demos is not None:
        from mcrl.demos.lerobot_reader import read_about  # needs pyarrow's extra, as the run did

        num_steps = read_about(Path(imitation.demos)).num_steps
    if imitation.dagger_rounds:
        num_steps += imitation.dagger_rounds * steps_per_round(config)
    return num_steps * config.env.action_repeat_ticks


def _learning_s(run_dir: Path) -> float:
    """Return the wall time of learning by a run's metrics: kept over interruptions, which a clock would count too."""
    clone_s, dagger_s, round_s, ppo_s = 0.0, 0.0, 0.0, 0.0
    for line in read_metrics(run_dir / "metrics.jsonl"):
        if line["stage"] == "imitation":
            clone_s = max(clone_s, number_of(line.get("elapsed_s")))
        elif line["stage"] == "dagger":
            # The clock of learning begins anew in every round; a round begins with a line of its play.
            if "round" in line:
                dagger_s, round_s = dagger_s + round_s + number_of(line.get("play_s")), 0.0
            round_s = max(round_s, number_of(line.get("elapsed_s")))
        elif line["stage"] == "ppo":
            ppo_s += number_of(line.get("take_s")) + number_of(line.get("learn_s"))
    return clone_s + dagger_s + round_s + ppo_s
