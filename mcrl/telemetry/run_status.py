"""status.json: what a run is at, rewritten whole at every update, so that others can look while it goes on."""

import dataclasses
import json
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any, Literal

from task_synthesis.json_reader import MisfitError, reader_of
from task_synthesis.json_text import parse_json

FILE_NAME = "status.json"
FORMAT_VERSION = 1
# Younger than the format: a file without them says what their defaults say.
_YOUNGER_FIELDS = {"ray_address", "counted_from", "initial_policy", "trained_before_s", "is_resumable"}
# What a resume does not begin anew.
_KEPT_FIELDS = ("what", "done", "total", "is_resumable", "metrics", "counted_from", "val", "initial_policy")

_COUNTS = ("pid", "done", "total", "done_at_start", "counted_from")
_MOST = 2**63 - 1  # of those; beyond it is no count, and a share of it may be no float

# What a run does after its training, as `RunStatus.what`.
REPORT = "report"

RunState = Literal["running", "finished", "stopped", "failed"]

# Between two writes of mere progress; news of an update is written at once. A write takes about 0.1 ms.
_WRITE_EVERY_S = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStatus:
    """What a run said of itself last. Times are seconds since 1970."""

    recipe: str
    state: RunState
    error: str = ""
    """Why it failed; "" when it did not."""
    host: str
    pid: int
    process_start: str
    """Tells the process from a later one of the same id; "" where the system does not say."""
    started_s: float
    updated_s: float
    what: str = "start"
    """The part of the run that is under way: "train tasks", "imitation", "ppo" ..."""
    done: int = 0
    total: int = 0
    is_resumable: bool = True
    """Whether a resume goes on in that part; recordings, which fill gigabytes, and tasks are begun again."""
    part_started_s: float = 0.0
    done_at_start: int = 0
    """Of `done`, what was there when this part began: a resumed run does not count it into its speed."""
    metrics: dict[str, float | None] = field(default_factory=dict)
    """Of the newest update of PPO, under the names of metrics.jsonl."""
    counted_from: int = 0
    """The iteration from which those metrics count fragments: a resume that starts its workers anew counts anew."""
    val: dict[str, float | None] = field(default_factory=dict)
    """Of the newest success check on val tasks."""
    ray_address: str = ""
    """Of the Ray cluster that it uses; "" where it starts Ray itself, or needs none."""
    initial_policy: str = ""
    """The checkpoint that it started from; "" where it cloned the expert first."""
    trained_before_s: float = 0.0
    """How long the processes trained that the run had before this one."""
    format_version: int = FORMAT_VERSION

    @property
    def trained_s(self) -> float:
        """Return how long the run has trained so far, in all its processes; its report is no training."""
        return self.trained_before_s + (0.0 if self.what == REPORT else max(0.0, self.updated_s - self.started_s))

    @property
    def lost_text(self) -> str:
        """Return what a resume begins again though some of it was done; "" where it begins nothing again."""
        return (
            "" if self.is_resumable or not self.done else f"{self.done} of {self.what}: a resume begins that part anew"
        )

    @property
    def eta_s(self) -> float | None:
        """Return the seconds that the present part will still take at its speed so far; None while unknown."""
        num_done, elapsed_s = self.done - self.done_at_start, self.updated_s - self.part_started_s
        if self.state != "running" or num_done <= 0 or elapsed_s <= 0:
            return None
        return (self.total - self.done) * elapsed_s / num_done


