"""`mcrl curves`: the learning curve of a recipe, of one run or of several with other seeds."""

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcrl.commands.options import read_options
from mcrl.commands.writable import check_can_write

if TYPE_CHECKING:
    from eval.numbers.learning_curve import LearningCurve

_CONFIG_FILE, _METRICS_FILE = "config.json", "metrics.jsonl"


@dataclass(frozen=True, kw_only=True)
class CurvesOptions:
    """Where the curve goes."""

    out: Path
    """Picture to write, .svg."""

    def __post_init__(self) -> None:
        if self.out.suffix.lower() != ".svg":
            raise ValueError(f"--out {self.out}: a curve is written as .svg; name a file that ends so")


def curves_command(args: Sequence[str]) -> int:
    """Write the picture, and print success at the checks on val tasks."""
    prog = "mcrl curves"
    num_paths = next((index for index, arg in enumerate(args) if arg.startswith("-")), len(args))
    options = read_options(
        CurvesOptions,
        args[num_paths:],
        prog=prog,
        usage=f"{prog} RUN [RUN ...]",
        description="Success while PPO learns, in the runs' own episodes and on val tasks. Several runs are trainings "
        "of one recipe with other seeds: their mean is drawn with Student's 95 % interval over them.",
    )
    if not num_paths:
        raise ValueError(f"{prog}: name a run, for instance runs/laptop (`mcrl train laptop` makes it)")
    _draw([Path(arg) for arg in args[:num_paths]], options.out)
    return 0


def _draw(runs: Sequence[Path], out: Path) -> None:
    from eval.judging.row_names import ROW_IMITATION, ROW_START
    from eval.numbers.learning_curve import learning_curve
    from eval.numbers.over_seeds import setting_differences
    from eval.reports.learning_chart import learning_chart
    from mcrl.telemetry.metrics import read_metrics
    from task_synthesis.libraries.library import write_whole

    configs = [_settings(run) for run in runs]
    if len({run.resolve() for run in runs}) < len(runs):
        raise ValueError("mcrl curves: one run is named twice, which says nothing about others; name each once")
    check_can_write(out, is_folder=False)
    first = ROW_START if any(config["initial_policy"] for config in configs) else ROW_IMITATION
    lines = [read_metrics(run / _METRICS_FILE) for run in runs]
    curve = learning_curve(lines, [str(run) for run in runs], first=first)
    for difference in setting_differences(configs):
        print(f"mcrl curves: the runs differ in more than seeds: {difference}", file=sys.stderr)
    write_whole(out, learning_chart(curve))
    last = [run.name or str(run.resolve()) for run in runs]
    _print_checks(curve, last if len({*last}) == len(last) else [str(run) for run in runs])
    print(f"curve: {out}")


def _settings(run: Path) -> dict[str, Any]:
    """Return the settings of a run that has metrics."""
    from mcrl.config import read_config

    if not run.is_dir():
        raise ValueError(f"{run}: no such run; name the folder of one, for instance runs/laptop")
    for name in (_CONFIG_FILE, _METRICS_FILE):
        if not (run / name).is_file():
            raise ValueError(f"{run}: holds no {name}; name a folder that `mcrl train` wrote")
    return dataclasses.asdict(read_config(run / _CONFIG_FILE))


def _print_checks(curve: "LearningCurve", names: Sequence[str]) -> None:
    """Print success on val tasks, of what was there before PPO and at each check."""
    import numpy as np

    from eval.numbers.learning_curve import Track
    from eval.reports.report_text import percent, percent_text
    from mcrl.commands.table import print_table

    places = [(row, np.array(success)) for row, success in curve.before.items()]
    checks = curve.checks
    places += [(f"{at:,.0f}", checks.success_RN[:, n]) for n, at in enumerate(checks.decisions_N.tolist())]
    if not places:
        print("no check on val tasks is common to all runs")
        return
    rows = []
    for place, success_R in places:
        (over_runs,) = Track(decisions_N=np.zeros(1), success_RN=success_R[:, None]).over_runs()
        mean = percent_text(over_runs) if len(names) > 1 else percent(over_runs.value)
        rows.append([place, mean, *(percent(rate) for rate in success_R.tolist() if len(names) > 1)])
    header = ["after", "mean [95 %]", *names] if len(names) > 1 else ["after", names[0]]
    print_table("Val success, %, by decisions of PPO", header, rows)
