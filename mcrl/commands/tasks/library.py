"""`mcrl synth --check | --stats | --gallery DIR`: verify, count and show a library of tasks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from mcrl.commands.options import read_options
from mcrl.commands.writable import check_can_write
from worlds.spec import SPLITS, Split

if TYPE_CHECKING:
    from task_synthesis.task import TaskSpec

EXIT_FAILED = 1


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Verify a library: make a sample of its tasks again, twice, and let the expert play them."""

    check: Path
    """Folder of the library, a file of tasks, or a suite of `mcrl suites`."""
    sample: int = 50
    """Tasks that are checked, evenly spread over the skills."""
    seed: int = 0
    """Of the choice of tasks."""
    out: Path | None = None
    """File for the expert's episodes, one line of JSON each, in the schema of episodes.jsonl; None writes none."""

    def __post_init__(self) -> None:
        if self.sample < 1:
            raise ValueError(f"--sample must be at least 1, got {self.sample}")
        if self.seed < 0:
            raise ValueError(f"--seed must not be negative, got {self.seed}")
        if self.out is not None and self.out.suffix != ".jsonl":
            raise ValueError(f"--out {self.out}: the file must end in .jsonl")


@dataclass(frozen=True, kw_only=True)
class StatsOptions:
    """Count the tasks of a library. It reads what it counts and no more: `mcrl synth --check` verifies them."""

    stats: Path
    """Folder of the library, a file of tasks, or a suite of `mcrl suites`."""


@dataclass(frozen=True, kw_only=True)
class GalleryOptions:
    """Show a sample of a library's tasks on one HTML page, nothing to load beside it."""

    gallery: Path
    """Folder of the library, a file of tasks, or a suite of `mcrl suites`."""
    out: Path
    """The .html file."""
    sample: int = 35
    """Tasks on the page, evenly spread over the skills."""
    seed: int = 0
    """Of the choice of tasks."""

    def __post_init__(self) -> None:
        if self.out.suffix != ".html":
            raise ValueError(f"--out {self.out}: the file must end in .html")
        if self.sample < 1:
            raise ValueError(f"--sample must be at least 1, got {self.sample}")
        if self.seed < 0:
            raise ValueError(f"--seed must not be negative, got {self.seed}")


def look_at_library(look: str, args: Sequence[str]) -> int:
    """Do what `--<look>` asks for."""
    return LOOKS[look](args)


def _check(args: Sequence[str]) -> int:
    options = read_options(CheckOptions, args, prog="mcrl synth --check", description=str(CheckOptions.__doc__))
    if options.out is not None:
        check_can_write(options.out, is_folder=False)
    from eval.episodes.records import write_jsonl
    from eval.library.library_check import check_tasks, mask_side_px
    from eval.library.task_sample import sample_tasks
    from mcrl.commands.progress import counted_progress
    from mcrl.commands.table import print_table
    from task_synthesis.libraries.library import MANIFEST_FILE, load_tasks, read_manifest

    path = _place_of(options.check)
    tasks = load_tasks(path, split=_split_of(path))
    _check_generated(tasks, path, "--check")
    tasks = sample_tasks(tasks, options.sample, seed=options.seed)
    has_manifest = (options.check / MANIFEST_FILE).is_file()
    mask_px = read_manifest(options.check)["config"]["image_px"] if has_manifest else mask_side_px(tasks)
    with counted_progress("steps of the check", 2 * len(tasks)) as on_progress:  # making a task again, playing it
        report = check_tasks(tasks, mask_px=mask_px, on_progress=on_progress)
    rows = [
        [line.skill, str(line.num_tasks), str(line.num_exact), str(line.num_solved), line.failures]
        for line in report.by_skill()
    ]
    print_table(
        f"{options.check}: {len(tasks)} tasks", ["skill", "tasks", "exact", "solved", "failures by cause"], rows
    )
    for episode in report.failures():
        print(
            f"expert failed {episode.task_id} {episode.family} {episode.band}: {episode.cause} after {episode.ticks} "
            f"of {episode.max_ticks} ticks, {episode.closest_blocks:g} blocks away at best"
        )
    for fault in report.faults:
        print(f"{fault.task_id} {fault.family}: {fault.what}")
    if options.out is not None:
        write_jsonl(report.episodes, options.out)
        print(f"{options.out}: {len(report.episodes)} episodes of the expert")
    print("every checked task is exact" if not report.faults else f"{len(report.faults)} faults")
    return EXIT_FAILED if report.faults else 0


