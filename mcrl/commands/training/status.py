"""`mcrl status RUN`: what a run is at, read from its folder while it goes on and after it is over."""

import dataclasses
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcrl.commands.options import read_options, split_positional
from mcrl.commands.writable import check_result_file
from mcrl.telemetry.prometheus import DROPPED_PREFIX, exposition
from mcrl.telemetry.run_status import RunStatus, is_crashed, read_status, resume_command

# Where a run's own time between two updates is not known yet, this long without a word is worth a line.
_SILENCE_S = 300.0
_LABEL_WIDTH = 12
_OVER_EARLY = ("crashed", "stopped", "failed")
_RESTARTED = {"worker_restarts": "workers", "queue_restarts": "the queue"}


@dataclass(frozen=True, kw_only=True)
class StatusOptions:
    """How the state is shown."""

    json: Path | None = None
    """Write it as one JSON object to this file; "-" is stdout, and nothing else is printed there."""
    prometheus: Path | None = None
    """Write the metrics in Prometheus' text format to this file, for a collector that reads files; "-" is stdout."""

    def __post_init__(self) -> None:
        if self.json is not None and self.prometheus is not None:
            raise ValueError("--json and --prometheus: one of them at a time")


def status_command(args: Sequence[str]) -> int:
    """Print the state of a run; return 1 when it failed or crashed."""
    prog = "mcrl status"
    name, rest = split_positional(args)
    description = "What the run is at; exit code 1 when it failed or crashed."
    options = read_options(StatusOptions, rest, prog=prog, usage=f"{prog} RUN_DIR", description=description)
    if name is None:
        raise ValueError(f"{prog}: name a run folder first, for instance runs/laptop")
    check_result_file(options.json)
    check_result_file(options.prometheus)
    status = read_status(Path(name))
    state = "crashed" if is_crashed(status) else status.state
    if options.json is not None:
        _write(options.json, json.dumps(status_object(status, state)) + "\n")
    elif options.prometheus is not None:
        labels = {"run": Path(name).resolve().name, "recipe": status.recipe, "state": state}
        _write(options.prometheus, exposition(status.metrics, labels=labels))
    else:
        fault = _config_fault(Path(name)) if state in _OVER_EARLY else ""
        print("\n".join(status_lines(name, status, state, now_s=time.time(), config_fault=fault)))
        if state == "finished" and _lacks_report(Path(name)):
            print(_line("report", f"not made yet; `{resume_command(name, '')}` makes it"))
    return 1 if state in ("failed", "crashed") else 0


def _config_fault(run_dir: Path) -> str:
    """Return why the settings of a run cannot be read, without which it is not gone on with; "" where they can."""
    from mcrl.config import read_config

    try:
        read_config(run_dir / "config.json")
    except FileNotFoundError:
        return f"{run_dir / 'config.json'}: is missing; restore it from a copy"
    except (OSError, ValueError) as error:
        return str(error)
    return ""


def _lacks_report(run_dir: Path) -> bool:
    """Tell whether a run was to be judged at its end and is not, which takes minutes after the last update."""
    from mcrl.config import read_config

    try:
        return read_config(run_dir / "config.json").report and not (run_dir / "report.html").is_file()
    except (OSError, ValueError):
        return False


def status_object(status: RunStatus, state: str) -> dict[str, object]:
    """Return the status as JSON: what the run said, what became of it, and the time it still needs."""
    eta_s = status.eta_s if state == "running" else None
    return dataclasses.asdict(status) | {"state": state, "eta_s": eta_s}


