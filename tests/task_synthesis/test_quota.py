"""Claims about shares: whatever is rejected, as many tasks of each skill and band come out as were asked for."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from task_synthesis.quota import Quota
from task_synthesis.skills import SKILLS as ALL_SKILLS
from task_synthesis.synthesis_config import at_scale
from task_synthesis.synthesize import Synthesizer
from tests.task_synthesis.test_skills import SIDE, tasks_of_all_skills

SKILLS = {"approach": 1.0, "break": 1.0, "hunt": 2.0}
BANDS = {"near": 1.0, "hard": 1.0, "easy": 0.0}


def run(num_tasks: int, *, num_slots: int, success: dict[tuple[str, str], float], seed: int) -> list[tuple[str, str]]:
    rng = np.random.default_rng(seed)
    quota = Quota(SKILLS, BANDS, num_tasks=num_tasks, rng=rng)
    made: list[tuple[str, str]] = []
    while len(made) < num_tasks:
        tried = [quota.take(rng, Counter()) for _ in range(min(num_slots, quota.num_open))]
        accepted = [cell for cell in tried if rng.random() < success.get(cell, 0.9)]
        quota.settle(accepted)
        made += accepted
    return made


@settings(max_examples=40, deadline=None)
@given(num_tasks=st.integers(1, 300), num_slots=st.integers(1, 20), seed=st.integers(0, 10**6))
def test_shares_are_exact_however_unevenly_candidates_fail(num_tasks, num_slots, seed):
    made = Counter(run(num_tasks, num_slots=num_slots, success={("hunt", "hard"): 0.1}, seed=seed))
    assert made.total() == num_tasks
    for skill in SKILLS:
        for band in ("near", "hard"):
            exact = num_tasks * SKILLS[skill] / 8
            assert np.floor(exact) <= made[skill, band] <= np.ceil(exact)


def test_the_shares_of_what_comes_first_are_about_right_too():
    made = run(800, num_slots=16, success={("hunt", "hard"): 0.5}, seed=0)
    for num_first in (100, 200, 400):
        share = Counter(made[:num_first])["hunt", "hard"] / num_first
        assert share == pytest.approx(0.25, abs=0.06)


def test_a_cell_without_any_success_is_named_in_an_error():
    with pytest.raises(ValueError, match="5000 candidates for skill 'hunt' in band 'hard' gave no task"):
        run(100, num_slots=8, success={("hunt", "hard"): 0.0}, seed=0)


def test_synthesised_tasks_have_the_shares_of_their_config():
    tasks, _ = tasks_of_all_skills()
    counts = Counter((task.skill, task.band) for task in tasks)
    assert len(counts) == len(ALL_SKILLS) * 3
    assert max(counts.values()) - min(counts.values()) <= 1


def test_tasks_of_exact_shares_depend_on_seed_and_number_alone():
    config = at_scale(side_blocks=SIDE, bands={"near": 1.0}, skills={"break": 1.0, "hunt": 1.0}, image_px=64)
    first, again = (Synthesizer(config, split="val", seed=3, num_parallel=4).run(10) for _ in range(2))
    assert first == again
