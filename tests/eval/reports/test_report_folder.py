"""Reports made from folders alone: on real, small worlds, by scripted agents."""

import dataclasses
import errno
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from eval.episodes.action_archive import unit_file
from eval.judging.judged_folder import read_folder
from eval.judging.origin import read_origin, write_origin
from eval.reports.report_folder import write_report
from mcrl.cli import main

_MAX_PAGE_BYTES = 20 * 2**20
_CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)


@pytest.fixture
def folder(judged_dir, tmp_path) -> Path:
    return Path(shutil.copytree(judged_dir, tmp_path / "eval"))


def test_a_report_is_made_from_the_folder_alone(folder):
    pytest.importorskip("cv2", reason="opencv cannot be imported here", exc_type=ImportError)
    summary = write_report(folder, num_videos=2)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert summary.num_tasks == 6
    assert len(list((folder / "videos").iterdir())) == page.count("<video") == 2
    num_failures = sum(not episode.success for episode in read_folder(folder).episodes_of("rl"))
    assert page.count("<article") == num_failures > 0
    assert "tiny.v1" in (folder / "report.md").read_text(encoding="utf-8")
    assert len(page) < _MAX_PAGE_BYTES


def test_a_report_can_be_made_again(folder):
    write_report(folder, num_videos=0)
    before = {name: (folder / name).read_bytes() for name in ("report.md", "report.html")}
    write_report(folder, num_videos=0)
    assert before == {name: (folder / name).read_bytes() for name in ("report.md", "report.html")}


def test_a_video_that_does_not_fit_into_the_page_costs_no_other_its_place(folder, monkeypatch):
    pytest.importorskip("cv2", reason="opencv cannot be imported here", exc_type=ImportError)
    write_report(folder, num_videos=4)
    first, *others = [path.stat().st_size for path in sorted((folder / "videos").iterdir())]
    assert first > min(others)
    monkeypatch.setattr("eval.reports.report_folder._MAX_EMBEDDED_BYTES", min(others))
    write_report(folder, num_videos=4)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("<video") == 1
    assert "Too large for this page, see videos/: 01_" in page


def test_lost_actions_cost_the_pictures_but_not_the_numbers(folder):
    write_report(folder, num_videos=0)
    numbers = (folder / "report.md").read_bytes()
    path = unit_file(folder, "rl", 0)
    path.write_bytes(path.read_bytes()[:100])
    write_report(folder, num_videos=2)
    assert (folder / "report.md").read_bytes() == numbers
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "No videos" in page
    assert path.name in page
    assert "<video" not in page


def test_where_nothing_can_be_filmed_the_videos_of_an_earlier_report_stay(folder):
    pytest.importorskip("cv2", reason="opencv cannot be imported here", exc_type=ImportError)
    unit_file(folder, "rl", 0).unlink()
    (folder / "videos").mkdir()
    (folder / "videos" / "01_break_success.webm").write_bytes(b"of an earlier report")
    write_report(folder, num_videos=2)
    assert (folder / "videos" / "01_break_success.webm").read_bytes() == b"of an earlier report"


def test_new_videos_take_the_place_of_the_old_ones_and_of_nothing_else(folder):
    pytest.importorskip("cv2", reason="opencv cannot be imported here", exc_type=ImportError)
    videos = folder / "videos"
    (videos / "cuts").mkdir(parents=True)
    old, own = ("07_break_success.webm", "101_pick_up_not_done.mp4"), ("notes.txt", "my_cut.webm", "01_intro.webm")
    for name in (*old, *own):
        (videos / name).write_bytes(b"")
    write_report(folder, num_videos=1)
    left = {path.name for path in videos.iterdir()}
    assert {*own, "cuts"} < left
    assert len(left - {*own, "cuts"}) == 1
    assert left.isdisjoint(old)


