"""Where each milestone begins to be paid: a little inside its border, and not a little outside."""

import numpy as np
import pytest

from task_synthesis.playing.milestones import PartialCredit, RewardConfig
from tests.task_synthesis.playing.test_milestones import AIMED, BREAK, NEAR, pay, started, state
from worlds.types import ActionBatch


@pytest.mark.parametrize(
    ("feet", "area", "is_paid"),
    [
        ((16.5 - 4.8, 30.0, 16.5), 0.1, True),  # 4.93 blocks from the eye to the target's centre
        ((16.5 - 4.95, 30.0, 16.5), 0.1, False),  # 5.08
        ((14.5, 26.0, 16.5), 0.1, True),  # overhead, 3.5 from the eye and 5.5 from as far below the feet
        ((14.5, 34.0, 16.5), 0.1, False),  # below, 5.5 from the eye
        (NEAR, 0.0, False),  # behind the back
    ],
)
def test_within_reach_is_five_blocks_from_the_eye_and_in_view(feet, area, is_paid):
    credit = started(config=RewardConfig(within_reach=0.1))
    assert pay(credit, state(feet=feet, area=area))[0] == 0.1 * is_paid


@pytest.mark.parametrize(
    ("center", "is_paid"), [((0.5, 0.64), True), ((0.36, 0.36), True), ((0.5, 0.67), False), ((0.33, 0.5), False)]
)
def test_centred_is_the_middle_30_percent_of_the_picture(center, is_paid):
    credit = started(config=RewardConfig(centred=0.1))
    assert pay(credit, state(area=0.1, center=center))[0] == 0.1 * is_paid


@pytest.mark.parametrize(("row", "column", "is_paid"), [(2, 2, True), (3, 3, True), (1, 2, False), (2, 4, False)])
def test_only_what_is_under_the_crosshair_is_worked_on(row, column, is_paid):
    credit, tick = started(config=RewardConfig(first_hit=0.1)), state(area=0.2, feet=NEAR)
    tick.instance_EHW[0, row, column] = AIMED
    assert pay(credit, tick, "attack")[0] == 0.1 * is_paid


def test_an_episode_that_begins_opens_no_milestone_of_its_neighbour():
    credit = PartialCredit(RewardConfig(in_view=0.1), 2, discount=0.98)
    credit.begin([0, 1], [BREAK, BREAK], state(2))
    noop, running = ActionBatch.noop(2), np.zeros(2, np.int64)
    assert credit.pay(state(2, area=0.1), noop, running)[:, 0] == pytest.approx([0.1, 0.1])
    credit.begin([1], [BREAK], state(2))
    assert credit.pay(state(2, area=0.1), noop, running)[:, 0] == pytest.approx([0.0, 0.1])
