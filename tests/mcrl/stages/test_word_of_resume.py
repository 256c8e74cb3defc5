from dataclasses import replace

import pytest

from mcrl.recipes import RECIPES
from mcrl.stages.ppo_source import word_of_resume

SMOKE = RECIPES["smoke"]()


def _with(**rollout):
    return replace(SMOKE, rollout=replace(SMOKE.rollout, **rollout))


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (_with(ring_groups=4), "engines of a ring"),
        (_with(exact_staleness=True, max_staleness=1), "fragments that wait for their lag"),
        (replace(SMOKE, env=replace(SMOKE.env, backend="luanti")), "another engine"),
    ],
)
def test_a_run_whose_checkpoints_hold_no_environments_says_so_before_it_begins(config, why):
    assert why in word_of_resume(config)


@pytest.mark.parametrize("config", [SMOKE, _with(exact_resume=False, ring_groups=4), _with(placement="ray")])
def test_others_say_nothing(config):
    assert word_of_resume(config) is None
