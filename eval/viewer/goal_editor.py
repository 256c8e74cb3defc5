"""Making a goal: every change a person can make to the draft, each whole or not at all, and each taken back by undo."""

from pathlib import Path
from typing import Any

import numpy as np

from eval.showcase.viewpoint import start_pose
from eval.viewer.desk import Desk, GoalView
from eval.viewer.draft import GoalDraft, History, OwnPicture, draft_of
from eval.viewer.goal_mask import flooded, grown, painted, pixels_of_kind
from eval.viewer.herd import herd
from eval.viewer.pointer import Hit
from eval.viewer.report import GoalReport, report_on
from eval.viewer.run import FREE_TICKS, Plan
from eval.viewer.start_choice import StartChoice, feet_on
from eval.viewer.task_file import load_task, save_task
from eval.viewer.upload import decode_picture
from task_synthesis.placement.aim import wrapped_deg
from task_synthesis.skills import SKILLS, base_kind, type_of
from task_synthesis.task import TaskSpec
from worlds.spec import Look, Placement, WorldSpec
from worlds.types import FACE_DOWN, FACE_EAST, FACE_NORTH, FACE_SOUTH, FACE_UP, FACE_WEST, Pose
from worlds.voxel.world_cache import WorldCache

GOAL_PX = 256
"""Side of the goal picture that a person sees and paints in."""
_STEP = {
    FACE_WEST: (-1, 0, 0), FACE_EAST: (1, 0, 0), FACE_DOWN: (0, -1, 0),
    FACE_UP: (0, 1, 0), FACE_NORTH: (0, 0, -1), FACE_SOUTH: (0, 0, 1),
}  # fmt: skip


