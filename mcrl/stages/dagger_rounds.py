"""What the rounds of DAgger have left so far, so that a run that was stopped learns none of them a second time.

What was played is gigabytes and is not kept: a round that goes on plays it again, the same to the last bit, with the
policy that each round began with.
"""

import shutil
from pathlib import Path

from mcrl import checkpoint
from mcrl.checkpoint import Checkpoint
from mcrl.run import Run
from mcrl.stages.imitation_stage import read_progress
from mcrl.telemetry.metrics import read_metrics
from policies.interface import Policy
from task_synthesis.playing.saved_state import SavedState

# The stage, and the folder of its checkpoint.
DAGGER = "dagger"


class DaggerRounds:
    """The rounds of one run, numbered from 1; rounds are kept one after another."""

    def __init__(self, run: Run) -> None:
        """Look at what an earlier start of the run has left."""
        self._run = run
        self.num_kept = 0
        while self._folder(self.num_kept + 1).is_dir():
            self.num_kept += 1
        self.first_update = checkpoint.load_state(self._folder(self.num_kept)).iteration if self.num_kept else 0
        """Updates of the kept rounds together."""

    def load(self, number: int, policy: Policy) -> int:
        """Leave `policy` as kept round `number` ended, and return the updates until then."""
        folder = self._folder(number)
        saved = checkpoint.load(folder)
        checkpoint.load_into(policy, saved.model, where=folder)
        return saved.state.iteration

    def keep(self, number: int, policy: Policy, num_updates: int) -> None:
        """Keep the policy that round `number` ended with, in the place of its progress."""
        state = self._run.state(DAGGER, iteration=num_updates)
        checkpoint.save(self._folder(number), Checkpoint(model=policy.state_dict(), optimizer={}, state=state))
        shutil.rmtree(self.progress_folder(number), ignore_errors=True)

    def success(self, num_updates: int) -> float | None:
        """Return the success in val worlds that the log has of the round with so many updates; None: not checked."""
        path = self._run.metrics.path
        for line in read_metrics(path) if path.exists() else []:
            value = line.get(f"{DAGGER}_success")
            if line["step"] == num_updates and isinstance(value, float):
                return value
        return None

    def progress_folder(self, number: int) -> Path:
        """Return where the progress of round `number` is kept while it learns."""
        return self._run.checkpoint_dir / f"{DAGGER}.round_{number}.progress"

    def progress(self, number: int) -> SavedState | None:
        """Return the progress of round `number`; None where it has none."""
        return read_progress(self.progress_folder(number))

    def clear(self) -> None:
        """Remove everything: the stage has its result."""
        for folder in self._run.checkpoint_dir.glob(f"{DAGGER}.round_*"):
            shutil.rmtree(folder, ignore_errors=True)

    def _folder(self, number: int) -> Path:
        return self._run.checkpoint_dir / f"{DAGGER}.round_{number}"
