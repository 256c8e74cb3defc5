"""Where a goal is made: the draft's world as it is at the start of the episode, with a camera. H W C image."""

import math
from dataclasses import dataclass

import numpy as np

from eval.viewer.draft import GoalDraft
from eval.viewer.goal_mask import resized_image, resized_mask
from eval.viewer.pointer import Hit, hit_of_ray, pixel_directions
from task_synthesis.by_hand.user_tasks import IMAGE_PX
from task_synthesis.goal import CrossViewGoal
from task_synthesis.placement.aim import wrapped_deg
from task_synthesis.placement.survey import Survey, band_of
from task_synthesis.prerequisites import impossible_deed, max_ticks
from task_synthesis.skills import base_kind
from task_synthesis.task import TaskSpec
from worlds.blocks import AIR, STATE_ID
from worlds.spec import BLOCK_MASK, Placement, World, WorldSpec
from worlds.types import INSTANCE_FIRST_OBJECT, Pose, ViewBatch
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.world_cache import WorldCache


@dataclass(frozen=True, slots=True, eq=False)
class GoalView:
    """What the goal camera sees, or the picture that took its place."""

    image_HWC: np.ndarray  # uint8 [H, W, 3] RGB
    mask_HW: np.ndarray  # bool [H, W], the target's visible pixels, or those that a person painted
    is_exact: bool
    """The mask is the engine's own; False where a person made it."""


