"""One person's viewer without a screen: a world, a goal being made, runs of it, and libraries to browse.

Everything the page does is a call here. A session has no threads and no clock of its own: the page calls `tick`. It
shares nothing with other sessions but what none of them changes. What a person can do wrong raises ValueError with one
sentence to show, and changes nothing.
"""

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eval.showcase.viewpoint import start_pose
from eval.viewer.browser import Browser
from eval.viewer.desk import GoalView
from eval.viewer.draft import GoalDraft
from eval.viewer.goal_editor import GoalEditor
from eval.viewer.pair import Pair
from eval.viewer.players import RECORDING, Casting
from eval.viewer.pointer import Hit, hit_of_ray
from eval.viewer.run_control import RunControl
from eval.viewer.scene_place import Ground
from eval.viewer.scenery import BlockChanges, Body, Scenery, bodies_of
from eval.viewer.shared import Shared
from eval.viewer.task_file import SUFFIX, replaces_picture
from task_synthesis.skills import base_kind
from worlds.blocks import BLOCK_ID
from worlds.spec import BLOCK_MASK, WorldSpec
from worlds.types import EYE_HEIGHT_BLOCKS, Pose
from worlds.voxel.backend import VoxelBackend

FIRST_WORLD = WorldSpec(seed=0, biome="forest")
"""What a session shows before anything was opened."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """What is in the world besides blocks, now. Places in blocks; the world repeats itself beyond its borders."""

    world: WorldSpec
    bodies: tuple[Body, ...]
    """Mobs and items."""
    agent: Pose
    """Feet."""
    eye: Pose
    """The agent's eye."""
    path: tuple[tuple[float, float, float], ...]
    """Feet at every tick of the run, the start first."""
    rival: Pose | None
    """Feet of the agent of the run beside it; None without one."""
    rival_path: tuple[tuple[float, float, float], ...]
    start: Pose
    """Feet."""
    goal_view: Pose | None
    """Eye of the goal camera."""
    target_cell: tuple[int, int, int] | None
    """Cell of a target that is a block."""
    target_feet: tuple[float, float, float] | None
    """Of a target that is a mob or an item, while it is there."""
    target_kind: str
    """"" while there is no target."""


