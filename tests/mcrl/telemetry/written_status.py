"""The status of a run that never was."""

import dataclasses
import json
from pathlib import Path

from mcrl.telemetry.run_status import RunStatus, StatusFile, read_status


def write(run_dir: Path, **changes) -> RunStatus:
    """Write the status of a run that has just begun, with these fields changed, and return it."""
    StatusFile(run_dir, "laptop")
    status = dataclasses.replace(read_status(run_dir), **changes)
    (run_dir / "status.json").write_text(json.dumps(dataclasses.asdict(status)))
    return status