def test_an_episode_that_ends_otherwise_is_not_shown_and_the_page_says_so(folder):
    lines = (folder / "episodes.jsonl").read_text().splitlines()
    changed = [re.sub(r'"ticks":\d+', '"ticks":4', line) if '"row":"rl"' in line else line for line in lines]
    (folder / "episodes.jsonl").write_text("\n".join(changed) + "\n")
    write_report(folder, num_videos=2)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("is not shown: replayed to") >= 2
    assert "<video" not in page


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("episodes.jsonl", None, "holds no episodes.jsonl; name a folder that `mcrl eval` finished"),
        ("origin.json", None, "origin.json: no such file"),
        ("origin.json", "{}", "not where an evaluation comes from"),
        ("tasks.jsonl", None, "tasks.jsonl: no such file"),
        ("tasks.jsonl", "{}\n", "tasks.jsonl:1"),
        ("tasks.jsonl", "", "is not in tasks.jsonl"),
        ("tasks.jsonl", "\u00e9", "tasks.jsonl: not a text file"),
        ("episodes.jsonl", "\u00e9", "episodes.jsonl: not a text file"),
        ("episodes.jsonl", '{"row":\n', "episodes.jsonl:1: not a line of JSON"),
    ],
)
def test_what_is_missing_or_broken_is_named(folder, name, text, message):
    (folder / name).unlink()
    if text is not None:
        (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(message)):
        write_report(folder, num_videos=0)


def test_what_the_page_cannot_show_or_go_into_is_said_before_the_videos(folder, capsys, monkeypatch):
    (folder / "metrics.jsonl").write_text("half a li\n{}\n")
    assert main(["report", str(folder)]) == 2
    assert capsys.readouterr().err == f"mcrl: {folder}/metrics.jsonl:1: not a line of JSON; delete the line\n"
    (folder / "metrics.jsonl").unlink()

    def refuse(**_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    assert main(["report", str(folder)]) == 2
    assert f"nothing can be written to {folder}" in capsys.readouterr().err
    assert not (folder / "videos").exists()


def test_an_interrupted_evaluation_is_called_unfinished(folder):
    (folder / "episodes.jsonl").unlink()
    (folder / "plan.json").write_text("{}")
    with pytest.raises(ValueError, match="run the same `mcrl eval` again, it goes on"):
        read_folder(folder)


def test_text_from_the_command_line_cannot_break_the_page(folder):
    origin = dataclasses.replace(read_origin(folder), command="mcrl eval '</main><script>'", suite="<b>.v1")
    write_origin(origin, folder)
    write_report(folder, num_videos=0)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<b>.v1" not in page


@pytest.mark.slow
@pytest.mark.skipif(_CHROMIUM is None, reason="needs chromium, for instance `apt-get install chromium`")
def test_chromium_opens_the_page_without_an_error_or_a_request(folder, tmp_path):
    write_report(folder, num_videos=3)
    page = folder / "report.html"
    assert page.stat().st_size < _MAX_PAGE_BYTES
    assert _opened_in_chromium(page, tmp_path / "report") == (0, 0)
    # The same page with a picture from elsewhere and a broken script: both are seen.
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("<main>", '<main><img src="http://127.0.0.1:9/x.png"><script>nothing()</script>'))
    assert _opened_in_chromium(page, tmp_path / "broken") == (1, 1)


def _opened_in_chromium(page: Path, work_dir: Path) -> tuple[int, int]:
    """Return how many messages the page left on the console and how many addresses it asked for."""
    work_dir.mkdir()
    log, shot = work_dir / "net.json", work_dir / "page.png"
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--window-size=400,2000"]
    files = [f"--log-net-log={log}", f"--user-data-dir={work_dir / 'profile'}", f"--screenshot={shot}"]
    done = subprocess.run(
        [str(_CHROMIUM), *options, *files, page.as_uri()], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert shot.stat().st_size > 20_000
    # A file's origin is opaque, "null"; the browser's own errands have none.
    asked = re.findall(r'"initiator":"null"', log.read_text(encoding="utf-8", errors="replace"))
    return done.stderr.count(":CONSOLE"), len(asked)
