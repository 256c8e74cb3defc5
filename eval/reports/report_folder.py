"""The report of a judged suite, made from its folder alone: report.md, report.html and videos/."""

import logging
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from eval.episodes.records import CAUSES, JudgedEpisode
from eval.episodes.replay import Played, Replay, difference, replay
from eval.episodes.schema_text import schema_text
from eval.judging.judged_folder import JudgedFolder, read_folder
from eval.reports.episode_choice import FAILURE_RULE, VIDEO_RULE, episodes_to_film, failures_to_show
from eval.reports.episode_sections import EmbeddedVideo, ShownEpisodes
from eval.reports.report import Summary, summarise
from eval.reports.report_html import page
from eval.reports.report_markdown import markdown
from eval.reports.training_plots import training_plots
from task_synthesis.libraries.library import write_whole
from worlds.anvil import Save, open_save
from worlds.types import TICK_S

_LOG = logging.getLogger(__name__)

NUM_FAILURES = 24
VIDEOS_FOLDER = "videos"
# As _write_videos names them: number, skill and cause.
_OWN_VIDEO = re.compile(rf"\d{{2,}}_[a-z_]+_({'|'.join(CAUSES)})\.(webm|mp4)")
_PICTURE_PX = 192
# A page must open from a mail or a pull request. Videos that do not fit stay in their folder.
_MAX_EMBEDDED_BYTES = 12 * 2**20
_NO_OPENCV = "No pictures: opencv cannot be imported here ({error}); `mcrl doctor` says how to mend it."

OnProgress = Callable[[str, int, int], None]


def _nobody_hears(label: str, num_done: int, total: int) -> None:
    pass


def write_report(
    out_dir: Path,
    *,
    num_videos: int = 12,
    metrics_path: Path | None = None,
    save: Path | None = None,
    on_progress: OnProgress = _nobody_hears,
) -> Summary:
    """Write report.md, report.html and videos/ into a folder that `mcrl eval` finished, and return the numbers.

    Args:
        out_dir: holds tasks.jsonl, episodes.jsonl, origin.json and actions/.
        num_videos: at most so many episodes of the judged row are filmed; 0 shows no pictures of episodes at all.
        metrics_path: metrics.jsonl of the training, to plot; None or a missing file plots none.
        save: folder of the real Minecraft world that the tasks are in, if they are in one.
        on_progress: hears what is being made, how many are done and how many there are.

    Raises:
        ValueError: the folder is not a finished evaluation, or the metrics are none; names the file and line.
    """
    folder = read_folder(out_dir)
    summary = summarise(folder.episodes, folder.origin)
    saves = [open_save(save)] if save is not None else []
    plots = training_plots(metrics_path) if metrics_path else []  # before the videos: broken lines must not cost those
    shown = _show(folder, summary.main_row, num_videos, saves, on_progress) if num_videos else ShownEpisodes()
    write_whole(out_dir / "report.md", markdown(summary))
    write_whole(out_dir / "report.html", page(summary, plots=plots, shown=shown, schema_text=schema_text()))
    return summary


def _show(
    folder: JudgedFolder, row: str, num_videos: int, saves: Sequence[Save], on_progress: OnProgress
) -> ShownEpisodes:
    """Return videos and failures of one row; what cannot be shown is said in the notes."""
    try:
        from eval.reports.failure_gallery import shown_failures
    except ImportError as error:
        reason = _NO_OPENCV.format(error=error)
        _LOG.warning(reason)
        return ShownEpisodes(video_note=reason)
    episodes = folder.episodes_of(row)
    to_film, to_show = episodes_to_film(episodes, num_videos), failures_to_show(episodes, NUM_FAILURES)
    filmed, film_notes = _seen(folder, to_film, "videos", saves, on_progress)
    failed, fail_notes = _seen(folder, to_show, "failures", saves, on_progress, with_every_image=False)
    videos, video_notes = _write_videos(filmed, folder.path / VIDEOS_FOLDER, on_progress)
    drawn_px = f"Drawn at {_PICTURE_PX} px, whatever the policy saw."
    return ShownEpisodes(
        videos=videos,
        video_note=" ".join([f"{VIDEO_RULE}. {drawn_px}"] * bool(videos) + film_notes + video_notes),
        failures=shown_failures(failed, saves=saves),
        failure_note=" ".join([f"Failures of {row}. {FAILURE_RULE}."] * bool(failed) + fail_notes),
    )


