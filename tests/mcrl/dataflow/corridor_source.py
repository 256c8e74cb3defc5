"""What the sources of these tests are made of: two workers of three envs in the corridor, and their weights."""

from functools import partial

from mcrl.assembly import build_worker
from mcrl.config import PPOConfig, RolloutConfig, TrainConfig
from mcrl.dataflow.flow import FlowLimits
from mcrl.dataflow.weights.params import ParamLayout
from tests.mcrl.corridor import make_task
from tests.mcrl.corridor_policy import CORRIDOR, CorridorPolicy

NUM_WORKERS, ENVS, BATCH, STEPS = 2, 3, 6, 4


def make_config():
    return TrainConfig(
        recipe="test",
        ppo=PPOConfig(fragment_steps=STEPS, fragments_per_batch=BATCH),
        rollout=RolloutConfig(num_workers=NUM_WORKERS, envs_per_worker=ENVS),
        precision="fp32",
    )


def make_factory():
    tasks = [make_task(index) for index in range(4)]
    return partial(build_worker, make_config(), CORRIDOR, tasks, None)


def snapshot(version):
    policy = CorridorPolicy(seed=version)
    return ParamLayout(policy).snapshot(policy, version)


def limits(max_staleness=0):
    return FlowLimits(
        num_workers=NUM_WORKERS, envs_per_worker=ENVS, fragments_per_batch=BATCH, max_staleness=max_staleness
    )
