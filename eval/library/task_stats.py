"""What a library holds: counts by skill, band, biome and family, and how its measured difficulties are spread."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from eval.library.companions import has_companion
from eval.numbers.counted import counted
from task_synthesis.json_text import parse_json
from task_synthesis.task import BANDS

_NUM_BINS = 10
_MAX_COUNTS = 12  # whole numbers with at most that many values are counted one by one


@dataclass(frozen=True, slots=True)
class StatsTable:
    """A table of strings."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Share:
    """One bar of a histogram."""

    label: str
    count: int
    of_largest: float
    """Count over the largest count of the histogram, 0 .. 1."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """How one field is spread over the tasks."""

    name: str
    title: str
    shares: Sequence[Share]


@dataclass(frozen=True, slots=True)
class TaskStats:
    """What is printed."""

    tables: Sequence[StatsTable]
    histograms: Sequence[Histogram]


def task_stats(lines: Iterable[tuple[str, str]]) -> TaskStats:
    """Count tasks given as (where, line of JSON); only what is counted is read, so a hundred thousand take seconds.

    Every field of the tasks' difficulty gets a histogram, whatever fields this version measures.

    Raises:
        ValueError: a line is no task; it names where.
    """
    skill_band: Counter[tuple[str, str]] = Counter()
    of_family: Counter[str] = Counter()
    of_biome: Counter[str] = Counter()
    worlds: set[tuple[str, int]] = set()
    of_companion: Counter[str] = Counter({"yes": 0, "no": 0})
    values: dict[str, list[float]] = {}
    for where, line in lines:
        try:
            task = parse_json(line)
        except ValueError:
            raise ValueError(
                f"{where}: not a line of JSON, so no task; if it was cut short make the file again, else name a "
                "library, or a file of tasks, of `mcrl synth`"
            ) from None
        try:
            skill_band[task["family"].partition("/")[0], task["band"]] += 1
            of_family[task["family"]] += 1
            of_biome[task["world"]["biome"]] += 1
            worlds.add((task["world"]["source"], task["world"]["seed"]))
            kinds, positions = ([one[name] for one in task["placements"]] for name in ("kind", "position"))
            is_accompanied = has_companion(kinds, positions, task["target_index"], task["world"]["size_blocks"])
            of_companion["yes" if is_accompanied else "no"] += 1
            for name, value in (*task["difficulty"].items(), ("max_ticks", task["max_ticks"])):
                if not isinstance(value, int | float):
                    raise TypeError(name)
                values.setdefault(name, []).append(value)
        except (KeyError, TypeError, AttributeError, IndexError):
            raise ValueError(f"{where}: not a task; name a library, or a file of tasks, of `mcrl synth`") from None
    num_tasks = skill_band.total()
    skills = sorted({skill for skill, _ in skill_band})
    known = [band for band in BANDS if any(band == other for _, other in skill_band)]  # by distance, not by name
    bands = known + sorted({band for _, band in skill_band} - set(known))
    rows = [
        [skill, *(str(skill_band[skill, band]) for band in bands), str(sum(skill_band[skill, band] for band in bands))]
        for skill in skills
    ]
    tables = [
        StatsTable(f"{counted(num_tasks, 'task')} in {counted(len(worlds), 'world')}", ["skill", *bands, "all"], rows),
        StatsTable("Biomes", ["biome", "tasks", "share"], _counted(of_biome, num_tasks)),
        StatsTable("Families", ["family", "tasks", "share"], _counted(of_family, num_tasks)),
    ]
    if of_companion["yes"]:
        header = ["another block beside the target", "tasks", "share"]
        tables.insert(1, StatsTable("Companions", header, _counted(of_companion, num_tasks)))
    return TaskStats(tables, [_histogram(name, np.asarray(column)) for name, column in values.items()])


def _counted(counter: Counter[str], total: int) -> list[list[str]]:
    return [[name, str(count), f"{100 * count / total:.1f} %"] for name, count in sorted(counter.items())]


def _histogram(name: str, value_N: np.ndarray) -> Histogram:
    """Return the spread of one field: counts of its values where there are few, else bins of equal width."""
    if value_N.dtype == bool:
        return Histogram(
            name,
            f"{name}: {100 * value_N.mean():.1f} % true",
            _shares(["no", "yes"], np.bincount(value_N, minlength=2)),
        )
    kinds, count_N = np.unique(value_N, return_counts=True)
    title = f"{name}: " + ", ".join(
        f"{label} {np.quantile(value_N, share):.4g}"
        for label, share in (("least", 0.0), ("10 %", 0.1), ("median", 0.5), ("90 %", 0.9), ("most", 1.0))
    )
    if len(kinds) <= _MAX_COUNTS:
        return Histogram(name, title, _shares([f"{kind:g}" for kind in kinds], count_N))
    count_N, edge_N = np.histogram(value_N, bins=_NUM_BINS)
    labels = [f"{low:.4g} .. {high:.4g}" for low, high in zip(edge_N[:-1], edge_N[1:], strict=True)]
    return Histogram(name, title, _shares(labels, count_N))


def _shares(labels: Sequence[str], count_N: np.ndarray) -> list[Share]:
    largest = max(1, int(count_N.max()))
    return [Share(label, int(count), count / largest) for label, count in zip(labels, count_N, strict=False)]
