"""The benches that have peers: their contests, one after the other, in one run."""

import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from mcrl.commands.bench.bench_options import BenchOptions

if TYPE_CHECKING:
    from eval.benches.throughput import Measurement


def measure_beside_peers(
    name: str, opponents: Sequence[str], options: BenchOptions, *, before: Sequence["Measurement"] = ()
) -> dict[str, object]:
    """Hold the contests of a bench and return its result as one JSON object, with `before` as its first rows."""
    from eval.benches.peer_contest import Limits, Watcher, hold
    from eval.benches.peer_contests import CONTESTS_OF
    from eval.benches.throughput import bench_object
    from mcrl.commands.progress import staged_progress

    if options.num_threads != 1:
        raise ValueError("--num-threads: beside peers every process computes on one thread; leave it out")
    contests = [contest for contest in CONTESTS_OF[name] if set(contest.peers) & set(opponents)]
    limits = Limits(install_s=options.install_limit_s, answer_s=options.answer_limit_s)
    measurements = list(before)
    skipped: dict[str, str] = {}
    with staged_progress() as update:
        for contest in contests:
            watcher = Watcher(
                on_build=lambda sentence: print(sentence, file=sys.stderr),
                on_turn=partial(update, f"turns, {contest.part}"),
            )
            rows, reasons = hold(
                contest, opponents, repeats=options.num_repeats, seed=options.seed, limits=limits, watcher=watcher
            )
            measurements += rows
            skipped |= reasons
    return bench_object(name, measurements, seed=options.seed) | {
        "setting": "\n".join(contest.setting for contest in contests),
        "repeats": options.num_repeats,
        "skipped": skipped,
    }


def print_contests(rows: Sequence[dict[str, Any]], title: str) -> None:
    """Print a line for each contestant: its speed, and how many times as fast ours at the same setting is."""
    from mcrl.commands.table import print_table

    ratio_of = {(row["part"], row["metric"]): row for row in rows if row["unit"] == "ratio"}
    lines = []
    for row in rows:
        if row["unit"] == "ratio":
            continue
        ratio = ratio_of.get((row["part"], f"ratio_to_{row['contestant']}"))
        beside = "" if ratio is None else f"{_interval(ratio, 2)} of {ratio['contestant']}"
        lines.append([row["part"], row["contestant"], _interval(row, 0), beside, row["versions"]])
    print_table(title, ["part", "contestant", "frames per CPU-s", "ours over it", "versions"], lines)


def _interval(row: dict[str, Any], num_digits: int) -> str:
    """Return the median, the smallest and the largest."""
    return f"{row['value']:,.{num_digits}f} [{row['min']:,.{num_digits}f}, {row['max']:,.{num_digits}f}]"
