"""A run and a second one beside it, on one clock: what a person does with a run is done with both."""

from eval.viewer.run import Run
from eval.viewer.run_control import RunControl
from policies.decoding import AS_TRAINED, Decoding


class Pair:
    """They begin together, play, stand still, and are given up together. Without a rival it is the run alone."""

    def __init__(self, run: RunControl, rival: RunControl) -> None:
        """`rival` takes part while it has an episode."""
        self._run, self._rival = run, rival

    @property
    def is_playing(self) -> bool:
        """Return whether `tick` lets time pass in one of them."""
        return self._run.is_playing or self._rival.is_playing

    @property
    def is_to_begin(self) -> bool:
        """Return whether `play` begins an episode: none was begun, or nobody plays on."""
        return self._run.run is None or not self._going()

    def play(self, *, seed: int | None = None) -> None:
        """Let time pass; begins where `is_to_begin`, then with `seed`, else whoever is not at the end goes on."""
        if self.is_to_begin:
            self.reset(seed=seed)
        for control in self._going():
            control.play()

    def pause(self) -> None:
        """Let both worlds stand still."""
        self._run.pause()
        self._rival.pause()

    def let_go(self) -> None:
        """Let every key come up that a person holds down: nobody is there any more who would say that one does."""
        if self._run.run is not None:
            self._run.run.held.release()

    def step(self, *, seed: int | None = None) -> None:
        """Play one decision of each and pause; begins with `seed` when nothing was begun. ValueError: both are over."""
        if self._run.run is None:
            self.reset(seed=seed)
        for control in self._going() or [self._run]:
            control.step()

    def reset(self, *, seed: int | None = None) -> None:
        """Begin anew, paused. A rival's recording that is of the goal before it was changed is given up."""
        self._run.reset(seed=seed)
        run, rival = self._run.run, self._rival.run
        if rival is None:
            return
        if self._rival.is_replay and run is not None and run.plan.task != rival.plan.task:
            self._rival.leave()
        else:
            self._rival.reset(seed=seed)

    def seek(self, decision: int) -> None:
        """Wind the run's recording to just before a decision, and the rival's to the same time; pause."""
        self._run.seek(decision)
        run, rival = self._run.run, self._rival.run
        recording = None if rival is None or not self._rival.is_replay else rival.casting.recording
        if run is not None and rival is not None and recording is not None:
            at_ticks = decision * run.ticks_per_decision
            self._rival.seek(min(at_ticks // rival.ticks_per_decision, len(recording.buttons_DB)))

    def set_speed(self, speed: float) -> None:
        """Play so many times as fast as life."""
        self._run.set_speed(speed)
        self._rival.set_speed(speed)

    def choose_player(self, name: str, *, decoding: Decoding = AS_TRAINED) -> None:
        """Let somebody else play the run, see RunControl.choose_player; where it is given up, so is the rival's."""
        self._run.choose_player(name, decoding=decoding)
        if self._run.run is None:
            self._rival.leave()

    def choose_engine(self, name: str) -> None:
        """Play on another engine from the next beginning on, see RunControl.choose_engine."""
        self._run.choose_engine(name)
        self._rival.leave()

    def leave(self) -> None:
        """Give up the episodes."""
        self._run.leave()
        self._rival.leave()

    def tick(self, now_s: float) -> int:
        """Let time pass up to `now_s`, seconds of a steady clock; return how many ticks were played."""
        return self._run.tick(now_s) + self._rival.tick(now_s)

    def _going(self) -> list[RunControl]:
        return [control for control in (self._run, self._rival) if _is_going(control.run)]


def _is_going(run: Run | None) -> bool:
    return run is not None and not run.is_over
