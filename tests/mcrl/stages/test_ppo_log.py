import pytest

from mcrl.stages.ppo_log import flow_note, note, speed
from tests.mcrl.fragments import make_fragment

METRICS = {"learner_idle": 0.25, "workers_idle": 0.5, "fragments_waiting": 3.0, "staleness": 0.75}


def test_the_status_line_tells_how_acting_and_learning_keep_up():
    assert flow_note(METRICS) == "idle learner 25% workers 50%  queue 3  lag 0.8"


def test_drops_losses_and_restarts_are_in_the_line_only_where_there_are_some():
    calm = {"fragments_dropped/stale": 0.0, "worker_restarts": 0.0, "queue_restarts": 0.0, "fragments_lost": 0.0}
    assert flow_note(METRICS | calm) == flow_note(METRICS)
    rough = {"fragments_dropped/stale": 2.0, "worker_restarts": 1.0, "queue_restarts": 1.0, "fragments_lost": 8.0}
    assert flow_note(METRICS | rough).endswith("dropped 2 stale  lost 8  restarts 1  restarts of the queue 1")


def test_where_they_take_turns_the_line_says_nothing_of_it():
    metrics = METRICS | {"entropy": 1.0, "explained_variance": 0.5, "steps_per_s": 100.0}
    assert "idle" not in note(metrics)
    assert note(metrics, takes_turns=False).endswith(flow_note(metrics))


def test_without_a_reference_the_line_says_nothing_of_it():
    metrics = METRICS | {"entropy": 1.0, "explained_variance": 0.5, "steps_per_s": 100.0}
    assert "kl_ref" not in note(metrics)
    assert "kl_ref 0.125" in note(metrics | {"kl_to_reference": 0.125})


def test_workers_are_busy_for_their_collects_and_all_envs_of_one_share_it():
    fragments = [make_fragment(env_index=env, sequence=4, end_ns=500_000_000) for env in range(3)]
    metrics = speed(fragments, 10.0, 10.4, 11.0, num_workers=2)
    assert metrics["learner_idle"] == pytest.approx(0.4)
    assert metrics["workers_idle"] == pytest.approx(0.75)