def _seen(
    folder: JudgedFolder,
    episodes: Sequence[JudgedEpisode],
    what: str,
    saves: Sequence[Save],
    on_progress: OnProgress,
    *,
    with_every_image: bool = True,
) -> tuple[list[tuple[JudgedEpisode, Replay]], list[str]]:
    """Play episodes again; return those that ended as recorded, and a sentence about each that cannot be shown."""
    if not episodes:
        return [], []

    def heard(num_done: int) -> None:
        on_progress(f"replaying for {what}", num_done, len(episodes))

    try:
        played = [Played(folder.task_of[episode.task_id], folder.actions_of(episode)) for episode in episodes]
        replays = replay(
            played, image_px=_PICTURE_PX, with_every_image=with_every_image, saves=saves, on_progress=heard
        )
    except ValueError as error:
        # A lost archive, save or resource pack costs the pictures, never the numbers.
        _LOG.warning("no %s: %s", what, error)
        return [], [f"No {what}: {error}."]
    notes, same = [], []
    for episode, seen in zip(episodes, replays, strict=True):
        differs = difference(seen, episode)
        if differs is None:
            same.append((episode, seen))
        else:
            notes.append(f"Task {episode.task_id} is not shown: {differs}. Another engine version has played it?")
            _LOG.warning("%s", notes[-1])
    return same, notes


def _write_videos(
    filmed: Sequence[tuple[JudgedEpisode, Replay]], folder: Path, on_progress: OnProgress
) -> tuple[list[EmbeddedVideo], list[str]]:
    """Write videos and return those that the page holds, with sentences about those that it does not.

    Videos of an earlier report go once the new ones are there; where nothing was filmed they stay.
    """
    from eval.episodes import video
    from eval.library.task_pictures import jpeg_uri, outlined

    if not filmed:
        return [], []
    folder.mkdir(exist_ok=True)
    embedded, num_bytes, left_out, written = [], 0, [], set()
    try:
        for number, (episode, seen) in enumerate(filmed, start=1):
            on_progress("writing videos", number - 1, len(filmed))
            name = f"{number:02d}_{episode.skill}_{episode.cause}"
            path = video.write_video(seen, folder / name)
            written.add(path.name)
            if num_bytes + path.stat().st_size > _MAX_EMBEDDED_BYTES:
                left_out.append(path.name)
                continue
            num_bytes += path.stat().st_size
            embedded.append(
                EmbeddedVideo(
                    caption=_caption(episode, video.speed_up(seen)),
                    is_success=episode.success,
                    goal_uri=jpeg_uri(outlined(seen.goal.image_HWC, seen.goal.mask_HW)),
                    video_uri=video.data_uri(path),
                    poster_uri=video.poster_uri(seen),
                )
            )
        on_progress("writing videos", len(filmed), len(filmed))
    except RuntimeError as error:
        _LOG.warning("no videos: %s", error)
        return embedded, [f"No more videos: {error}."]
    for path in folder.iterdir():
        # Of an earlier report on the same folder, by another rule or number. Whatever else lies there is the user's.
        if _OWN_VIDEO.fullmatch(path.name) and path.name not in written:
            path.unlink()
    return embedded, [f"Too large for this page, see {folder.name}/: {', '.join(left_out)}."] * bool(left_out)


def _caption(episode: JudgedEpisode, speed_up: int) -> str:
    ended = "success" if episode.success else episode.cause.replace("_", " ")
    return (
        f"{episode.family.replace('_', ' ')}, {episode.band}, {episode.biome.replace('_', ' ')}: {ended} "
        f"after {episode.ticks * TICK_S:.1f} s" + (f", shown {speed_up} times as fast" if speed_up > 1 else "")
    )