class StatusFile:
    """Keeps a run's status.json up to date."""

    def __init__(self, run_dir: Path, recipe: str, *, ray_address: str = "") -> None:
        """Say that the run has begun, or goes on: what it said of itself last holds until there is news.

        `ray_address` is that of the Ray cluster that it uses, "" being none.
        """
        now_s = time.time()
        _check_no_folder(run_dir / FILE_NAME)
        try:
            last = read_status(run_dir)
        except ValueError:
            said_before: dict[str, Any] = {}  # a new run, or nothing that can be read
        else:
            said_before = {name: getattr(last, name) for name in _KEPT_FIELDS}
            said_before |= {"done_at_start": last.done, "trained_before_s": last.trained_s}
        self._is_part_known = False
        self._path = run_dir / FILE_NAME
        self._written_s = 0.0
        self._status = RunStatus(
            recipe=recipe,
            state="running",
            host=socket.gethostname(),
            pid=os.getpid(),
            process_start=process_start(os.getpid()),
            started_s=now_s,
            updated_s=now_s,
            ray_address=ray_address,
            **said_before,
        )
        self._write()

    def show(self, what: str, done: int, total: int, is_resumable: bool = False) -> None:
        """Tell how far a part of the run is, and whether a resume goes on in it."""
        now_s = time.time()
        part: dict[str, object] = {"what": what, "done": done, "total": total, "is_resumable": is_resumable}
        changes = part | {"updated_s": now_s}
        is_new = not self._is_part_known or (what, total) != (self._status.what, self._status.total)
        self._is_part_known = True
        if is_new:
            changes |= {"part_started_s": now_s, "done_at_start": done}
        self._status = dataclasses.replace(self._status, **changes)  # type: ignore[arg-type]
        if is_new or now_s - self._written_s >= _WRITE_EVERY_S:
            self._write()

    @contextmanager
    def aside(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """Give what tells how far something is that the present part waits for; then that goes on, its clock too."""
        before, is_known, begun_s = self._status, self._is_part_known, time.time()
        self.show(what, 0, total)
        try:
            yield lambda done: self.show(what, done, total)
        finally:
            part = {name: getattr(before, name) for name in ("what", "done", "total", "is_resumable", "done_at_start")}
            part["part_started_s"] = before.part_started_s + time.time() - begun_s
            self._status, self._is_part_known = dataclasses.replace(self._status, **part), is_known

    def hear(self, stage: str, metrics: Mapping[str, float]) -> None:
        """Take note of an update of PPO or a success check; other stages have nothing that a status shows."""
        if stage in ("ppo", "val"):
            values = {name: _json_number(value) for name, value in metrics.items()}
            kept = {"val": values} if stage == "val" else {"metrics": values}
            self._status = dataclasses.replace(self._status, updated_s=time.time(), **kept)  # type: ignore[arg-type]
            self._write()
            self._written_s = 0.0  # how far that brings the run is told next, and must not wait

    def start_from(self, checkpoint: str) -> None:
        """Take note that the run has no clone of its own; the next news of it says so."""
        self._status = dataclasses.replace(self._status, initial_policy=checkpoint)

    def count_from(self, iteration: int) -> None:
        """Take note that fragments are counted from this iteration of PPO on; the next news of it says so.

        From another than the first on, what was counted before is not told any more.
        """
        metrics = {} if iteration else self._status.metrics
        self._status = dataclasses.replace(self._status, counted_from=iteration, metrics=metrics)

    def end(self, state: RunState, error: str = "") -> None:
        """Say how the run ended."""
        self._status = dataclasses.replace(self._status, state=state, error=error, updated_s=time.time())
        self._write()

    def _write(self) -> None:
        # Beside the file and then over it: a reader sees the old status or the new one.
        partial = self._path.with_suffix(".partial")
        partial.write_text(json.dumps(dataclasses.asdict(self._status), indent=2) + "\n", encoding="ascii")
        partial.replace(self._path)
        self._written_s = time.time()


def failure_text(error: BaseException) -> str:
    """Return what a status says of an error: a refusal's own sentence, and of anything else its kind as well."""
    return str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"


@contextmanager
def report_in_status(run_dir: Path, recipe: str, *, ray_address: str = "") -> Iterator[None]:
    """Have `mcrl status` say that the report is being made, and what became of it."""
    status = StatusFile(run_dir, recipe, ray_address=ray_address)
    status.show(REPORT, 0, 1, is_resumable=True)
    try:
        yield
    except (KeyboardInterrupt, BrokenPipeError):  # the latter where nobody reads what is said any more
        status.end("stopped")
        raise
    except BaseException as error:
        status.end("failed", failure_text(error))
        raise
    status.show(REPORT, 1, 1, is_resumable=True)
    status.end("finished")


def read_status(run_dir: Path) -> RunStatus:
    """Read what a run said last. Raise ValueError, naming the file and the fix, where there is no such thing."""
    path = run_dir / FILE_NAME
    if run_dir.is_file():
        raise ValueError(f"{run_dir}: a file; name the folder of a run")
    _check_no_folder(path)
    if not path.is_file():
        inner = next((found.parent for found in sorted(run_dir.glob(f"runs/*/{FILE_NAME}"))), None)
        if inner is not None:
            raise ValueError(f"{run_dir}: the folder of an ablation; name one of its runs, such as {inner}")
        why = "was it written by an older mcrl?" if (run_dir / "config.json").is_file() else "name a run folder"
        raise ValueError(f"{path}: no such file, so there is no run to tell of; {why}")
    known = {f.name for f in dataclasses.fields(RunStatus)}
    fix = "a run writes it again at its next update, also one that is resumed"
    try:
        fields = parse_json(path.read_text(encoding="ascii"))
    except ValueError:
        raise ValueError(f"{path}: not JSON; {fix}") from None
    is_whole = isinstance(fields, dict) and known - _YOUNGER_FIELDS <= fields.keys() <= known
    if not is_whole or fields["format_version"] != FORMAT_VERSION:
        raise ValueError(f"{path}: not a status of format {FORMAT_VERSION}; use the mcrl version that wrote it")
    try:
        status: RunStatus = reader_of(RunStatus)(fields)
    except MisfitError as misfit:
        raise ValueError(f"{path}: {str(misfit).removeprefix('.')}; {fix}") from None
    for name in _COUNTS:
        if not 0 <= getattr(status, name) <= _MOST:
            raise ValueError(f"{path}: {name} is {getattr(status, name)}, which counts nothing; {fix}")
    return status


def _check_no_folder(path: Path) -> None:
    if path.is_dir():
        raise ValueError(f"{path}: a folder stands where a file is wanted; remove it")


def resume_command(run_dir: Path | str, ray_address: str) -> str:
    """Return the command that continues a run where it was, "" being no cluster."""
    return f"mcrl train --resume {quote(str(run_dir))}" + (f" --ray-address {ray_address}" if ray_address else "")


def is_crashed(status: RunStatus) -> bool:
    """Tell whether a run that calls itself running has lost its process; False where that cannot be seen from here."""
    if status.state != "running" or status.host != socket.gethostname():
        return False
    return not _is_alive(status.pid, status.process_start)


def process_start(pid: int) -> str:
    """Return when a process began, in ticks since boot; "" where there is none or the system does not say."""
    try:
        return _stat_fields(pid)[19]  # 22 in proc(5)
    except OSError:
        return ""


def _stat_fields(pid: int) -> list[str]:
    """Return fields 3, 4, ... of proc(5)'s stat: the name before them, in parentheses, may hold any bytes."""
    return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].decode("ascii").split()


def _is_alive(pid: int, start: str) -> bool:
    if start:
        return process_start(pid) == start and not _is_zombie(pid)
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):  # the latter for a number that no system gives a process
        return False
    except PermissionError:
        return True
    return True


def _is_zombie(pid: int) -> bool:
    try:
        return _stat_fields(pid)[0] == "Z"
    except OSError:
        return True


def _json_number(value: float) -> float | None:
    """Return the number, or None for NaN and infinity, which JSON lacks."""
    number = float(value)
    return number if number - number == 0 else None
