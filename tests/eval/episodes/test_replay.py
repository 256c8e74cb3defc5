"""Episodes played again: on real, small worlds, by scripted agents."""

from dataclasses import replace

import numpy as np
import pytest

from eval.episodes.replay import UNFINISHED, Played, difference, replay
from eval.judging.judged_folder import read_folder


@pytest.fixture(scope="module")
def folder(judged_dir):
    return read_folder(judged_dir)


def _played(folder, row):
    episodes = folder.episodes_of(row)
    return episodes, [Played(folder.task_of[one.task_id], folder.actions_of(one)) for one in episodes]


@pytest.mark.parametrize("row", ["rl", "expert"])
def test_a_replay_ends_as_recorded_at_another_picture_size(folder, row):
    episodes, played = _played(folder, row)
    seen = replay(played, image_px=48)
    assert [difference(one, episode) for one, episode in zip(seen, episodes, strict=True)] == [None] * len(episodes)
    for one in seen:
        assert len(one.images) == len(one.poses) == len(one.keys) + 1
        assert one.images[0].shape == (48, 48, 3)
        assert one.goal.mask_HW.any()


def test_stills_are_the_first_and_last_picture_of_the_whole_replay(folder):
    _, played = _played(folder, "expert")
    for whole, ends in zip(
        replay(played, image_px=32), replay(played, image_px=32, with_every_image=False), strict=True
    ):
        assert len(ends.images) == 2
        assert (ends.images[0] == whole.images[0]).all()
        assert (ends.images[1] == whole.images[-1]).all()
        assert (ends.goal.image_HWC == whole.goal.image_HWC).all()
        assert np.array_equal(ends.place_T2, whole.place_T2)


def test_episodes_of_other_lengths_of_a_decision_are_played_side_by_side(folder):
    _, played = _played(folder, "rl")
    longest = max(played, key=lambda one: len(one.actions.buttons_DB))
    halves = replace(
        longest.actions,
        buttons_DB=longest.actions.buttons_DB.repeat(2, axis=0),
        camera_deg_D2=longest.actions.camera_deg_D2.repeat(2, axis=0),
        ticks_per_decision=longest.actions.ticks_per_decision // 2,
    )
    whole, halved = replay([longest, replace(longest, actions=halves)], image_px=16)
    for before, after in zip(whole.poses[:-1], halved.poses[::2], strict=False):  # the end may come within a decision
        assert np.array_equal(before, after)
    assert whole.ticks - longest.actions.ticks_per_decision < halved.ticks <= whole.ticks


def test_a_success_is_seen_in_the_events(folder):
    episodes, played = _played(folder, "expert")
    of_breaking = [
        one for one, episode in zip(replay(played, image_px=16), episodes, strict=True) if episode.skill == "break"
    ]
    assert of_breaking
    assert all(one.outcome == "success" and one.events for one in of_breaking)


def test_other_actions_than_recorded_are_called_a_difference(folder):
    episodes, played = _played(folder, "expert")
    half = len(played[0].actions.buttons_DB) // 2
    cut = replace(
        played[0].actions,
        buttons_DB=played[0].actions.buttons_DB[:half],
        camera_deg_D2=played[0].actions.camera_deg_D2[:half],
    )
    (seen,) = replay([replace(played[0], actions=cut)], image_px=16)
    assert seen.outcome == UNFINISHED
    assert "replayed to unfinished after" in difference(seen, episodes[0])