def _stats(args: Sequence[str]) -> int:
    options = read_options(StatsOptions, args, prog="mcrl synth --stats", description=str(StatsOptions.__doc__))
    from eval.library.task_stats import task_stats
    from mcrl.commands.table import print_table
    from task_synthesis.libraries.library import read_lines

    path = _place_of(options.stats)
    if next(read_lines(path), None) is None:
        raise ValueError(f"{path}: holds no task; make some with `mcrl synth`")
    stats = task_stats(read_lines(path))
    for table in stats.tables:
        print_table(table.title, table.header, table.rows)
    for histogram in stats.histograms:
        rows = [[share.label, str(share.count), "#" * round(40 * share.of_largest)] for share in histogram.shares]
        print_table(histogram.title, [histogram.name, "tasks", ""], rows)
    return 0


def _gallery(args: Sequence[str]) -> int:
    options = read_options(GalleryOptions, args, prog="mcrl synth --gallery", description=str(GalleryOptions.__doc__))
    check_can_write(options.out, is_folder=False)
    from eval.library.gallery import gallery_page
    from eval.library.task_sample import sample_tasks
    from eval.numbers.counted import counted
    from mcrl.commands.progress import counted_progress
    from task_synthesis.libraries.library import load_tasks, write_whole

    path = _place_of(options.gallery)
    tasks = load_tasks(path, split=_split_of(path))
    _check_generated(tasks, path, "--gallery")
    num_tasks = len(tasks)
    tasks = sample_tasks(tasks, options.sample, seed=options.seed)
    with counted_progress("drawing tasks", len(tasks)) as on_progress:
        title = f"Library {options.gallery.resolve().name}"
        page = gallery_page(tasks, title=title, num_all=num_tasks, on_progress=on_progress)
    write_whole(options.out, page)
    print(f"{options.out}: {len(tasks)} of {counted(num_tasks, 'task')}, {len(page) / 2**20:.1f} MiB")
    return 0


def _place_of(given: Path) -> Path:
    """Return where the tasks are: of a frozen suite that is named, its file."""
    from eval.suites.suites import SUITES

    suite = SUITES.get(str(given))
    return given if suite is None or given.exists() else suite.path


def _check_generated(tasks: "Sequence[TaskSpec]", path: Path, look: str) -> None:
    """Raise ValueError where tasks are in worlds that the built-in engine does not make."""
    from mcrl.tasks.engine_tasks import OWN_PREFIX
    from worlds.adapters.catalogue import BUILT_IN, ENGINES

    for number, task in enumerate(tasks, 1):
        source = task.world.source
        if source == "generated":
            continue
        engine = next((name for name, entry in ENGINES.items() if entry.source == source), source)
        option, where = f"--backend {engine}", ""
        if source.startswith("anvil:"):
            option = "--save FOLDER"
        elif source.startswith(OWN_PREFIX):
            option, where = "--backend FILE", f", with the file of your engine {source.removeprefix(OWN_PREFIX)}"
        place = quote(f"{path}:{number}")
        raise ValueError(
            f"{look} {path}: task {number} is in a world of {source!r}, and {look} is for worlds that {BUILT_IN} "
            f"makes; see the task with `mcrl play {option} --task {place} --policy small --out seen.mp4`{where}"
        )


def _split_of(path: Path) -> Split:
    """Return the split of a library's first task; load_tasks then refuses tasks of another."""
    from task_synthesis.libraries.library import read_lines
    from task_synthesis.task import from_json_line

    for where, line in read_lines(path):
        return from_json_line(line, where=where).split
    return SPLITS[0]


LOOKS: dict[str, Callable[[Sequence[str]], int]] = {"check": _check, "stats": _stats, "gallery": _gallery}