def status_lines(name: str, status: RunStatus, state: str, *, now_s: float, config_fault: str = "") -> list[str]:
    """Return the status as lines for a terminal; `config_fault` says what a resume would stop at."""
    silence_s = max(0.0, now_s - status.updated_s)
    head = f"{name}: {state}, recipe {status.recipe}, process {status.pid} on {status.host}"
    lines = [f"{head}, last heard of {duration_text(silence_s)} ago"]
    if status.error:
        lines.append(_line("error", status.error))
    if state == "running" and silence_s > _SILENCE_S:
        lines.append(_line("silent", "no update for a while; look at its process, or end it and resume"))
    if state in _OVER_EARLY:
        lines.append(_line("go on with", resume_command(name, status.ray_address)))
        if config_fault:
            lines.append(_line("but first", config_fault))
        if status.lost_text:
            lines.append(_line("lost", status.lost_text))
    eta_s = status.eta_s if state == "running" and status.done < status.total else None
    left = f", {duration_text(eta_s)} left" if eta_s is not None else ""
    share = f"{status.done} / {status.total} ({status.done / status.total:.0%})" if status.total else "nothing done yet"
    lines.append(_line(status.what, f"{share}{left}"))
    lines += _metric_lines(status.metrics, counted_from=status.counted_from)
    success = [
        f"{value:.3f} on val tasks {_checked(key.removesuffix('_success'), status.initial_policy)}"
        for key, value in status.val.items()
        if key.endswith("_success") and value is not None
    ]
    if "success" in status.metrics:
        success.insert(0, f"{_number(status.metrics, 'success')} of the episodes of the last batch")
    if success:
        lines.append(_line("success", "; ".join(success)))
    return lines


def _checked(stage: str, initial_policy: str) -> str:
    """Return what played a success check: a run without a clone of its own has checked what it was given instead."""
    return "by the initial policy" if initial_policy and stage == "imitation" else f"after {stage}"


def _metric_lines(metrics: Mapping[str, float | None], *, counted_from: int) -> list[str]:
    if not metrics:
        return []
    workers = metrics.get("rollout_workers")
    lines = [
        _line(
            "speed",
            f"{_number(metrics, 'steps_per_s', 0)} decisions/s, a batch {_number(metrics, 'take_s', 2)} s, "
            f"an update {_number(metrics, 'learn_s', 2)} s",
        ),
        _line("idle", f"learner {_percent(metrics, 'learner_idle')}, workers {_percent(metrics, 'workers_idle')}"),
        *([_line("workers", f"{workers:.0f} act")] if workers else []),
        _line("lag", f"{_number(metrics, 'staleness', 2)} updates{_lag_histogram(metrics)}"),
        _line("queue", f"{_number(metrics, 'fragments_waiting', 0)} fragments wait"),
        _line("fragments", _books(metrics) + (f"; since iteration {counted_from}" if counted_from else "")),
    ]
    restarts = [f"{metrics[name]:.0f} of {whom}" for name, whom in _RESTARTED.items() if metrics.get(name)]
    return [*lines, _line("restarts", ", ".join(restarts))] if restarts else lines


def _books(metrics: Mapping[str, float | None]) -> str:
    reasons = {name.removeprefix(DROPPED_PREFIX): n for name, n in metrics.items() if name.startswith(DROPPED_PREFIX)}
    why = ", ".join(f"{reason} {number or 0:.0f}" for reason, number in reasons.items())
    counts = {
        name: _number(metrics, f"fragments_{name}", 0)
        for name in ("produced", "consumed", "dropped", "waiting", "lost")
    }
    return (
        f"{counts['produced']} produced = {counts['consumed']} consumed + {counts['dropped']} dropped"
        f"{f' ({why})' if why else ''} + {counts['waiting']} waiting; {counts['lost']} lost with their worker"
    )


def _lag_histogram(metrics: Mapping[str, float | None]) -> str:
    lags = [
        f"{name.removeprefix('lag/')}: {value or 0:g}" for name, value in metrics.items() if name.startswith("lag/")
    ]
    return f" ({', '.join(lags)})" if lags else ""


def _number(metrics: Mapping[str, float | None], name: str, digits: int = 3) -> str:
    value = metrics.get(name)
    return "-" if value is None else f"{value:.{digits}f}"


def _percent(metrics: Mapping[str, float | None], name: str) -> str:
    value = metrics.get(name)
    return "-" if value is None else f"{value:.0%}"


def _line(label: str, text: str) -> str:
    return f"  {label:<{_LABEL_WIDTH}} {text}"


def duration_text(seconds: float) -> str:
    """Return a time as people say it: "12 s", "3 min 20 s", "2 h 05 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def _write(path: Path, text: str) -> None:
    if str(path) == "-":
        print(text, end="")
        return
    # A folder's name may hold bytes that are no UTF-8, and Prometheus reads nothing else.
    content = text.encode(errors="replace")
    if path.is_symlink() or (path.exists() and not path.is_file()):
        path.write_bytes(content)  # a file put in place of /dev/null or /dev/stdout would ruin it
        return
    from task_synthesis.libraries.library import write_whole

    write_whole(path, content)