class GoalEditor:
    """A draft of a goal with its history. A change is made whole, or refused with a ValueError and not made at all."""

    def __init__(self, worlds: WorldCache, first: GoalDraft) -> None:
        """Begin with a draft. ValueError: it cannot be shown."""
        self.desk = Desk(worlds)
        self.desk.show(first)
        self._history = History(first)
        self._stroke: GoalDraft | None = None  # what the last dab of the brush made
        self._starts = StartChoice()

    # ---- what there is ----

    @property
    def draft(self) -> GoalDraft:
        """Return what has been chosen so far."""
        return self._history.present

    @property
    def can_undo(self) -> bool:
        """Return whether there is something to take back."""
        return self._history.can_undo

    @property
    def can_redo(self) -> bool:
        """Return whether something was taken back."""
        return self._history.can_redo

    def view(self, side_px: int = GOAL_PX) -> GoalView:
        """Return the goal's picture and mask. ValueError: there is no goal view yet."""
        return self.desk.goal_view(side_px)

    def skills(self) -> list[str]:
        """Return the skills that can be asked for of the target; all while there is none."""
        target = self.draft.target
        return [name for name, skill in SKILLS.items() if target is None or type_of(target.kind) == skill.target]

    def plan(self, side_px: int) -> Plan:
        """Return what is played, for a player whose pictures are `side_px` square.

        Raises:
            ValueError: the goal is not complete, or cannot be played.
        """
        goal = self.desk.goal(side_px)
        draft = self.draft
        if draft.target is None or draft.goal_view is None:
            if draft.picture is None or not draft.picture.is_foreign:
                raise ValueError("goal: there is no target yet; click on a block, an animal or an item")
            return Plan(draft=draft, task=None, goal=goal, max_ticks=draft.max_ticks or FREE_TICKS)
        task = self.task()
        return Plan(draft=draft, task=task, goal=goal, max_ticks=task.max_ticks)

    def task(self) -> TaskSpec:
        """Return the draft as a task, measured once. ValueError: it is none yet."""
        task = self.desk.task()
        if self.draft.task is None:
            self._history.know_task(task)
            self.desk.show(self.draft)
        return task

    def report(self) -> GoalReport:
        """Return how hard the goal is, whether it can be done, and what may go wrong."""
        return report_on(self.desk)

    def save(self, path: Path) -> str:
        """Add the goal to a file of tasks; return where it is, as PATH:NUMBER. ValueError: it is no task yet."""
        return f"{path}:{save_task(path, self.task(), self.draft.picture)}"

    # ---- changes ----

    def open_world(self, spec: WorldSpec, *, look: Look | None = None, num_animals: int = 0) -> None:
        """Begin with a world, the agent in a good place, and animals of its biome around it."""
        world = self.desk.world_of(spec)
        start = start_pose(world)
        objects = herd(world, start, num_animals, seed=spec.seed)
        self._put(GoalDraft(world=spec, start=start, objects=objects, look=look or Look()))

    def open_task(self, task: TaskSpec, picture: OwnPicture | None = None) -> None:
        """Begin with a task, and the picture that somebody made for it."""
        self._put(draft_of(task).changed(picture=picture, task=task))

    def open_place(self, place: str) -> None:
        """Begin with the task that PATH:NUMBER or SUITE:NUMBER names. ValueError: there is none."""
        self.open_task(*load_task(place))

    def upload(self, content: bytes) -> None:
        """Take a PNG or JPEG from elsewhere as the goal picture; nothing in it is marked yet."""
        self.use_picture(decode_picture(content, GOAL_PX))

    def goal_from_here(self, eye: Pose) -> GoalView:
        """Make this eye the goal camera and return what it sees."""
        self._put(self.draft.changed(goal_view=self.desk.camera_at(eye), picture=None))
        return self.view()

    def choose_target(self, hit: Hit, *, eye: Pose | None = None) -> None:
        """Make what was clicked on the target; a block of the terrain becomes a placement of itself.

        With `eye`, that is where the goal is looked at from where there is no goal view yet.
        """
        draft = self.draft
        if hit.is_under_water:
            raise ValueError(
                f"target: water or lava hides this {base_kind(hit.kind)} from there; dive, or click above it"
            )
        if hit.object_index is not None and hit.object_index < len(draft.objects):
            fields: dict[str, Any] = {"target_index": hit.object_index, "adopted": None}
        elif hit.is_block:
            fields = {"target_index": len(draft.objects), "adopted": self.desk.adopted(hit)}
        else:
            raise ValueError(f"target: this {hit.kind} came into the world by itself; click on one that was put there")
        kind = type_of(hit.kind)
        if SKILLS[draft.skill].target != kind:
            fields["skill"] = next(name for name, skill in SKILLS.items() if skill.target == kind)
        draft = draft.changed(**fields, inventory=None, max_ticks=None, picture=self._foreign_picture())
        if eye is not None and draft.goal_view is None:
            draft = draft.changed(goal_view=self.desk.camera_at(eye))
        self._put(draft)

    def click_goal(self, row: int, column: int) -> None:
        """Click into the goal picture of GOAL_PX: what is there becomes the target; in an uploaded one, the mask."""
        draft = self.draft
        if draft.picture is not None and draft.picture.is_foreign:
            self._set_mask(flooded(draft.picture.image_HWC, row, column))
            return
        if draft.goal_view is None:
            raise ValueError("goal: there is no goal view yet; fly to a view and take the goal from there")
        self.choose_target(self.desk.hit_in_view(draft.goal_view, row, column, GOAL_PX))

    def choose_skill(self, name: str) -> None:
        """Ask for another deed."""
        if name not in self.skills():
            raise ValueError(f"skill: {name!r} cannot be asked for here; choose one of {', '.join(self.skills())}")
        self._put(self.draft.changed(skill=name, inventory=None, max_ticks=None))

    def paint(
        self, row: int, column: int, *, radius_px: float = 6.0, is_eraser: bool = False, goes_on: bool = False
    ) -> None:
        """Put the brush on a pixel of the goal picture of GOAL_PX; a stroke that `goes_on` is taken back as one."""
        mask_HW = painted(self.view().mask_HW, row, column, radius_px=radius_px, is_eraser=is_eraser)
        if goes_on and self.draft is self._stroke:
            self._history.undo()
        self._set_mask(mask_HW)
        self._stroke = self.draft

    def grow_to_same_kind(self) -> None:
        """Let the mask take in all blocks of the target's kind that hang together with it in the picture."""
        draft = self.draft
        target, eye = draft.target, draft.goal_view
        if target is None or eye is None or type_of(target.kind) != "block" or self._foreign_picture():
            raise ValueError("mask: growing needs a block as the target, seen by the goal camera; click on one first")
        is_kind_HW = pixels_of_kind(
            self.desk.engine, eye, base_kind(target.kind), side_px=GOAL_PX, fov_deg=draft.look.fov_deg
        )
        self._set_mask(grown(self.view().mask_HW, is_kind_HW))

    def reset_mask(self) -> None:
        """Go back to the engine's own mask; an uploaded picture loses what was painted."""
        picture = self._foreign_picture()
        if picture is not None:
            picture = OwnPicture(picture.image_HWC, np.zeros(picture.mask_HW.shape, bool), is_foreign=True)
        self._put_picture(picture)

    def use_picture(self, image_HWC: np.ndarray) -> None:
        """Take a picture from elsewhere as the goal, uint8 [GOAL_PX, GOAL_PX, 3]; nothing in it is marked yet."""
        if image_HWC.shape != (GOAL_PX, GOAL_PX, 3) or image_HWC.dtype != np.uint8:
            raise ValueError(
                f"picture: wanted uint8 {(GOAL_PX, GOAL_PX, 3)}, got {image_HWC.dtype} {image_HWC.shape}; decode it "
                "with eval.viewer.upload.decode_picture"
            )
        mask_HW = np.zeros((GOAL_PX, GOAL_PX), bool)
        self._put_picture(OwnPicture(image_HWC.copy(), mask_HW, is_foreign=True))

    def place_start(self, hit: Hit, *, yaw_deg: float | None = None) -> None:
        """Let the agent begin on top of the block that was clicked on, looking as before or to `yaw_deg`."""
        start = feet_on(hit, self.draft.start)
        if yaw_deg is not None:
            start = start._replace(yaw_deg=round(wrapped_deg(float(yaw_deg)), 2))
        fault = self.desk.survey.start_fault(start)
        if fault:
            raise ValueError(f"start: {fault}")
        self._put(self.draft.changed(start=start, max_ticks=None))

    def sample_start(self, band: str, *, seed: int, may_hide: bool = True) -> None:
        """Draw a start in `band` from which a walk leads to the target, as the synthesiser does, with that limit."""
        start = self._starts.draw(self.desk, band, seed=seed, may_hide=may_hide)
        self._put(self.draft.changed(start=start, max_ticks=None))

    def add_object(self, kind: str, hit: Hit) -> None:
        """Put a block, an animal or an item ("item:apple") against the face that was clicked on."""
        draft = self.draft
        dx, dy, dz = _STEP.get(hit.face, (0, 0, 0))
        size_x, _, size_z = draft.world.size_blocks
        x, y, z = hit.cell
        placement = Placement(kind=kind, position=((x + dx) % size_x, y + dy, (z + dz) % size_z))
        sort = type_of(kind)  # says when there is no such thing
        if any(placement.position == other.position for other in draft.placements):
            raise ValueError(f"object: something was put at {placement.position} already; click elsewhere")
        fault = self.desk.survey.object_fault(placement)
        if fault or not 1 <= placement.position[1] < draft.world.size_blocks[1] - 1:
            raise ValueError(f"object: a {sort} cannot be put there; click on top of the ground")
        index = draft.target_index
        if draft.adopted is not None and index is not None:
            index += 1  # the adopted block comes last
        self._put(draft.changed(objects=(*draft.objects, placement), target_index=index))

    def remove_object(self, index: int) -> None:
        """Take an object out of the world again; the target, too, which then is none."""
        draft = self.draft
        if not 0 <= index < len(draft.objects):
            raise ValueError(f"object: there is no number {index}; there are {len(draft.objects)}")
        target = draft.target_index
        if target is not None:
            target = None if target == index else target - (target > index)
        objects = (*draft.objects[:index], *draft.objects[index + 1 :])
        self._put(draft.changed(objects=objects, target_index=target, picture=self._foreign_picture()))

    def set_conditions(
        self,
        *,
        look: Look | None = None,
        inventory: tuple[tuple[str, int], ...] | None = None,
        max_ticks: int | None = None,
        episode_seed: int | None = None,
    ) -> None:
        """Change how the world is drawn, what the agent carries, how long it may take, or the seed; None leaves it.

        A limit of 0 is what skill and distance allow.
        """
        if max_ticks is not None and max_ticks < 0:
            raise ValueError(f"task: max_ticks must not be negative, got {max_ticks}")
        given = {"look": look, "inventory": inventory, "max_ticks": max_ticks, "episode_seed": episode_seed}
        fields: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if max_ticks == 0:
            fields["max_ticks"] = None
        draft = self.draft
        if all(getattr(draft, name) == value for name, value in fields.items()):
            return  # nothing to take back, and still the task that it was
        if draft.look != fields.get("look", draft.look):
            fields["picture"] = self._foreign_picture()  # what was painted in is a picture in another light
        self._put(draft.changed(**fields))

    def undo(self) -> None:
        """Take the last change back."""
        self._history.undo()
        self.desk.show(self.draft)

    def redo(self) -> None:
        """Make the change again that was taken back last."""
        self._history.redo()
        self.desk.show(self.draft)

    def _put(self, draft: GoalDraft) -> None:
        self.desk.show(draft)
        self._history.add(draft)

    def _put_picture(self, picture: OwnPicture | None) -> None:
        # The task stays what it is: what counts in it is not how its goal is shown.
        self._put(self.draft.changed(picture=picture, task=self.draft.task))

    def _foreign_picture(self) -> OwnPicture | None:
        picture = self.draft.picture
        return picture if picture is not None and picture.is_foreign else None

    def _set_mask(self, mask_HW: np.ndarray) -> None:
        view = self.view()
        is_foreign = self._foreign_picture() is not None
        self._put_picture(OwnPicture(view.image_HWC, mask_HW, is_foreign))
