"""`mcrl synth`: make a library of tasks, drawn or, by `--from FILE`, from what a person wrote, or look at one."""

import dataclasses
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from mcrl.commands.options import read_options
from mcrl.commands.writable import check_out_folder
from mcrl.provenance import num_usable_cores
from worlds.spec import Detail, Split

if TYPE_CHECKING:
    from task_synthesis.libraries.library_plan import LibraryPlan
    from task_synthesis.libraries.library_processes import ShardMaker

_ALL = ("all",)
# Sides of the worlds to choose from: half a side is as far as two things on a torus can be apart.
_SIDES_BLOCKS = (64, 128)
# What the settings are called here, in whose terms the config refuses.
_OPTION_OF = {
    "synthesis.skills": "--skills",
    "synthesis.bands": "--bands",
    "synthesis.biomes": "--biomes",
    "side_blocks": "--size",
}


@dataclass(frozen=True, kw_only=True)
class SynthOptions:
    """What to make and where to put it. The same command again goes on where it was, or does nothing."""

    num_tasks: Annotated[int, tyro.conf.arg(aliases=["-n"])]
    """How many tasks; up to --tasks-per-shard they are one file, tasks.jsonl, beyond that gzipped shards."""
    out: Path
    """Folder of the library: the tasks and manifest.json."""
    split: Split = "train"
    """Worlds of which split."""
    skills: tuple[str, ...] = ("approach", "break")
    """Skills, drawn alike often. "all" takes every skill in equal shares of every shard, and wherever an option below
    is not given the large library's choice: all bands, full worlds of 128 blocks, 128 px, views from near and far,
    starts without a sight."""
    bands: tuple[str, ...] | None = None
    """Distance bands, drawn alike often, or all; None is near and easy, or all with --skills all."""
    biomes: tuple[str, ...] = _ALL
    """Biomes, drawn alike often, or all that training may see; those held out of it fit --split held_out alone."""
    detail: Detail | None = None
    """Bare terrain and trees, or plants, caves and structures too; None is plain, or full with --skills all."""
    companions: bool = False
    """Put a block of another kind beside the target, where the goal picture shows it, and others beside the other
    objects of its kind: then the picture tells which one is meant."""
    seed: int = 0
    """Another seed gives other worlds and tasks of the same split."""
    size: int | None = None
    """Side of the worlds along x and z, in blocks: 32, 64, 128 or 256; None takes the smallest that holds the bands,
    at least 128 with --skills all."""
    image_px: int | None = None
    """Side of the goal picture in which the target's pixels are counted; None is 64, or 128 with --skills all."""
    tasks_per_shard: int | None = None
    """Tasks of a shard; None is 2500. It decides the tasks, the number of workers does not."""
    num_workers: int | None = None
    """Processes that make shards, one thread each; None is the number of processor cores."""
    placement: Literal["processes", "ray"] = "processes"
    """Where shards are made: processes of this machine, or tasks of a Ray cluster."""

    def __post_init__(self) -> None:
        if self.num_tasks < 1:
            raise ValueError(f"--num-tasks must be at least 1, got {self.num_tasks}")
        if self.seed < 0:
            raise ValueError(f"--seed must not be negative, got {self.seed}")
        if self.size not in (None, 32, 64, 128, 256):
            raise ValueError(f"--size must be 32, 64, 128 or 256, got {self.size}")
        if self.image_px is not None and (self.image_px < 16 or self.image_px % 4):
            raise ValueError(f"--image-px must be a multiple of 4 and at least 16, got {self.image_px}")
        for name, value in (("tasks-per-shard", self.tasks_per_shard), ("num-workers", self.num_workers)):
            if value is not None and value < 1:
                raise ValueError(f"--{name} must be at least 1, got {value}")


