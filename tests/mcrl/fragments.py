"""Fragments made of numbers, for tests of what only moves them about."""

import dataclasses

import numpy as np

from mcrl.dataflow.queue.rows import Row, row_of
from mcrl.rollout.fragment import Fragment
from task_synthesis.goal import CrossViewGoal
from task_synthesis.interaction import Interaction


def make_goal(value: int = 0, image_px: int = 8) -> CrossViewGoal:
    mask_HW = np.zeros((image_px, image_px), bool)
    mask_HW[:2, :2] = True
    return CrossViewGoal(
        image_HWC=np.full((image_px, image_px, 3), value, np.uint8), mask_HW=mask_HW, interaction=Interaction.APPROACH
    )


def make_fragment(num_steps: int = 4, image_px: int = 8, num_factors: int = 2, **changes: object) -> Fragment:
    fragment = Fragment(
        image_THWC=np.zeros((num_steps, image_px, image_px, 3), np.uint8),
        goals=(make_goal(image_px=image_px),),
        task_ids=("a",),
        families=("approach/gold_block",),
        goal_index_T=np.zeros(num_steps, np.int64),
        first_T=np.zeros(num_steps, bool),
        previous_action_TA=np.zeros((num_steps, num_factors), np.uint8),
        action_TA=np.zeros((num_steps, num_factors), np.uint8),
        expert_action_TA=None,
        log_prob_T=np.zeros(num_steps, np.float32),
        value_T=np.zeros(num_steps, np.float32),
        reference_logits_TL=None,
        reward_T=np.zeros(num_steps, np.float32),
        terminated_T=np.zeros(num_steps, bool),
        truncated_T=np.zeros(num_steps, bool),
        bootstrap_value_T=np.zeros(num_steps, np.float32),
        is_valid_T=np.ones(num_steps, bool),
        outcome_T=np.zeros(num_steps, np.int64),
        target_T7=np.zeros((num_steps, 7), np.float32),
        memory={"h": np.zeros(3, np.float32)},
        min_version=0,
        max_version=0,
        worker_id=0,
        env_index=0,
        sequence=0,
        start_ns=0,
        end_ns=1,
    )
    return dataclasses.replace(fragment, **changes)  # type: ignore[arg-type]


def make_row(payload: object = None, **changes: object) -> Row:
    """Return the row of such a fragment; its payload is its name, or what is given."""
    fragment = make_fragment(num_steps=1, **changes)
    name = f"{fragment.worker_id}/{fragment.env_index}/{fragment.sequence}"
    return row_of(fragment, name if payload is None else payload)
