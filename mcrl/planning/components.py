"""How long the parts of a run take: what a plan is computed from."""

import dataclasses
import typing
from dataclasses import dataclass, field
from pathlib import Path

from task_synthesis.json_text import parse_json

FORMAT_VERSION = 1
_FIX = "without --measured, `mcrl plan` measures again"


@dataclass(frozen=True, kw_only=True, slots=True)
class ComponentTimes:
    """Seconds of one run's parts on one machine, each measured alone on one thread."""

    recipe: str
    envs_per_worker: int
    fragment_steps: int
    fragments_per_batch: int
    collect_s: float
    """A worker's processor time for the next fragment of every env: engine, policy, reference."""
    collect_wait_s: float = 0.0
    """Besides, waiting that needs no core: engines in processes of their own, simulated latency."""
    collect_spread: float = 0.0
    """Standard deviation of the logarithm of a collect's time."""
    learn_s: float
    """One update on a batch."""
    publish_s: float
    """The learner copies its weights out and hands them over."""
    load_s: float
    """A worker takes new weights."""
    receive_s: float
    """The learner's process asks for a collect and takes in its fragments."""
    call_s: float
    """Until a worker hears that it may collect, and until its fragments can be received: nobody's processor time."""
    fragment_bytes: float
    weight_bytes: float
    num_cores: float
    """Cores that this machine really gives to processes side by side: less than it counts where threads share one."""
    detail: dict[str, float] = field(default_factory=dict)
    """Seconds of smaller parts, for the reader: one step of E envs, acting for b envs."""
    hardware: dict[str, str | int | float | list[str]] = field(default_factory=dict)
    commit: str = "unknown"
    format_version: int = FORMAT_VERSION

    def __post_init__(self) -> None:
        for name in ("envs_per_worker", "fragment_steps", "fragments_per_batch", "num_cores"):
            _require(getattr(self, name) > 0, f"{name} must be positive, got {getattr(self, name)}")
        for f in dataclasses.fields(self):
            if f.name.endswith(("_s", "_bytes", "_spread")):
                value = getattr(self, f.name)
                _require(value >= 0, f"{f.name} must not be negative, got {value}")
        _require(self.learn_s > 0, f"learn_s must be positive, got {self.learn_s}")
        _require(self.collect_s + self.collect_wait_s > 0, "collect_s and collect_wait_s are both 0")
        _require(
            self.fragments_per_batch % self.envs_per_worker == 0,
            f"fragments_per_batch {self.fragments_per_batch} must be a multiple of envs_per_worker "
            f"{self.envs_per_worker}",
        )


def read_components(path: Path) -> ComponentTimes:
    """Read measurements, or the `measured` part of a plan. Raise ValueError, naming the file, for anything else."""
    if path.is_dir() or not path.exists():
        found = "a folder" if path.is_dir() else "no such file"
        raise ValueError(f"{path}: {found}; give a file that `mcrl plan --out FILE` wrote")
    try:
        fields = parse_json(path.read_text(encoding="ascii"))
    except ValueError:
        raise ValueError(f"{path}: not JSON, so no file of `mcrl plan --out`; {_FIX}") from None
    if isinstance(fields, dict) and isinstance(fields.get("measured"), dict):
        fields = fields["measured"]
    hints = typing.get_type_hints(ComponentTimes)
    has_all = isinstance(fields, dict) and fields.keys() == hints.keys()
    if not has_all or fields["format_version"] != FORMAT_VERSION:
        raise ValueError(f"{path}: no measurements of format {FORMAT_VERSION}; {_FIX}")
    for name, hint in hints.items():
        wanted = {float: (int, float), int: (int,), str: (str,)}.get(hint, (dict,))
        if not isinstance(fields[name], wanted) or isinstance(fields[name], bool):
            raise ValueError(f"{path}: {name} is {fields[name]!r}; {_FIX}")
    try:
        return ComponentTimes(**fields)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _require(is_met: bool, message: str) -> None:
    if not is_met:
        raise ValueError(message)
