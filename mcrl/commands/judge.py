"""Judging a run: every row on the same tasks, then episodes.jsonl, report.md, report.html and videos."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from eval.baselines import OtherGoalAgent, goals_of, shuffled_partners
from eval.origin import SuiteOrigin
from eval.recording import EpisodeRecorder, EpisodeRecording, choose_for_show
from eval.records import write_jsonl
from eval.report import (
    ROW_EXPERT,
    ROW_IMITATION,
    ROW_RANDOM,
    ROW_RL,
    ROW_SHUFFLED,
    Summary,
    summarise,
    write_markdown,
)
from eval.report_html import EmbeddedVideo, page
from eval.run_suite import SuiteRow, run_suite
from eval.training_plots import training_plots
from mcrl import assembly, checkpoint
from mcrl.config import TrainConfig
from mcrl.episodes import TaskListSource
from mcrl.provenance import commit, hardware
from mcrl.seeding import derive_seed
from policies.agent import PolicyAgent
from policies.expert import ExpertAgent
from policies.interface import Agent, Policy
from policies.scripted import RandomAgent
from task_synthesis.task import TaskSpec
from task_synthesis.task_env import TaskEnv, TaskSource
from worlds.spec import Split

_LOG = logging.getLogger(__name__)

_TITLE = "mcrl: what the agent does in worlds it has never seen"
# Episodes recorded a skill and band, from which the videos are chosen.
_NUM_RECORDED_PER_GROUP = 8


@dataclass(frozen=True, slots=True)
class LoadedPolicy:
    """A policy and the checkpoint it was read from."""

    policy: Policy
    folder: Path


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What is judged, and how it is described in the report."""

    config: TrainConfig
    """Of the run that made the checkpoints: decides engine, policy and precision."""
    policies: Mapping[str, LoadedPolicy]
    """By row name, for instance {"imitation": ..., "rl": ...}."""
    tasks: Sequence[TaskSpec]
    split: Split
    suite_seed: int
    """Seed that the tasks were drawn with."""
    agent_seed: int
    """Seed of the agents' draws and of the shuffled goals."""
    out_dir: Path
    command: str
    """Command line that repeats this."""
    num_videos: int = 3
    num_envs: int = 64
    training_wall_s: Mapping[str, float] = field(default_factory=dict)
    """Wall time of the training that this command did."""
    metrics_path: Path | None = None
    """Training metrics to plot; None plots none."""


def judge(judgement: Judgement, *, on_progress: Callable[[str, int, int], None] | None = None) -> Summary:
    """Let every row play, write the report into `out_dir` and return what it says."""
    recorder = EpisodeRecorder(
        judgement.tasks,
        num_per_group=_NUM_RECORDED_PER_GROUP if judgement.num_videos else 0,
        ticks_per_decision=judgement.config.env.action_repeat_ticks,
    )
    rows = _rows(judgement, recorder)
    judged = run_suite(
        rows, judgement.tasks, split=judgement.split, make_env=_env_maker(judgement), on_progress=on_progress
    )
    episodes = [episode for row in judged.values() for episode in row.episodes]
    origin = SuiteOrigin(
        command=judgement.command,
        commit=commit(),
        date=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        hardware=hardware(),
        split=judgement.split,
        suite_seed=judgement.suite_seed,
        agent_seed=judgement.agent_seed,
        num_worlds=len({task.world for task in judgement.tasks}),
        row_sources={row.name: row.source for row in rows},
        row_wall_s={name: row.wall_s for name, row in judged.items()},
        training_wall_s=dict(judgement.training_wall_s),
    )
    summary = summarise(episodes, origin)
    judgement.out_dir.mkdir(parents=True, exist_ok=True)
    write_jsonl(episodes, judgement.out_dir / "episodes.jsonl")
    write_markdown(summary, judgement.out_dir / "report.md")
    recordings = choose_for_show(recorder.finished(), judgement.num_videos)
    videos, video_note = _write_videos(recordings, judgement.out_dir / "videos")
    plots = training_plots(judgement.metrics_path) if judgement.metrics_path else []
    html = page(summary, title=_TITLE, plots=plots, videos=videos, video_note=video_note)
    (judgement.out_dir / "report.html").write_text(html, encoding="utf-8")
    return summary


