"""The moving picture of the README: one solved task of each of five skills, its goal above, the agent's view below.

Made from the recorded actions of an evaluation, which are played again:

    mcrl eval small --suite unseen_seeds --num-tasks 100 --out judged
    python -m eval.showcase.moving_picture judged eval/pictures/moving.webp

H W C image.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from eval.episodes.records import JudgedEpisode
from eval.episodes.replay import Played, Replay, replay
from eval.episodes.video import VIEW_PX, frame_of
from eval.judging.judged_folder import JudgedFolder, read_folder
from eval.judging.row_names import main_row
from eval.library.task_pictures import outlined
from task_synthesis.libraries.library import write_whole
from task_synthesis.skills import SKILLS

_MOST_COLUMNS = 5  # more, and a page of GitHub shrinks them
_LEAST_GOAL_AREA = 0.006
_SHOWN_TICKS = range(80, 241)
"""How long a shown episode is: shorter ones are over before they are seen, longer ones make the others wait."""
_FRAME_MS = 100
"""Time on the screen of a decision of 4 ticks (200 ms): twice as fast as life."""
_HOLD_MS = 2500
_GAP_PX = 4
_TITLE_PX = 20
_WEBP_QUALITY = 60  # 1.2 MB for five columns of 52 frames


def shown_episodes(judged: JudgedFolder) -> list[JudgedEpisode]:
    """Return of each skill, up to five, the first solved task of the suite that is neither very short nor very long.

    Raises:
        ValueError: no skill has one.
    """
    row = main_row([episode.row for episode in judged.episodes])
    shown = []
    for skill in SKILLS:
        fitting = (
            episode
            for episode in judged.episodes_of(row)
            if episode.skill == skill
            and episode.success
            and episode.ticks in _SHOWN_TICKS
            and episode.goal_area >= _LEAST_GOAL_AREA
        )
        shown += [episode for episode in [next(fitting, None)] if episode is not None]
    if not shown:
        raise ValueError(
            f"{judged.path}: row {row!r} solved no task in {_SHOWN_TICKS.start} to {_SHOWN_TICKS.stop - 1} ticks; "
            "judge more tasks, or another policy"
        )
    return shown[:_MOST_COLUMNS]


def frames_of(replays: Sequence[Replay]) -> list[np.ndarray]:
    """Return the frames of all episodes side by side, uint8 [H, W, 3] BGR; one that is over shows its end."""
    gap_HWC = np.full((_TITLE_PX + VIEW_PX + _GAP_PX, VIEW_PX, 3), 255, np.uint8)
    heads = []
    for one in replays:
        head_HWC = gap_HWC.copy()
        words = one.task.family.replace("_", " ").replace("/", ": ")
        cv2.putText(head_HWC, words, (2, 15), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (40, 40, 40), 1, cv2.LINE_AA)
        goal_HWC = outlined(one.goal.image_HWC, one.goal.mask_HW)
        head_HWC[_TITLE_PX : _TITLE_PX + VIEW_PX] = goal_HWC[..., ::-1]
        heads.append(head_HWC)
    frames = []
    for index in range(max(len(one.images) for one in replays)):
        columns: list[np.ndarray] = []
        for head_HWC, one in zip(heads, replays, strict=True):
            view_HWC = frame_of(one, min(index, len(one.images) - 1))
            column_HWC = np.concatenate([head_HWC, view_HWC])
            columns += [column_HWC, np.full((len(column_HWC), _GAP_PX, 3), 255, np.uint8)]
        frames.append(np.concatenate(columns[:-1], axis=1))
    return frames


def write_animation(frames: Sequence[np.ndarray], path: Path) -> None:
    """Write frames, uint8 [H, W, 3] BGR, as an endless animation; the last frame stays for a while.

    Raises:
        ValueError: the file is none that this opencv can animate.
        OSError: it cannot be written, with the reason.
    """
    if not hasattr(cv2, "imencodeanimation"):
        raise ValueError(f"{path}: opencv {cv2.__version__} writes no animations; 'pip install -U opencv-python'")
    if path.suffix != ".webp":
        raise ValueError(f"{path}: an animation is a .webp file; name one")
    animation = cv2.Animation()
    animation.frames = list(frames)
    animation.durations = [_FRAME_MS] * (len(frames) - 1) + [_HOLD_MS]
    animation.loop_count = 0  # for ever
    _, packed_N = cv2.imencodeanimation(path.suffix, animation, [cv2.IMWRITE_WEBP_QUALITY, _WEBP_QUALITY])
    write_whole(path, packed_N.tobytes())


def main(judged_dir: Path, path: Path) -> None:
    """Write the moving picture of an evaluation."""
    judged = read_folder(judged_dir)
    episodes = shown_episodes(judged)
    played = [Played(judged.task_of[episode.task_id], judged.actions_of(episode)) for episode in episodes]
    write_animation(frames_of(replay(played, image_px=VIEW_PX)), path)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
