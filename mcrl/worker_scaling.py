"""How many rollout workers a run is to have, asked for from outside while it goes on: run_dir/scale.json."""

import json
import logging
from pathlib import Path

from mcrl.config import TrainConfig
from mcrl.dataflow.contracts import ElasticSource, FragmentSource
from mcrl.settings.rollout_config import MAX_WORKERS
from task_synthesis.json_text import parse_json
from task_synthesis.libraries.library import write_whole

_LOG = logging.getLogger(__name__)

FILE_NAME = "scale.json"
_FIELD = "num_workers"


class WorkerScaling:
    """Follows what scale.json asks for. The file stays: a run that is continued goes on with as many workers."""

    def __init__(self, run_dir: Path) -> None:
        """Follow the file of `run_dir`."""
        self._path = run_dir / FILE_NAME
        self._seen_ns: int | None = None

    def follow(self, source: FragmentSource) -> None:
        """Add or retire workers when the file is new. What cannot be done is said in the log, and the run goes on."""
        try:
            changed_ns = self._path.stat().st_mtime_ns
        except FileNotFoundError:
            return
        if changed_ns == self._seen_ns:
            return
        self._seen_ns = changed_ns
        try:
            num_workers = read_request(self._path)
            if not isinstance(source, ElasticSource):
                raise ValueError(f"{self._path}: the workers of a {type(source).__name__} do not come and go")
            source.set_num_workers(num_workers)
        except ValueError as error:
            _LOG.warning("%s", error)
        else:
            _LOG.info("rollout now has %d worker%s", num_workers, "" if num_workers == 1 else "s")


def request(run_dir: Path, num_workers: int) -> None:
    """Ask the run in `run_dir` for that many workers; it follows after its next update."""
    write_whole(run_dir / FILE_NAME, json.dumps({_FIELD: _checked(num_workers, where="--num-workers")}) + "\n")


def read_request(path: Path) -> int:
    """Return the number of workers that the file asks for, or raise ValueError."""
    try:
        fields = parse_json(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        raise ValueError(f"{path}: missing or not JSON; write it with `mcrl scale`") from None
    if not isinstance(fields, dict) or fields.keys() != {_FIELD}:
        raise ValueError(f"{path}: must be an object with {_FIELD!r} alone; write it with `mcrl scale`")
    return _checked(fields[_FIELD], where=f"{path}: {_FIELD}")


def _checked(num_workers: object, *, where: str) -> int:
    if isinstance(num_workers, bool) or not isinstance(num_workers, int) or not 1 <= num_workers <= MAX_WORKERS:
        raise ValueError(f"{where} must be a whole number from 1 to {MAX_WORKERS}, got {num_workers!r}")
    return num_workers


def num_busy_workers(config: TrainConfig) -> int:
    """Return how many rollout workers the gate can let act at a time: more than that wait."""
    rollout = config.rollout
    return (rollout.max_staleness + 1) * config.ppo.fragments_per_batch // rollout.envs_per_worker


def busy_workers_text(config: TrainConfig, *, where: str = "") -> str:
    """Return in words how many that is, and what decides it."""
    rollout, batch = config.rollout, config.ppo.fragments_per_batch
    return (
        f"no more than {num_busy_workers(config)} can be busy{where}: (rollout.max_staleness {rollout.max_staleness} "
        f"+ 1) * ppo.fragments_per_batch {batch} / rollout.envs_per_worker {rollout.envs_per_worker}"
    )
