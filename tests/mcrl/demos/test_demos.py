"""Claims about demonstrations on disk: exact, and in LeRobot's layout."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcrl.demos import lerobot_columns
from mcrl.demos.episode import episodes_of, fragments_of
from tests.mcrl.demos.demo_episodes import ARRAYS, assert_same, made_episode, recorded, same_goal, written


def test_fragments_taken_apart_come_together_as_they_were():
    before = sorted(recorded(), key=lambda f: (f.env_index, f.sequence))
    after = fragments_of(list(episodes_of(before[::-1])), fragment_steps=10, memory=before[0].memory)
    assert len(before) == len(after)
    for one, two in zip(before, after, strict=True):
        for name in (*ARRAYS, "first_T", "goal_index_T", "log_prob_T", "value_T", "bootstrap_value_T"):
            assert np.array_equal(getattr(one, name), getattr(two, name)), name
        counts = ~one.first_T
        assert np.array_equal(one.previous_action_TA[counts], two.previous_action_TA[counts])
        assert (one.task_ids, one.families) == (two.task_ids, two.families)
        assert all(same_goal(*pair) for pair in zip(one.goals, two.goals, strict=True))


@settings(max_examples=40, deadline=None)
@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=6), fragment_steps=st.integers(1, 12))
def test_every_step_of_every_episode_is_in_exactly_one_fragment(lengths, fragment_steps):
    episodes = [made_episode(length, seed) for seed, length in enumerate(lengths)]
    fragments = fragments_of(episodes, fragment_steps=fragment_steps, memory={})
    assert all(fragment.num_steps == fragment_steps for fragment in fragments)
    image_SHWC = np.concatenate([fragment.image_THWC for fragment in fragments])
    assert np.array_equal(image_SHWC[: sum(lengths)], np.concatenate([episode.image_THWC for episode in episodes]))
    valid_S = np.concatenate([fragment.is_valid_T for fragment in fragments])
    assert np.array_equal(valid_S[: sum(lengths)], np.concatenate([episode.is_valid_T for episode in episodes]))
    assert not valid_S[sum(lengths) :].any()
    first_S = np.concatenate([fragment.first_T for fragment in fragments])
    assert np.flatnonzero(first_S[: sum(lengths)]).tolist() == np.cumsum([0, *lengths[:-1]]).tolist()
    names = [f.task_ids[index] for f in fragments for index in f.goal_index_T]
    assert names[: sum(lengths)] == [episode.task_id for episode in episodes for _ in range(episode.num_steps)]


def test_what_is_written_is_read_back_to_the_bit(lerobot, tmp_path):
    episodes = written(lerobot, tmp_path / "demos", list(episodes_of(recorded())))
    read = lerobot[1].read_dataset(tmp_path / "demos")
    about = read.about
    assert (about.split, about.action_repeat_ticks, about.image_px, about.num_steps) == ("train", 4, 16, 120)
    for one, two in zip(episodes, read.episodes, strict=True):
        assert_same(one, two)


def test_many_files_are_read_in_order(lerobot, tmp_path):
    episodes = [made_episode(3, seed) for seed in range(5)]
    written(lerobot, tmp_path / "demos", episodes, file_mb=0)
    assert len(list((tmp_path / "demos" / "data").glob("*/*.parquet"))) == 5
    for one, two in zip(episodes, lerobot[1].read_dataset(tmp_path / "demos").episodes, strict=True):
        assert_same(one, two)


def test_a_goal_is_stored_once_an_episode(lerobot, tmp_path):
    def size(num_steps):
        episode = made_episode(num_steps, image_px=64)
        episode.image_THWC[:] = 0
        written(lerobot, tmp_path / str(num_steps), [episode])
        return next((tmp_path / str(num_steps) / "data").glob("*/*.parquet")).stat().st_size

    one_goal_bytes = 64 * 64 * 3
    assert size(100) - size(1) < one_goal_bytes


def test_the_documentation_shows_what_the_writer_writes_beside_lerobot(lerobot, tmp_path):
    written(lerobot, tmp_path / "demos")
    about = json.loads((tmp_path / "demos/meta/mcrl.json").read_text())
    info = json.loads((tmp_path / "demos/meta/info.json").read_text())
    shown = next(line for line in lerobot_columns.__doc__.splitlines() if line.startswith("    {"))
    assert json.loads(shown) == about
    assert f'"fps" in meta/info.json is then {info["fps"]}:' in lerobot_columns.__doc__


def test_frames_a_second_are_rounded_and_never_none():
    assert [lerobot_columns.info_fps(ticks) for ticks in (1, 3, 4, 8, 20, 60)] == [20, 7, 5, 2, 1, 1]


def test_a_folder_that_holds_something_is_not_written_to(lerobot, tmp_path):
    (tmp_path / "note").write_text("mine")
    with pytest.raises(ValueError, match="nothing is overwritten"):
        written(lerobot, tmp_path)
    with pytest.raises(ValueError, match="no episode to write"):
        lerobot[0].write_dataset(tmp_path / "new", [], split="train", action_repeat_ticks=4)