class Desk:
    """The draft's world at tick 0, in an engine of its own: nothing here disturbs a run."""

    def __init__(self, worlds: WorldCache) -> None:
        """Make worlds by way of `worlds`."""
        self._worlds = worlds
        self._draft: GoalDraft | None = None
        self.engine: VoxelBackend
        self._survey: Survey | None = None

    def show(self, draft: GoalDraft) -> None:
        """Put the draft into env 0. ValueError: it cannot be there; the desk then shows what it showed."""
        if self._draft is not None and draft == self._draft:
            return
        size = draft.world.size_blocks
        if self._draft is None or size != self.engine.size_blocks:
            engine = VoxelBackend(
                1, size_blocks=size, image_px=(IMAGE_PX, IMAGE_PX), with_depth=True, world_cache=self._worlds
            )
            engine.reset([0], [draft.episode()])
            self.engine, self._survey = engine, None
        else:
            try:
                self.engine.reset([0], [draft.episode()])
            except ValueError:
                self.engine.reset([0], [self._draft.episode()])
                raise
        self._draft = draft

    @property
    def draft(self) -> GoalDraft:
        """Return what is shown."""
        assert self._draft is not None
        return self._draft

    @property
    def survey(self) -> Survey:
        """Return what measures tasks here; it leaves the desk as it finds it when the draft is measured."""
        if self._survey is None:
            self._survey = Survey(self.engine)
        return self._survey

    def world_of(self, spec: WorldSpec) -> World:
        """Return a world without objects. Read-only."""
        return self._worlds.get([spec])[0].world

    def views(self, eye: Pose, size_px: tuple[int, int]) -> ViewBatch:
        """Return what a camera sees, one view of (height, width) pixels, with depth."""
        return self.engine.render_lens(
            [0], np.array([eye], np.float64), image_px=size_px, fov_deg_V=np.array([self.draft.look.fov_deg])
        )

    def camera_at(self, eye: Pose) -> Pose:
        """Return the goal camera of this eye, within the world and in round numbers. ValueError: it cannot be there."""
        if not all(math.isfinite(value) for value in eye):
            raise ValueError(f"goal: the camera at {tuple(eye)} is nowhere; give finite numbers")
        size_x, size_y, size_z = self.draft.world.size_blocks
        eye = Pose(
            round(eye.x % size_x, 3) % size_x,
            round(eye.y, 3),
            round(eye.z % size_z, 3) % size_z,
            round(wrapped_deg(eye.yaw_deg), 2),
            round(min(90.0, max(-90.0, eye.pitch_deg)), 2),
        )
        if 0 <= eye.y < size_y:
            block_XZY = self.engine.state.terrain.block_EXZY[0]
            if block_XZY[math.floor(eye.x), math.floor(eye.z), math.floor(eye.y)] & BLOCK_MASK != AIR:
                raise ValueError("goal: the camera is inside a block; fly into the open")
        return eye

    def goal_view(self, side_px: int) -> GoalView:
        """Return the goal's picture and mask, `side_px` square. ValueError: there is no goal camera and no picture."""
        draft = self.draft
        if draft.picture is not None:
            return GoalView(
                resized_image(draft.picture.image_HWC, side_px), resized_mask(draft.picture.mask_HW, side_px), False
            )
        if draft.goal_view is None:
            raise ValueError("goal: there is no goal view yet; fly to a view and take the goal from there")
        views = self.views(draft.goal_view, (side_px, side_px))
        if draft.target_index is None:
            mask_HW = np.zeros((side_px, side_px), bool)
        else:
            mask_HW = views.instance_VHW[0] == INSTANCE_FIRST_OBJECT + draft.target_index
        return GoalView(views.image_VHWC[0], mask_HW, True)

    def goal(self, side_px: int) -> CrossViewGoal:
        """Return the goal as a policy of that picture size sees it. ValueError: it is not complete."""
        view = self.goal_view(side_px)
        if not view.mask_HW.any():
            raise ValueError(
                "goal: nothing is marked in the goal picture; click on the target, or turn the goal camera to it"
            )
        return CrossViewGoal(view.image_HWC, view.mask_HW, self.draft.interaction)

    def hit_in_view(self, eye: Pose, row: int, column: int, side_px: int) -> Hit:
        """Return what a pixel of a square picture shows. ValueError: sky, or no pixel of it."""
        if not (0 <= row < side_px and 0 <= column < side_px):
            raise ValueError(f"click: pixel ({row}, {column}) is outside the picture of {side_px} x {side_px}")
        direction_3 = pixel_directions(
            eye, np.array(row), np.array(column), size_px=(side_px, side_px), fov_deg=self.draft.look.fov_deg
        )
        dx, dy, dz = (float(value) for value in direction_3)
        # What is too far away to be drawn is sky in the picture.
        return hit_of_ray(self.engine, (eye.x, eye.y, eye.z), (dx, dy, dz), max_blocks=self.engine.view_range_blocks)

    def adopted(self, hit: Hit) -> Placement:
        """Return the placement that is this block of the terrain itself. ValueError: it is not there at the start."""
        x, y, z = hit.cell
        if int(self.engine.state.terrain.block_EXZY[0, x, z, y]) & BLOCK_MASK != STATE_ID[hit.kind]:
            raise ValueError(
                f"target: at the start of the episode there is no {base_kind(hit.kind)} at {x}, {y}, {z}; choose what "
                "was there from the beginning"
            )
        return Placement(kind=hit.kind, position=hit.cell)

    def task(self) -> TaskSpec:
        """Return the draft as a task, its difficulty measured. That no walk leads to the target is no error.

        Raises:
            ValueError: there is no target or goal view, a body cannot stand at the start, the goal view does not show
                the target, or the deed cannot be done at all.
        """
        draft = self.draft
        if draft.task is not None:
            return draft.task
        if draft.target is None:
            raise ValueError("task: there is no target yet; click on a block, an animal or an item")
        if draft.goal_view is None:
            raise ValueError(
                "task: there is no goal view yet; fly to a view of the target and take the goal from there"
            )
        kind = base_kind(draft.target.kind)
        if impossible := impossible_deed(draft.skill_row, kind):
            raise ValueError(f"task: {impossible}; choose another target or skill")
        # Somebody may want the way to be dug or built: the report says that there is none.
        difficulty = self.survey.measure(draft.episode(), draft.goal_view, on_unreachable=lambda what: None)
        band = band_of(difficulty.distance_blocks)
        limit = draft.max_ticks or max_ticks(draft.skill_row, kind, band)
        return TaskSpec(
            family=f"{draft.skill}/{kind}",
            band=band,
            world=draft.world,
            placements=draft.placements,
            target_index=draft.target_index or 0,
            start=draft.start,
            goal_view=draft.goal_view,
            inventory=draft.carried,
            max_ticks=limit,
            difficulty=difficulty,
            look=draft.look,
            episode_seed=draft.episode_seed,
        )

    def is_reachable(self) -> bool:
        """Return whether a walk leads to where the target is in reach. ValueError: the draft is no task."""
        draft, words = self.draft, list[str]()
        if draft.goal_view is None or draft.target is None:
            raise ValueError("task: there is no target or no goal view yet")
        self.survey.measure(draft.episode(), draft.goal_view, on_unreachable=words.append)
        return not words
