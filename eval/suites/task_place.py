"""Where a task is, in words: a line of a file, a number of a library or of a frozen suite."""

from difflib import get_close_matches
from pathlib import Path

from eval.numbers.counted import counted
from eval.suites.suites import SUITES, load_suite
from task_synthesis.libraries.library import read_lines
from task_synthesis.task import TaskSpec, from_json_line


def split_number(place: str) -> tuple[str, int | None]:
    """Return what names a file, folder or suite, and the number of a task in it; the place and None without one."""
    name, _, number = place.rpartition(":")
    return (name, int(number)) if name and number.isdecimal() else (place, None)


def read_task(place: str, *, where: str) -> TaskSpec:
    """Return the task that FILE:LINE names, or the one of that number in a library's folder or a frozen suite.

    Raises:
        ValueError: there is none; the sentence begins with `where`.
    """
    name, number = split_number(place)
    if not number:
        if Path(place).suffix in (".yaml", ".yml", ".json"):
            fix = f"make a library of it with `mcrl synth --from {place} --out mine`, and name mine:1"
        else:
            fix = "name a task as PLACE:NUMBER, the first is 1; PLACE is a suite, or a folder or file of `mcrl synth`"
        raise ValueError(f"{where} {place}: {fix}")
    if name in SUITES and not Path(name).exists():
        return load_suite(name, number)[-1]
    check_exists(name, where=where)
    num_lines = 0
    for num_lines, (line_place, line) in enumerate(read_lines(Path(name)), 1):
        if num_lines == number:
            return from_json_line(line, where=line_place)
    holds = f"holds {counted(num_lines, 'task')}; name one of them" if num_lines else "holds no task"
    raise ValueError(f"{where} {place}: {name} {holds}")


def check_exists(name: str, *, where: str) -> None:
    """Raise ValueError, beginning with `where`, for what is neither a file or folder nor a frozen suite."""
    if name in SUITES or Path(name).exists():
        return
    from eval.suites.real_saves import NAME as REAL_SAVES  # with the synthesizer, which a task that exists needs not

    if name == REAL_SAVES:
        raise ValueError(
            f"{where} {name}: its tasks are made in a Minecraft world of yours; judge a policy there, with "
            f"`mcrl eval small --suite {name} --save DIR --out OUT`, and name OUT:1 with that --save"
        )
    close = [] if "/" in name else get_close_matches(name, SUITES, n=1, cutoff=0.6)
    hint = f"did you mean {close[0]}?" if close else "`mcrl suites` lists those, `mcrl synth` makes tasks"
    raise ValueError(f"{where} {name}: no such file or folder, nor a suite; {hint}")
