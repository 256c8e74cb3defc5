"""Playing a goal: who plays, when, how fast, and what the page shows of it. H W C image."""

import dataclasses
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from eval.viewer.draft import GoalDraft
from eval.viewer.engine_menu import EngineMaker
from eval.viewer.players import HUMAN, Casting, cast
from eval.viewer.run import Plan, Run
from eval.viewer.run_frame import RunFrame, frame_of
from eval.viewer.run_picture import picture_of
from eval.viewer.run_video import write_run_video
from eval.viewer.shared import Shared
from policies.decoding import AS_TRAINED, Decoding
from worlds.adapters.catalogue import BUILT_IN
from worlds.backend import EnvBackend
from worlds.types import TICK_S
from worlds.voxel.backend import VoxelBackend

SPEEDS = (0.1, 20.0)
"""Least and most times as fast as life."""
_CLOCK_GRAIN_S = 1e-6  # sums of 0.05 s are not exact
_MOST_TICKS_A_CALL = 20  # so that a page stays alive at a speed its machine cannot keep


class RunControl:
    """Casts players and plays what the editor holds. Calls out of order raise ValueError and change nothing."""

    def __init__(self, shared: Shared, plan_for: Callable[[int], Plan]) -> None:
        """`plan_for` gives what is to be played at a picture size; ValueError when the goal is not complete."""
        self._shared, self._plan_for = shared, plan_for
        self._casting = self._chosen = cast(HUMAN, shared)  # what plays, and what does where no recording is shown
        self._run: Run | None = None
        self._is_playing, self._speed, self._seed = False, 1.0, 0
        self._due_s: float | None = None
        self._make_engine: EngineMaker | None = None
        self._foreign: tuple[tuple[int, int, int], int, EnvBackend] | None = None  # with its sizes
        self._spare: VoxelBackend | None = None  # of an episode that is over: making one takes 0.13 s
        self.engine_name = BUILT_IN

    @property
    def run(self) -> Run | None:
        """Return the episode that was begun; None before."""
        return self._run

    @property
    def player(self) -> str:
        """Return who plays, or will."""
        return self._casting.name

    @property
    def is_replay(self) -> bool:
        """Return whether a recording plays, which is of the task that is shown and of no other."""
        return self._casting.recording is not None

    @property
    def decoding(self) -> Decoding:
        """Return how the policy's actions are drawn; while a recording plays, of the one that plays after it."""
        return self._chosen.decoding

    @property
    def seed(self) -> int:
        """Return that of the player's draws, as `reset` last heard it."""
        return self._seed

    @property
    def is_playing(self) -> bool:
        """Return whether `tick` lets time pass."""
        return self._is_playing and self._run is not None and not self._run.is_over

    @property
    def speed(self) -> float:
        """Return how many times as fast as life it plays."""
        return self._speed

    def choose_player(self, name: str, *, decoding: Decoding = AS_TRAINED) -> None:
        """Let somebody else play: a name of `player_names()`, or the folder of a checkpoint or run.

        A running episode goes on with the new player, which has seen nothing yet, where both see the same pictures and
        decide equally often; else it is given up, and `play` or `reset` begins anew.
        """
        self.use(cast(name, self._shared, decoding=decoding))

    def decode(self, decoding: Decoding) -> None:
        """Let the policy that plays, or will, draw its actions so; it forgets what it has seen. Others do not care."""
        if self._chosen.loaded is None or self._chosen.decoding == decoding:
            return
        casting = dataclasses.replace(self._chosen, decoding=decoding)
        if self.is_replay:
            self._chosen = casting
            return
        is_by_hand = self._run is not None and self._run.is_by_hand
        self.use(casting)
        if self._run is not None:
            self._run.is_by_hand = is_by_hand

    def use(self, casting: Casting) -> None:
        """Let this casting play; see `choose_player`."""
        run = self._run
        if run is not None and not run.is_over:
            while not run.is_between_decisions:
                run.tick()
            if not run.is_over and run.casting.can_hand_to(casting):
                run.exchange_player(casting)
            elif not run.is_over:
                self.leave()
        self._casting = casting
        if not self.is_replay:
            self._chosen = casting

    def reset(self, *, seed: int | None = None) -> None:
        """Begin the goal from its start, paused. `seed` is of the player's draws; None draws as before."""
        seed = self._seed if seed is None else seed
        if seed < 0:
            raise ValueError(f"run: the seed must not be negative, got {seed}")
        plan = self._plan_for(self._casting.image_px)
        if self.is_replay and self._run is not None and plan.task != self._run.plan.task:
            self._casting = self._chosen  # the recording was of the goal before it was changed
            plan = self._plan_for(self._casting.image_px)
        try:
            run = Run(plan, self._casting, self._engine(plan), seed=seed)
        except OSError as error:
            raise ValueError(f"run: {error}") from None
        # Never that of the new episode: one that fails to begin leaves what was begun as it is.
        self._spare = None if self._run is None else self._run.voxel
        self._run, self._seed = run, seed
        self.pause()

    def play(self) -> None:
        """Let time pass; begins when nothing has been begun, and anew when the episode is over."""
        if self._run is None or self._run.is_over:
            self.reset()
        self._is_playing, self._due_s = True, None

    def pause(self) -> None:
        """Let the world stand still."""
        self._is_playing, self._due_s = False, None

    def step(self) -> None:
        """Play one decision and pause; begins when nothing has been begun."""
        if self._run is None:
            self.reset()
        run = self._going()
        self.pause()
        try:
            run.decide_and_play()
        except OSError as error:
            raise ValueError(f"run: {error}") from None

    def seek(self, decision: int) -> None:
        """Go to just before a decision of a recording, 0 the first, and pause. ValueError: no recording is played."""
        run = self._begun()
        recording = run.casting.recording
        if recording is None or not self.is_replay:  # one that is over stays, also when somebody else is to play next
            raise ValueError("run: only recordings can be wound; reset to begin again")
        if not 0 <= decision <= len(recording.buttons_DB):
            raise ValueError(f"run: the recording has {len(recording.buttons_DB)} decisions, got {decision}")
        if decision < run.num_decisions or not run.is_between_decisions:
            if self._plan_for(self._casting.image_px).task != run.plan.task:
                raise ValueError("run: the goal was changed since; undo that to wind the recording back")
            self.reset()
            run = self._begun()
        self.pause()
        while run.num_decisions < decision and not run.is_over:
            run.decide_and_play()

    def leave(self) -> None:
        """Give up the episode, and a recording with it; the page shows the start again."""
        self.pause()
        if self._run is not None:
            self._spare = self._run.voxel
        self._run, self._casting = None, self._chosen

    def set_speed(self, speed: float) -> None:
        """Play so many times as fast as life."""
        if not SPEEDS[0] <= speed <= SPEEDS[1]:
            raise ValueError(f"run: speed must be in [{SPEEDS[0]:g}, {SPEEDS[1]:g}], got {speed}")
        self._speed, self._due_s = float(speed), None

    def tick(self, now_s: float) -> int:
        """Play the ticks that are due by `now_s` (any steady clock); return how many were played.

        It never catches up more than a call's worth: on a slow machine the world is slow, and the page stays alive.
        """
        run = self._run
        if run is None or not self._is_playing:
            return 0
        if self._due_s is None or now_s < self._due_s - 1.0 - run.ticks_per_decision * TICK_S / self._speed:
            self._due_s = now_s
        begun = run.ticks
        while not run.is_over and self._due_s <= now_s + _CLOCK_GRAIN_S and run.ticks - begun < _MOST_TICKS_A_CALL:
            before = run.ticks
            try:
                run.tick()
            except OSError as error:
                self.pause()
                raise ValueError(f"run: {error}") from None
            self._due_s += (run.ticks - before) * TICK_S / self._speed
        if run.ticks - begun >= _MOST_TICKS_A_CALL:
            self._due_s = max(self._due_s, now_s)
        if run.is_over:
            self.pause()
        return run.ticks - begun

    def use_engine(self, name: str, make_engine: EngineMaker | None) -> None:
        """Play on another engine from the next beginning on, None on ours again; what was begun is given up.

        Of another engine its pictures are shown and no more: it has no blocks to click on, and no video.
        """
        self.leave()
        self.close()
        self._make_engine, self.engine_name = make_engine, BUILT_IN if make_engine is None else name

    def choose_engine(self, name: str) -> None:
        """Play on an engine of the menu from the next beginning on. ValueError: there is none, or it cannot start."""
        self.use_engine(name, self._shared.engines.maker(name))

    def close(self) -> None:
        """Stop another engine, where one was started."""
        if self._foreign is not None:
            self._foreign[2].close()
        self._foreign = None

    def take_over(self) -> None:
        """Let the person play from the next decision on; the player watches and remembers."""
        self._going().is_by_hand = True

    def hand_back(self) -> None:
        """Let the player go on from the next decision on."""
        run = self._begun()
        if run.casting.name == HUMAN or self.is_replay:
            raise ValueError("run: there is nobody to hand back to; choose a policy or the expert first")
        run.held.release()
        run.is_by_hand = False

    def hold(self, buttons: Iterable[str]) -> None:
        """Hear which buttons the person holds down now, names of worlds.types.BUTTONS."""
        self._begun().held.hold(buttons)

    def turn(self, right_deg: float, down_deg: float) -> None:
        """Hear that the person turned the view."""
        self._begun().held.turn(right_deg, down_deg)

    def clear_memory(self) -> None:
        """Make the player forget what it has seen of this episode."""
        self._begun().clear_memory()

    def send_goal(self) -> None:
        """Give the running episode the goal as it has been changed since."""
        run = self._going()
        if self.is_replay:
            raise ValueError("run: a recording plays its own goal; choose a policy or the expert first")
        run.exchange_goal(self._plan_for(run.casting.image_px))

    def view(self, size_px: tuple[int, int], *, has_overlay: bool = False) -> np.ndarray:
        """Return what the agent's eye sees, uint8 [H, W, 3] RGB; see eval.viewer.run_picture.picture_of."""
        return picture_of(self._begun(), size_px, has_overlay=has_overlay)

    def write_video(self, stem: Path, *, has_overlay: bool = True) -> Path:
        """Write what has been played to `stem` and a suffix; return the path. ValueError: nothing was, or no place."""
        return write_run_video(self._begun(), stem, self._shared.worlds, has_overlay=has_overlay)

    def frame(self) -> RunFrame:
        """Return the present moment. ValueError: nothing has been begun."""
        return frame_of(self._begun(), is_playing=self.is_playing)

    @property
    def draft(self) -> GoalDraft | None:
        """Return the goal that is being played; None before anything was begun."""
        return None if self._run is None else self._run.plan.draft

    def _engine(self, plan: Plan) -> EnvBackend:
        """Return the engine for a new episode: ours anew; another is kept while it fits, what it played is given up."""
        size, side_px = plan.draft.world.size_blocks, self._casting.image_px
        if self._make_engine is None:
            spare = self._spare
            if spare is not None and (spare.size_blocks, spare.image_px) == (size, (side_px, side_px)):
                return spare
            return VoxelBackend(1, size_blocks=size, image_px=(side_px, side_px), world_cache=self._shared.worlds)
        self._shared.engines.check_world(self.engine_name, plan.draft.world)
        self.pause()
        self._run = None
        if self._foreign is None or self._foreign[:2] != (size, side_px):
            self.close()
            self._foreign = size, side_px, self._make_engine(size, side_px)
        return self._foreign[2]

    def _begun(self) -> Run:
        if self._run is None:
            raise ValueError("run: nothing has been begun; make a goal and press play")
        return self._run

    def _going(self) -> Run:
        run = self._begun()
        if run.is_over:
            raise ValueError("run: the episode is over; reset to begin again")
        return run
