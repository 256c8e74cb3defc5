"""`mcrl bench`: measure the speed of a part on this machine."""

import dataclasses
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mcrl.commands.bench.bench_options import BenchOptions
from mcrl.commands.bench.benches import BENCH_NAMES, WHAT, measure
from mcrl.commands.late_word import said_when_slow
from mcrl.commands.options import nearest, read_options, split_positional
from mcrl.commands.writable import check_result_file
from task_synthesis.libraries.library import write_whole

_TELL_AFTER_S = 10.0


def bench_command(args: Sequence[str]) -> int:
    """Run one bench and print its numbers."""
    prog = "mcrl bench"
    name, rest = split_positional(args)
    description = f"BENCH is one of {', '.join(BENCH_NAMES)}."
    if name in WHAT:
        description = f"Measures {WHAT[name]}. Options name the benches that read them."
    if name is not None and name not in BENCH_NAMES:
        raise ValueError(f"{name}: no such bench; {nearest(name, BENCH_NAMES)}")
    options = read_options(BenchOptions, rest, prog=prog, usage=f"{prog} {name or 'BENCH'}", description=description)
    if name is None:
        raise ValueError(f"{prog}: name a bench first; there are {', '.join(BENCH_NAMES)}")
    options.check_read_by(name)
    if name in ("system", "peers") and options.repeats is None:
        options = dataclasses.replace(options, repeats=3)  # each takes a minute
    check_result_file(options.json)
    often = "once" if options.num_repeats == 1 else f"{options.num_repeats} times"
    sentence = f"measuring {WHAT[name]}: {often}, then the table"
    with said_when_slow(sentence, after_s=_TELL_AFTER_S), _stdout_kept_clean():
        result = measure(name, options)
    if options.json is None:
        _print_result(result)
    elif str(options.json) == "-":
        print(json.dumps(result))
    else:
        write_whole(options.json, json.dumps(result, indent=2) + "\n")
        _print_result(result)
        print(f"written: {options.json}")
    return 0


@contextmanager
def _stdout_kept_clean() -> Iterator[None]:
    """Send whatever is printed meanwhile to stderr, native libraries included: stdout is for the result."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


def _print_result(result: dict[str, object]) -> None:
    from mcrl.commands.bench.bench_peers import print_contests

    rows = result["rows"]
    assert isinstance(rows, list)
    title = f"bench {result['bench']}, commit {result['commit']}"
    contests = [row for row in rows if "contestant" in row]
    alone = [row for row in rows if "contestant" not in row]
    if alone:
        _print_table(alone, title)
    if contests:
        print_contests(contests, f"{title}, median of {result['repeats']} turns [smallest, largest]")
        print(result["setting"])
    skipped = result.get("skipped", {})
    assert isinstance(skipped, dict)
    for peer, reason in skipped.items():
        print(f"skipped {peer}: {reason}")
    print(json.dumps(result["hardware"]))


def _print_table(rows: list[dict[str, object]], title: str) -> None:
    from mcrl.commands.table import print_table

    names = list(dict.fromkeys(name for row in rows for name in row if name != "repeats"))
    # What is the same in every row is said once, below.
    common = {name: rows[0][name] for name in ("repeats", *names[5:]) if len({str(row.get(name)) for row in rows}) == 1}
    shown = [name for name in names if name not in common]
    print_table(title, shown, [[str(row.get(name, "")) for name in shown] for row in rows])
    print(", ".join(f"{name} {value}" for name, value in common.items()))