def synth_command(args: Sequence[str]) -> int:
    """Make the tasks and print what was made; with --from take a file's; with --check, --stats or --gallery look."""
    from mcrl.commands.tasks.library import LOOKS, look_at_library

    names = {arg.partition("=")[0] for arg in args}
    for look in LOOKS:
        if f"--{look}" in names:
            return look_at_library(look, args)
    if "--backend" in names:
        from mcrl.commands.tasks.engine_synth import engine_synth_command

        return engine_synth_command(args)
    if "--from" in names:
        from mcrl.commands.tasks.hand_made import hand_made_command

        return hand_made_command(args)
    options = read_options(
        SynthOptions,
        args,
        prog="mcrl synth",
        description="Make tasks, one line of JSON each. `mcrl synth --check DIR`, `--stats DIR` and "
        "`--gallery DIR --out PAGE.html` verify, count and show what was made; `--from FILE --out DIR` takes tasks "
        "that you wrote down as JSON or YAML; `--backend ENGINE -n N --out DIR` makes tasks in worlds of another "
        "engine. Each has its own --help.",
    )
    # The engine compiles on import; bad options must not wait for that.
    from eval.numbers.counted import counted
    from mcrl.commands.progress import counted_progress
    from task_synthesis.libraries.library_build import LIBRARY_FILES, build_library, num_finished

    plan = _plan(options)
    check_out_folder(options.out, ours=LIBRARY_FILES, what="a library")
    num_workers = options.num_workers or num_usable_cores()
    begun_s, begun_cpu_s = time.perf_counter(), _cpu_s()
    try:
        with counted_progress("synthesising tasks", plan.num_tasks) as on_progress:
            built = build_library(
                options.out,
                plan,
                make_shards=_shard_maker(options, num_workers),
                num_threads=num_workers,
                on_progress=on_progress,
            )
    except KeyboardInterrupt as interrupt:
        kept = num_finished(options.out, plan)
        is_kept = f"the {kept} tasks of finished shards are kept" if kept else "no shard was finished"
        raise type(interrupt)(f"{is_kept}; run the same command again to go on") from None
    manifest = built.manifest
    worlds = counted(manifest["num_worlds"], "world")
    print(f"{options.out}: {counted(manifest['num_tasks'], f'{plan.split} task')} in {worlds}")
    print(f"content {manifest['sha256']}")
    rejected = ", ".join(f"{reason} {count}" for reason, count in manifest.get("rejections", {}).items())
    print(f"rejected attempts: {rejected or 'none'}")
    if built.num_made:
        cpu_s, wall_s = _cpu_s() - begun_cpu_s, time.perf_counter() - begun_s
        rate = built.num_made / cpu_s
        per_cpu_s = f"{rate:.0f}" if rate >= 10 else f"{rate:.2g}"
        where = f", {per_cpu_s} tasks per CPU-second" if options.placement == "processes" else ""
        print(f"made {built.num_made} tasks in {wall_s:.1f} s{where}")
    else:
        print("complete before; nothing was made")
    return 0


def _plan(options: SynthOptions) -> "LibraryPlan":
    from task_synthesis.libraries.library_plan import TASKS_PER_SHARD, LibraryPlan
    from task_synthesis.synthesis_config import SynthesisConfig, at_scale
    from task_synthesis.task import BANDS

    base = at_scale() if options.skills == _ALL else SynthesisConfig()
    given: dict[str, Any] = {}
    if options.skills != _ALL:
        given["skills"] = dict.fromkeys(options.skills, 1.0)
    if options.bands is not None:
        given["bands"] = dict.fromkeys(BANDS if options.bands == _ALL else options.bands, 1.0)
    if options.biomes != _ALL:
        given["biomes"] = options.biomes
    if options.detail is not None:
        given["detail"] = options.detail
    if options.image_px is not None:
        given["image_px"] = options.image_px
    if options.companions:
        given["companions"] = True
    farthest_blocks = max((BANDS[band][1] for band in given.get("bands", base.bands) if band in BANDS), default=0.0)
    smallest = next((side for side in _SIDES_BLOCKS if side / 2 > farthest_blocks), 256)
    given["side_blocks"] = options.size or max(base.side_blocks, smallest)
    try:
        return LibraryPlan(
            num_tasks=options.num_tasks,
            split=options.split,
            seed=options.seed,
            config=dataclasses.replace(base, **given),
            tasks_per_shard=options.tasks_per_shard or TASKS_PER_SHARD,
        )
    except ValueError as error:
        sentence = str(error)
        for setting, option in _OPTION_OF.items():
            sentence = sentence.replace(setting, option)
        raise ValueError(sentence) from None


def _shard_maker(options: SynthOptions, num_workers: int) -> "ShardMaker":
    from task_synthesis.libraries.library_processes import shards_by_processes, shards_here

    if options.placement == "ray":
        from mcrl.dataflow.ray.shards import shards_by_ray

        return shards_by_ray(num_workers)
    return shards_here if num_workers == 1 else shards_by_processes(num_workers)


def _cpu_s() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)
