"""The moving picture of the README, from a small real evaluation."""

from dataclasses import replace

import numpy as np
import pytest

cv2 = pytest.importorskip("cv2", reason="opencv cannot be imported here", exc_type=ImportError)

from eval.episodes.replay import Played, replay  # noqa: E402
from eval.judging.judged_folder import read_folder  # noqa: E402
from eval.showcase.moving_picture import frames_of, shown_episodes, write_animation  # noqa: E402
from tests.eval.judged_folder import write_folder  # noqa: E402

knows_animations = pytest.mark.skipif(
    not hasattr(cv2, "imencodeanimation"), reason=f"opencv {cv2.__version__} knows no animations"
)


@pytest.fixture(scope="module")
def solved_dir(tmp_path_factory):
    path = tmp_path_factory.mktemp("solved")
    write_folder(path, num_tasks=6, rows=("expert",))
    return path


def with_lengths(judged, ticks):
    return replace(judged, episodes=[replace(episode, ticks=ticks) for episode in judged.episodes])


def test_each_skill_is_shown_once_by_the_first_success_of_a_fitting_length(solved_dir):
    judged = read_folder(solved_dir)
    long = with_lengths(judged, 100)
    shown = shown_episodes(long)
    assert [episode.skill for episode in shown] == list(dict.fromkeys(episode.skill for episode in shown))
    for episode in shown:
        first = next(one for one in long.episodes_of("expert") if one.skill == episode.skill and one.goal_area >= 0.006)
        assert episode == first


def test_a_policy_that_solves_nothing_in_time_has_no_picture(solved_dir):
    with pytest.raises(ValueError, match="solved no task in 80 to 240 ticks"):
        shown_episodes(with_lengths(read_folder(solved_dir), 79))


@knows_animations
def test_the_picture_has_a_frame_for_each_view_of_the_longest_episode_and_the_same_bytes_each_time(
    solved_dir, tmp_path
):
    judged = read_folder(solved_dir)
    shown = shown_episodes(with_lengths(judged, 100))
    played = [Played(judged.task_of[episode.task_id], judged.actions_of(episode)) for episode in shown]
    for name in ("a.webp", "b.webp"):
        write_animation(frames_of(replay(played, image_px=192)), tmp_path / name)
    assert (tmp_path / "a.webp").read_bytes() == (tmp_path / "b.webp").read_bytes()
    is_read, animation = cv2.imreadanimation(str(tmp_path / "a.webp"))
    assert is_read
    assert len(animation.frames) == max(len(one.actions.buttons_DB) for one in played) + 1


@knows_animations
def test_only_webp_is_written(tmp_path):
    with pytest.raises(ValueError, match=r"moving\.gif: an animation is a \.webp file"):
        write_animation([], tmp_path / "moving.gif")


@knows_animations
def test_a_picture_that_cannot_be_written_says_why(tmp_path):
    (tmp_path / "moving.webp").mkdir()
    with pytest.raises(IsADirectoryError) as failed:
        write_animation([np.zeros((16, 16, 3), np.uint8)] * 2, tmp_path / "moving.webp")
    assert failed.value.filename == str(tmp_path / "moving.webp")
