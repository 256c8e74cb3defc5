"""Metrics on Weights & Biases: the only module that imports wandb. Nothing that goes wrong here stops a run."""

import logging
import netrc
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mcrl.config import WandbMode

_LOG = logging.getLogger(__name__)
_HOST = "api.wandb.ai"


class WandbLog:
    """One wandb run, or nothing when wandb is disabled or did not start."""

    def __init__(self, mode: WandbMode, run_dir: Path, config: Mapping[str, object]) -> None:
        """Start a run whose files lie in `run_dir`/wandb.

        "auto" is what wandb's own WANDB_MODE says, where it is set, else online when logged in, else offline.
        """
        self._run: Any = None
        wished = (os.environ.get("WANDB_MODE") or mode) if mode == "auto" else mode
        if wished == "disabled":
            return
        self._is_told = wished == "offline"  # who asked for it wants to know how it goes on; "auto" is nobody's wish
        chosen: Any = ("online" if _is_logged_in() else "offline") if wished == "auto" else wished
        try:
            import wandb  # slow to import and not needed by the core

            self._run = wandb.init(
                project="mcrl",
                name=run_dir.resolve().name,
                dir=str(run_dir),
                config=dict(config),
                mode=chosen,
                settings=wandb.Settings(silent=True, console="off", init_timeout=20),
            )
        except Exception as error:
            _LOG.warning("wandb did not start (%s); metrics.jsonl has everything", error)

    def write(self, stage: str, step: int, metrics: Mapping[str, float]) -> None:
        """Log one update under "stage/name"; each stage counts its own steps."""
        if self._run is None:
            return
        try:
            self._run.log({f"{stage}/{name}": value for name, value in metrics.items()} | {f"{stage}/step": step})
        except Exception as error:
            _LOG.warning("wandb stopped taking metrics (%s); metrics.jsonl goes on", error)
            self._run = None

    def write_report(
        self, tables: Mapping[str, tuple[Sequence[str], Sequence[Sequence[str | float | int]]]], page_path: Path
    ) -> None:
        """Log tables, (column names, rows) by name, and one self-contained HTML page."""
        if self._run is None:
            return
        try:
            import wandb

            logged = {
                f"report/{name}": wandb.Table(columns=list(columns), data=[list(row) for row in rows])
                for name, (columns, rows) in tables.items()
            }
            self._run.log(logged | {"report/page": wandb.Html(page_path.read_text(encoding="utf-8"), inject=False)})
        except Exception as error:
            _LOG.warning("wandb did not take the report (%s); %s has it", error, page_path)

    def close(self) -> None:
        """Finish the run."""
        if self._run is None:
            return
        try:
            self._run.finish()
            if self._is_told:
                _LOG.info("wandb is kept offline; `wandb sync %s` uploads it", Path(self._run.dir).parent)
        except Exception as error:
            _LOG.warning("wandb did not finish cleanly (%s)", error)
        self._run = None


def _is_logged_in() -> bool:
    if os.environ.get("WANDB_API_KEY"):
        return True
    try:
        return netrc.netrc().authenticators(_HOST) is not None
    except (OSError, ValueError, netrc.NetrcParseError):  # ValueError: it is no text
        return False