def load_policy(folder: Path, config: TrainConfig) -> LoadedPolicy:
    """Return the policy of a checkpoint, ready to act; ValueError names what does not fit."""
    policy = assembly.make_policy(config)
    checkpoint.load_into(policy, checkpoint.load(folder).model, where=folder)
    return LoadedPolicy(policy.eval().requires_grad_(False), folder)


def _env_maker(judgement: Judgement) -> Callable[[TaskSource], TaskEnv]:
    num_envs = min(judgement.num_envs, len(judgement.tasks))
    return lambda source: assembly.make_env(judgement.config, source, num_envs)


def _rows(judgement: Judgement, recorder: EpisodeRecorder) -> list[SuiteRow]:
    """Return the rows: chance, the given checkpoints, the best of them with another task's goal, the expert."""
    config, seed = judgement.config, judgement.agent_seed
    policies = judgement.policies
    main_row = next(name for name in (ROW_RL, ROW_IMITATION, *policies) if name in policies)

    def maker(row: str, policy_name: str) -> Callable[[TaskEnv], Agent]:
        # The seed is named after the policy, so that the shuffled row differs from its own only by the goals.
        return lambda env: PolicyAgent(
            policies[policy_name].policy,
            num_envs=env.num_envs,
            precision=config.precision,
            seed=derive_seed(seed, policy_name),
        )

    rows = [
        SuiteRow(
            name=ROW_RANDOM,
            source="every action factor drawn evenly, hotbar, drop and inventory left alone",
            make_agent=lambda env: RandomAgent(env.num_envs, derive_seed(seed, ROW_RANDOM)),
        )
    ]
    for name, loaded in policies.items():
        rows.append(
            SuiteRow(
                name=name,
                source=_shown(loaded.folder),
                make_agent=maker(name, name),
                on_step=recorder if name == main_row else None,
            )
        )
    partner_of = shuffled_partners(judgement.tasks, seed=derive_seed(seed, ROW_SHUFFLED))
    goal_of = goals_of(_env_maker(judgement)(TaskListSource(judgement.tasks)), len(judgement.tasks))
    rows.append(
        SuiteRow(
            name=ROW_SHUFFLED,
            source=f"{main_row}, shown the goal of another task of the same skill",
            make_agent=lambda env: OtherGoalAgent(maker(ROW_SHUFFLED, main_row)(env), partner_of, goal_of),
            goal_of_task=partner_of,
        )
    )
    rows.append(
        SuiteRow(
            name=ROW_EXPERT,
            source="path follower that reads blocks and paths from the engine, looks for the target first",
            make_agent=lambda env: ExpertAgent(env),
        )
    )
    return rows


def _shown(folder: Path) -> str:
    """Return a path as a reader would type it: relative when it lies below the working folder."""
    cwd = Path.cwd()
    return str(folder.relative_to(cwd) if folder.is_relative_to(cwd) else folder)


def _write_videos(recordings: Sequence[EpisodeRecording], folder: Path) -> tuple[list[EmbeddedVideo], str]:
    """Write videos and return them for the page with a note; a machine without opencv gets the reason instead."""
    if not recordings:
        return [], ""
    try:
        from eval import video
    except ImportError as error:
        reason = f"No videos: opencv cannot be imported here ({error}); `mcrl doctor` says how to mend it."
        _LOG.warning(reason)
        return [], reason
    folder.mkdir(parents=True, exist_ok=True)
    embedded = []
    try:
        for number, recording in enumerate(recordings, start=1):
            path = video.write_video(recording, folder / f"episode_{number}")
            task = recording.task
            caption = (
                f"{task.family.replace('_', ' ')}, {task.band}, world seed {task.world.seed} ({task.world.biome}): "
                f"{recording.outcome} after {len(recording.keys) * recording.ticks_per_decision} ticks"
            )
            embedded.append(
                EmbeddedVideo(caption=caption, video_uri=video.data_uri(path), poster_uri=video.poster_uri(recording))
            )
    except RuntimeError as error:
        _LOG.warning("no videos: %s", error)
        return embedded, f"No more videos: {error}."
    rule = "Chosen by rule, not by eye: the first success of each skill, then the first failure, in task order."
    return embedded, rule
