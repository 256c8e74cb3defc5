"""The Task tab: a world, a target, a goal picture with its mask, a start; saved as a task."""

import dataclasses
from typing import TYPE_CHECKING

import viser

from eval.viewer.app_control import Choice, Forward
from eval.viewer.app_panel_look import LookPanel
from eval.viewer.task_file import SUFFIX
from task_synthesis.task import BANDS, Difficulty
from worlds.generate.biomes import BIOMES
from worlds.mobs.kinds import MOBS
from worlds.types import TICK_S

if TYPE_CHECKING:
    from eval.viewer.app_booth import Booth

CLICK_USES: dict[str, str] = {
    "choose the target": "target",
    "place the start": "start",
    "put a thing": "object",
    "take a thing away": "away",
}
_TOOLS = ("click", "brush", "erase")
_UPLOAD = (
    '<label style="display:block;margin:2px 10px 8px;padding:7px;border:1px dashed #5a6b76;border-radius:6px;'
    'text-align:center;cursor:pointer;font-size:13px">Upload a goal picture (PNG or JPEG, 8 MB)'
    '<input id="mcrl-upload" type="file" accept="image/png,image/jpeg" style="display:none"></label>'
)


class TaskPanel:
    """The controls of the Task tab."""

    def __init__(self, booth: "Booth", gui: viser.GuiApi) -> None:
        """Build them in the container that is open."""
        self._booth = booth
        session = booth.session
        draft = session.goal.draft
        with gui.add_folder("Target and goal"):
            self._click_use = gui.add_dropdown("A click shall", tuple(CLICK_USES), hint="Click into the 3-D world.")
            self._object = gui.add_dropdown("Thing", _things(), visible=False)
            goal_here = gui.add_button("Goal from here", icon=viser.Icon.CAMERA, hint="Your view is the goal picture.")
            self._skill = gui.add_dropdown("Deed", tuple(session.goal.skills()), initial_value=draft.skill)
            undo = gui.add_button_group("", ("Undo", "Redo"))
        with gui.add_folder("Mask", expand_by_default=False):
            self._tool = gui.add_button_group("Mouse in picture", _TOOLS, hint="In the goal picture.")
            self._radius = gui.add_slider("Brush px", min=1, max=40, step=1, initial_value=6)
            mask = gui.add_button_group(" ", ("Grow to same kind", "Reset mask"))
            gui.add_html(_UPLOAD)
        with gui.add_folder("Start", expand_by_default=False):
            self._band = gui.add_dropdown("Distance", tuple(BANDS))
            sample = gui.add_button("Draw a start", icon=viser.Icon.DICE)
        self._look = LookPanel(booth, gui)
        with gui.add_folder("Check and save"):
            check = gui.add_button("Check", icon=viser.Icon.CHECKLIST, hint="How hard is it? Can it be done?")
            self._report = gui.add_markdown("")
            self._file = gui.add_text("File", f"my_tasks/mine{SUFFIX}")
            save = gui.add_button("Save task", icon=viser.Icon.DEVICE_FLOPPY)
        with gui.add_folder("World", expand_by_default=False):
            self._seed = gui.add_number("Seed", draft.world.seed, min=0, max=2**31 - 1, step=1)
            self._biome = gui.add_dropdown("Biome", tuple(BIOMES), initial_value=draft.world.biome)
            new = gui.add_button("Show this world", icon=viser.Icon.WORLD)
            self._place = gui.add_text("Task", "", hint="FILE.jsonl:NUMBER or SUITE:NUMBER")
            load = gui.add_button("Open task", icon=viser.Icon.FOLDER_OPEN)
        self._draws = 0
        self._checked = draft  # what the report is of
        self._world = draft.world  # whose seed and biome are shown
        forward = Forward(booth.do)
        self._click_use.on_update(lambda event: self._choose_use())
        goal_here.on_click(forward(lambda: session.goal.goal_from_here(booth.eye)))
        self._skill_choice = Choice(
            forward, self._skill, read=lambda: session.goal.draft.skill, write=session.goal.choose_skill
        )
        undo.on_click(forward.valued(lambda what: session.goal.undo() if what == "Undo" else session.goal.redo()))
        choose_tool = forward.reading(booth.choose_brush, self._tool, self._radius)
        self._tool.on_click(choose_tool)
        self._radius.on_update(choose_tool)
        booth.choose_brush(self._tool.value, self._radius.value)  # a page that was left may have chosen another
        mask.on_click(
            forward.valued(
                lambda what: session.goal.reset_mask() if what == "Reset mask" else session.goal.grow_to_same_kind()
            )
        )
        sample.on_click(forward.reading(self._sample, self._band))
        check.on_click(forward(self._check))
        save.on_click(forward.reading(self._save, self._file))
        new.on_click(forward.reading(self._open_world, self._seed, self._biome))
        load.on_click(forward.reading(self._open_task, self._place))

    @property
    def click_use(self) -> str:
        """Return what a click into the world does."""
        return CLICK_USES[self._click_use.value]

    @property
    def object_kind(self) -> str:
        """Return what a click puts into the world."""
        return self._object.value

    def update(self) -> None:
        """Show the session's draft."""
        goal = self._booth.session.goal
        skills = tuple(goal.skills())
        if self._skill.options != skills:
            self._skill.options = skills
        self._skill_choice.update()
        self._look.update()
        if goal.draft.world != self._world:  # not before: a person may be writing here
            self._world = goal.draft.world
            if self._world.source == "generated":
                self._seed.value, self._biome.value = self._world.seed, self._world.biome
        # What is played or saved is known as a task from then on, and no other goal.
        if self._report.content and dataclasses.replace(goal.draft, task=self._checked.task) != self._checked:
            self._report.content = ""

    def _choose_use(self) -> None:
        self._object.visible = self.click_use == "object"

    def _sample(self, band: str) -> None:
        self._draws += 1
        self._booth.session.goal.sample_start(band, seed=self._draws)

    def _check(self) -> None:
        report = self._booth.session.goal.report()
        lines = [f"**This is no task yet:** {report.fault}"] if report.fault else []
        if report.difficulty is not None and report.max_ticks is not None:
            lines += [f"{report.band}, {report.max_ticks * TICK_S:.0f} s, world of the split {report.split}"]
            lines += [f"{name}: {value}" for name, value in _fields(report.difficulty)]
            lines += ["a walk leads there" if report.is_reachable else "**no walk leads there**"]
        self._report.content = "  \n".join([*lines, *(f"*{warning}*" for warning in report.warnings)])
        self._checked = self._booth.session.goal.draft

    def _save(self, file: str) -> None:
        session = self._booth.session
        is_replaced = session.replaces_picture(file.strip())
        words = f"Saved as {session.save(file.strip())}"
        if is_replaced:
            words += ", with this goal picture in place of the one that it had"
        if session.goal.draft.picture is not None:
            words += ". What you painted or uploaded is beside it, for this viewer alone"
        self._booth.say(f"{words}.")

    def _open_world(self, seed: int, biome: str) -> None:
        run = self._booth.session.run
        if self._booth.session.shared.engines.has_own_worlds(run.engine_name):
            self._booth.announce(f"{run.engine_name} is started to make its world: up to a minute.")
        self._booth.session.open_seed(int(seed), biome)
        self._booth.jump("agent")

    def _open_task(self, place: str) -> None:
        self._booth.session.open_place(place.strip())
        self._booth.jump("agent")


def _fields(difficulty: Difficulty) -> list[tuple[str, str]]:
    """Return what is known of how hard a task is, in words."""
    values = dataclasses.asdict(difficulty).items()
    return [
        (name.replace("_", " "), f"{value:.3g}" if isinstance(value, float) else str(value)) for name, value in values
    ]


def _things() -> tuple[str, ...]:
    """Return what is often put into a world."""
    blocks = ("oak_log", "gold_block", "diamond_ore", "chest", "furnace", "oak_door", "crafting_table", "red_wool")
    return (*(kind.name for kind in MOBS), *blocks, "item:apple", "item:diamond")
