"""A small real evaluation: tasks of several skills, played by scripted agents, in the folder of `mcrl eval`."""

import math
from functools import cache
from pathlib import Path

import numpy as np

from eval.episodes.action_archive import EpisodeActions, pack, unit_file
from eval.episodes.records import JudgedEpisode, write_jsonl
from eval.judging.origin import SuiteOrigin, write_origin
from mcrl.rollout.episodes import TaskListSource, run_episodes
from policies.expert import ExpertAgent
from policies.scripted import RandomAgent
from task_synthesis.playing.task_env import TaskEnv
from task_synthesis.synthesis_config import SynthesisConfig
from task_synthesis.synthesize import Synthesizer
from task_synthesis.task import TaskSpec, to_json_line
from worlds.voxel.backend import VoxelBackend

SIDE_BLOCKS = 64
SKILLS = ("approach", "break", "interact")
_PX = 32
_NUM_ENVS = 8


class HalfAgent:
    """The expert with every second decision replaced by chance: succeeds on some tasks and fails on others."""

    def __init__(self, env: TaskEnv) -> None:
        self._expert = ExpertAgent(env)
        self._random = RandomAgent(env.num_envs, 1)
        self._rng = np.random.default_rng(2)

    def act(self, observation):
        actions, noise = self._expert.act(observation), self._random.act(observation)
        is_noise_E = self._rng.random(len(observation.tasks)) < 0.75
        actions.buttons_EB[is_noise_E] = noise.buttons_EB[is_noise_E]
        actions.camera_deg_E2[is_noise_E] = noise.camera_deg_E2[is_noise_E]
        return actions


@cache
def suite_tasks(num_tasks: int, skills: tuple[str, ...] = SKILLS) -> list[TaskSpec]:
    """Tasks in held-out worlds."""
    config = SynthesisConfig(
        skills=dict.fromkeys(skills, 1.0),
        bands={"near": 1.0, "easy": 1.0},
        side_blocks=SIDE_BLOCKS,
        image_px=_PX,
        tasks_per_world=4,
    )
    return Synthesizer(config, split="held_out", seed=3, num_parallel=8, num_threads=1).run(num_tasks)


def write_folder(out_dir: Path, *, num_tasks: int = 12, rows: tuple[str, ...] = ("random", "rl", "expert")) -> None:
    """Play the rows and write what `mcrl eval` would."""
    out_dir.mkdir(parents=True, exist_ok=True)
    tasks = suite_tasks(num_tasks)
    agent_of = {
        "random": lambda env: RandomAgent(env.num_envs, 0),
        "shuffled goal": lambda env: RandomAgent(env.num_envs, 3),
        "imitation": lambda env: RandomAgent(env.num_envs, 4),
        "rl": HalfAgent,
        "expert": ExpertAgent,
    }
    episodes: list[JudgedEpisode] = []
    for row in rows:
        played, actions_of = _play(row, tasks, agent_of[row])
        episodes += played
        path = unit_file(out_dir, row, 0)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(pack(actions_of))
    (out_dir / "tasks.jsonl").write_text("".join(to_json_line(task) + "\n" for task in tasks), encoding="ascii")
    write_jsonl(episodes, out_dir / "episodes.jsonl")
    write_origin(
        SuiteOrigin(
            command=f"mcrl eval runs/x --suite tiny --out {out_dir.name}",
            commit="abc1234",
            date="2026-01-01 00:00 UTC",
            hardware={"cpu": "a cpu", "num_cores": 2},
            split="held_out",
            suite_seed=3,
            agent_seed=0,
            num_worlds=len({task.world for task in tasks}),
            row_sources={row: "scripted" for row in rows},
            row_wall_s={row: 1.0 for row in rows},
            training_wall_s={},
            suite="tiny.v1",
            suite_claim="Tiny tasks in worlds never trained on.",
            suite_sha256="0" * 64,
            config={"seed": 0, "env": {"image_px": _PX}},
        ),
        out_dir,
    )


def _play(row: str, tasks: list[TaskSpec], make_agent) -> tuple[list[JudgedEpisode], dict[str, EpisodeActions]]:
    backend = VoxelBackend(_NUM_ENVS, size_blocks=(SIDE_BLOCKS, 64, SIDE_BLOCKS), image_px=(_PX, _PX))
    env = TaskEnv(backend, TaskListSource(tasks), action_repeat=4)
    buttons: dict[int, list[np.ndarray]] = {index: [] for index in range(len(tasks))}
    camera: dict[int, list[np.ndarray]] = {index: [] for index in range(len(tasks))}

    def keep(step) -> None:
        for e, index in enumerate(step.task_index_E.tolist()):
            if index >= 0:
                buttons[index].append(step.actions.buttons_EB[e].copy())
                camera[index].append(step.actions.camera_deg_E2[e].copy())

    records = run_episodes(make_agent(env), env, tasks, on_step=keep)
    actions_of = {
        task.task_id: EpisodeActions(
            buttons_DB=np.array(buttons[index]), camera_deg_D2=np.array(camera[index], np.float32), ticks_per_decision=4
        )
        for index, task in enumerate(tasks)
    }
    return [
        episode_of(row, task, record.outcome, record.num_ticks) for task, record in zip(tasks, records, strict=True)
    ], actions_of


def episode_of(row: str, task: TaskSpec, outcome: str, ticks: int) -> JudgedEpisode:
    """Return the record of a task; what depends on the way walked is made up."""
    to_start = (task.start.x - task.placements[task.target_index].position[0], task.start.z)
    return JudgedEpisode(
        row=row,
        suite="tiny.v1",
        unit=0,
        task_id=task.task_id,
        goal_task_id=task.task_id,
        family=task.family,
        skill=task.skill,
        band=task.band,
        biome=task.world.biome,
        world_seed=task.world.seed,
        split=task.split,
        outcome=outcome,
        cause={"time_limit": "not_reached"}.get(outcome, outcome),
        success=outcome == "success",
        ticks=ticks,
        max_ticks=task.max_ticks,
        distance_blocks=task.difficulty.distance_blocks,
        path_blocks=task.difficulty.path_blocks,
        height_blocks=task.difficulty.height_blocks,
        target_yaw_deg=task.difficulty.target_yaw_deg,
        view_overlap=task.difficulty.view_overlap,
        view_angle_deg=abs(math.degrees(math.atan2(*to_start))),
        goal_area=task.difficulty.goal_area,
        num_same_kind=task.difficulty.num_same_kind,
        num_other_kind=task.difficulty.num_other_kind,
        in_sight=task.difficulty.in_sight,
        visible_at_start=task.difficulty.visible_at_start,
        walked_blocks=task.difficulty.path_blocks * 1.25,
        closest_blocks=1.0,
        first_seen_ticks=4,
        last_seen_ticks=ticks,
    )
