"""A learner that learns the corridor, workers that play it, and fragments that depend on no engine."""

import dataclasses

import numpy as np
import torch

from mcrl.config import PPOConfig
from mcrl.learning.batch import collate
from mcrl.learning.forward import evaluate
from mcrl.learning.learner import Learner
from mcrl.rollout.rollout_worker import RolloutWorker
from policies import action_codec
from task_synthesis.playing.curriculum import ShuffledTasks
from tests.mcrl.corridor import CorridorEnv, make_task
from tests.mcrl.fragments import make_fragment

CONFIG = PPOConfig(
    num_iterations=10,
    fragment_steps=8,
    fragments_per_batch=4,
    minibatch_sequences=2,
    value_warmup_iterations=0,
    learning_rate=1e-2,
)


def make_worker(policy, *, num_envs=4, num_steps=8, reference=None):
    source = ShuffledTasks([make_task(index) for index in range(8)], split="train", seed=0)
    return RolloutWorker(
        CorridorEnv(source, num_envs),
        policy,
        reference,
        fragment_steps=num_steps,
        worker_id=0,
        seed=0,
        precision="fp32",
    )


def make_learner(policy, config=CONFIG, **options):
    return Learner(policy, config, precision="fp32", seed=0, **options)


def weights(policy):
    return {name: tensor.clone() for name, tensor in policy.state_dict().items()}


def fixed_fragments(policy):
    """Fragments of made-up numbers, so that the trace depends on learning only and not on engine or sampling."""
    rng = np.random.default_rng(0)
    num_steps = 6
    actions = rng.integers(0, 2, (8, num_steps, action_codec.NUM_FACTORS)).astype(np.uint8)
    actions[..., action_codec.FACTOR_INDEX["inventory"]] = 0
    memory = {name: tensor[0].numpy() for name, tensor in policy.initial_memory(1).items()}
    fragments = [
        make_fragment(
            num_steps=num_steps,
            image_px=16,
            image_THWC=rng.integers(0, 256, (num_steps, 16, 16, 3)).astype(np.uint8),
            first_T=np.arange(num_steps) == env % num_steps,
            action_TA=actions[env],
            previous_action_TA=np.roll(actions[env], 1, axis=0),
            value_T=rng.normal(0.0, 0.1, num_steps).astype(np.float32),
            reference_logits_TL=rng.normal(0.0, 0.1, (num_steps, action_codec.NUM_LOGITS)).astype(np.float32),
            reward_T=(rng.random(num_steps) < 0.3).astype(np.float32),
            terminated_T=np.arange(num_steps) == env % num_steps - 1,
            bootstrap_value_T=np.full(num_steps, 0.1, np.float32),
            target_T7=rng.random((num_steps, 7)).astype(np.float32) * (rng.random((num_steps, 1)) < 0.5),
            memory=memory,
            env_index=env,
        )
        for env in range(8)
    ]
    batch = collate(fragments)
    with torch.no_grad():
        log_prob_BT = action_codec.log_prob(evaluate(policy, batch, "fp32").logits_BTL, batch.action_BTA).numpy()
    # Ratios on both sides of the clip range.
    behaviour_BT = log_prob_BT + rng.normal(0.0, 0.2, log_prob_BT.shape).astype(np.float32)
    return [dataclasses.replace(f, log_prob_T=row_T) for f, row_T in zip(fragments, behaviour_BT, strict=True)]
