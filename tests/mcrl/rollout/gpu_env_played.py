"""Play the same tasks with the engine on the CPU and on CUDA; print how far what they tell is apart, as JSON.

CUDA is a GPU, or numba's simulator where NUMBA_ENABLE_CUDASIM=1: numba chooses on import, so in a process of its own.
"""

import dataclasses
import json
import sys
from typing import Any

import numpy as np

from mcrl.assembly import make_env, make_gpu_env, make_tasks
from mcrl.recipes import RECIPES
from mcrl.rollout.episodes import TaskListSource
from task_synthesis.playing.task_env import Observation
from worlds.types import BUTTON_INDEX, ActionBatch

NUM_ENVS, NUM_STEPS = 2, 5
SMOKE = RECIPES["smoke"]()
CONFIG = dataclasses.replace(
    SMOKE,
    env=dataclasses.replace(SMOKE.env, image_px=16),
    ppo=dataclasses.replace(SMOKE.ppo, privileged_critic=True),
)


def on_host(array: Any) -> np.ndarray:
    """Return an array of the simulator, or of a GPU, as numpy's."""
    return array if isinstance(array, np.ndarray) else array.cpu().numpy()


def gaps(one: Observation, other: Observation) -> dict[str, float]:
    """Return how far two observations of the same envs are apart: pixels that differ, the widest gap of numbers."""
    assert one.situation_EP is not None
    assert other.situation_EP is not None
    differs_EHW = (one.image_EHWC != on_host(other.image_EHWC)).any(axis=-1)
    goals = list(zip(one.goals, other.goals, strict=True))
    return {
        "pixels": int(differs_EHW.sum()),
        "goal_pixels": int(sum((a.image_HWC != b.image_HWC).any(axis=-1).sum() for a, b in goals)),
        "mask_pixels": int(sum((a.mask_HW != b.mask_HW).sum() for a, b in goals)),
        "situation": float(np.abs(one.situation_EP - other.situation_EP).max()),
    }


def main() -> None:
    """Play two tasks an env of a few steps each, so that episodes end and begin on the way."""
    made = make_tasks(CONFIG, "train", 2 * NUM_ENVS, lambda num_done: None)
    tasks = [dataclasses.replace(task, max_ticks=8 + 4 * (n % 2), task_id="") for n, task in enumerate(made)]
    envs = [make(CONFIG, TaskListSource(tasks), NUM_ENVS) for make in (make_env, make_gpu_env)]
    steps = [gaps(*(env.reset() for env in envs))]
    num_ends = 0
    rng = np.random.default_rng(0)
    for _ in range(NUM_STEPS):
        actions = ActionBatch.noop(NUM_ENVS)
        actions.buttons_EB[:, BUTTON_INDEX["forward"]] = True
        actions.camera_deg_E2[:] = rng.normal(0.0, 3.0, (NUM_ENVS, 2))
        one, other = (env.step(actions) for env in envs)
        assert np.array_equal(one.outcome_E, other.outcome_E)
        num_ends += int((one.terminated_E | one.truncated_E).sum())
        steps.append(gaps(one.observation, other.observation))
    json.dump({"steps": steps, "num_ends": num_ends}, sys.stdout)


if __name__ == "__main__":
    main()