class ViewerSession:
    """A state machine without a screen; see the top of the file.

    `goal` makes goals, `run` plays them, `rival` plays the same beside it for a comparison, `pair` is both on
    one clock, `browse` looks through libraries and evaluations.
    """

    def __init__(self, shared: Shared | None = None, *, world: WorldSpec = FIRST_WORLD) -> None:
        """Show a world. ValueError: it cannot be made."""
        self.shared = shared or Shared()
        first = GoalDraft(world=world, start=start_pose(self.shared.worlds.get([world])[0].world))
        self.goal = GoalEditor(self.shared.worlds, first)
        self.run = RunControl(self.shared, self.goal.plan)
        self.rival = RunControl(self.shared, self.goal.plan)
        self.pair = Pair(self.run, self.rival)
        self.browse = Browser(self.shared.worlds, self.shared.reach)
        self.place = ""
        """PATH:NUMBER or SUITE:NUMBER of the task that was opened last; "" before."""
        self._scenery = Scenery()

    # ---- the world ----

    @property
    def engine(self) -> VoxelBackend:
        """Return the blocks that are shown: the run's world, else the goal's at its start, as on other engines."""
        run = self.run.run
        return self.goal.desk.engine if run is None or run.voxel is None else run.voxel

    @property
    def shown(self) -> GoalDraft:
        """Return the goal whose world is shown: that of the run, else the one being made."""
        return self.run.draft or self.goal.draft

    def state_XZY(self) -> np.ndarray:
        """Return the blocks now, uint16 [X, Z, Y], indices into worlds.blocks.STATES; a copy."""
        return self.engine.state.terrain.block_EXZY[0] & np.uint16(BLOCK_MASK)

    def changes(self) -> BlockChanges:
        """Return which blocks are others than at the last call, for mending a mesh."""
        return self._scenery.changes(self.engine, self.shown.world)

    def scene(self) -> Scene:
        """Return what is in the world besides blocks."""
        draft, run, rival = self.shown, self.run.run, self.rival.run
        bodies = tuple(bodies_of(self.engine))
        target, cell, feet = draft.target, None, None
        if target is not None:
            if base_kind(target.kind) in BLOCK_ID:
                cell = target.position
            else:
                feet = next((body.feet for body in bodies if body.object_index == draft.target_index), None)
        agent = draft.start if run is None else _pose(run.last.pose_E5[0])
        return Scene(
            world=draft.world,
            bodies=bodies,
            agent=agent,
            eye=draft.start._replace(y=draft.start.y + EYE_HEIGHT_BLOCKS) if run is None else run.eye,
            path=() if run is None else tuple(run.trace.places),
            rival=None if rival is None else _pose(rival.last.pose_E5[0]),
            rival_path=() if rival is None else tuple(rival.trace.places),
            start=draft.start,
            goal_view=draft.goal_view,
            target_cell=cell,
            target_feet=feet,
            target_kind="" if target is None else target.kind,
        )

    def hit(
        self,
        origin: tuple[float, float, float],
        direction: tuple[float, float, float],
        *,
        ground: Ground | None = None,
    ) -> Hit:
        """Return what a ray meets first in the world that is shown. ValueError: only sky.

        `ground` is the copy of the world that the ray goes through; None is the one around the start.
        """
        if ground is None:
            ground = Ground.around(self.shown.world.size_blocks, (self.shown.start.x, self.shown.start.z))
        return hit_of_ray(self.engine, origin, direction, corner=ground.corner)

    def check_click(self) -> None:
        """Refuse a click into the world while a person plays. ValueError: one does, and meant to hit."""
        run = self.run.run
        if run is not None and run.is_by_hand and not run.is_over:
            raise ValueError(
                "You play by hand, so a click into the world does nothing: click in the agent's picture to hit; to "
                "change the goal, press Stop first."
            )

    def click(
        self,
        origin: tuple[float, float, float],
        direction: tuple[float, float, float],
        *,
        eye: Pose | None = None,
        ground: Ground | None = None,
    ) -> GoalView | None:
        """Make what a ray meets the target; return the goal picture with its mask, None while there is no goal view.

        With `eye` the goal is looked at from there where there is no goal view yet. `ground` as for `hit`. ValueError:
        only sky, or nothing that can be a target.
        """
        self.goal.choose_target(self._of_goal(self.hit(origin, direction, ground=ground)), eye=eye)
        has_view = self.goal.draft.goal_view is not None or self.goal.draft.picture is not None
        return self.goal.view() if has_view else None

    def take_away(
        self,
        origin: tuple[float, float, float],
        direction: tuple[float, float, float],
        *,
        ground: Ground | None = None,
    ) -> None:
        """Take what a ray meets out of the goal's world again. ValueError: not put there. `ground` as for `hit`."""
        hit = self._of_goal(self.hit(origin, direction, ground=ground))
        if hit.object_index is None or hit.object_index >= len(self.goal.draft.objects):
            raise ValueError(f"object: this {base_kind(hit.kind)} was not put there; click on a thing that was")
        self.goal.remove_object(hit.object_index)

    def _of_goal(self, hit: Hit) -> Hit:
        """Return what was hit in the world that is shown, with its index in the goal, which may have changed since."""
        run = self.run.run
        if hit.object_index is None or run is None or run.voxel is None:
            return hit  # of terrain, or of the goal's own world
        # Things alone: which block of the terrain is the run's target may have changed in its midst.
        thing, objects = run.plan.draft.objects[hit.object_index : hit.object_index + 1], self.goal.draft.objects
        index = objects.index(thing[0]) if thing and thing[0] in objects else None
        return dataclasses.replace(hit, object_index=index)

    def open_world(self, world: WorldSpec, *, num_animals: int = 0) -> None:
        """Show another world, and begin a goal in it. ValueError: it cannot be made; the old one stays."""
        self.goal.open_world(world, num_animals=num_animals)
        self.leave()

    def open_seed(self, seed: int, biome: str) -> None:
        """Begin with a world of this seed: of the biome, or of the engine that plays, where that has its own worlds."""
        self.open_world(self.shared.engines.world(self.run.engine_name, seed=seed, biome=biome))

    def open_place(self, place: str) -> None:
        """Show the task that PATH:NUMBER or SUITE:NUMBER names. ValueError: there is none; what was shown stays."""
        self.goal.open_place(self.shared.reach.of(place))
        self.place = place
        self.leave()

    def save(self, path: str) -> str:
        """Add the goal to a file of tasks that a page has named; see GoalEditor.save."""
        return self.goal.save(self._file(path))

    def replaces_picture(self, path: str) -> bool:
        """Return whether `save` would give a task that is in the file another goal picture. ValueError: no task yet."""
        return replaces_picture(self._file(path), self.goal.task(), self.goal.draft.picture)

    def _file(self, path: str) -> Path:
        if not path:
            raise ValueError(f"save: name a file, for instance my_tasks/mine{SUFFIX}")
        return Path(self.shared.reach.of(path))

    def open_entry(self, number: int) -> None:
        """Show a task that is open in the browser. ValueError: there is none."""
        self.goal.open_task(self.browse.entry(number).task, self.browse.own_picture(number))
        self.leave()

    def replay(self, number: int, row: str, *, beside: str | None = None) -> None:
        """Show how `row` played a task of the evaluation that is open, paused at its start; `beside` plays as rival.

        ValueError: one of them did not play it, or the actions were not kept; what was shown stays.
        """
        recordings = [self.browse.recording(number, name) for name in (row, beside) if name is not None]
        self.shared.engines.check_world(self.run.engine_name, self.browse.entry(number).task.world)
        self.open_entry(number)
        for control, (episode, actions) in zip((self.run, self.rival), recordings, strict=False):
            control.use(Casting(name=f"{RECORDING} of {episode.row}", recording=actions, recorded=episode))
            control.reset()

    def leave(self) -> None:
        """Give up the runs."""
        self.pair.leave()

    def close(self) -> None:
        """End the session: stop what it started."""
        self.leave()
        self.run.close()
        self.rival.close()

    # ---- time ----

    def tick(self, now_s: float) -> int:
        """Let time pass in the runs up to `now_s`, seconds of a steady clock; return how many ticks were played."""
        return self.pair.tick(now_s)


def _pose(pose_5: np.ndarray) -> Pose:
    x, y, z, yaw_deg, pitch_deg = pose_5.tolist()
    return Pose(x, y, z, yaw_deg, pitch_deg)
