"""The evaluation suites: fixed sets of tasks in held-out worlds, each frozen in a file and named by a content hash.

The tasks lie in eval/suite_tasks/NAME.vN.jsonl.gz and are loaded without synthesis; index.json beside them holds the
hash of each. `mcrl suites --freeze NAME` makes the file again from the definition below.
"""

import dataclasses
import gzip
import hashlib
import zlib

from eval.suites.suite import Suite
from task_synthesis.held_out import FIRST_HELD_OUT_VARIANT, HELD_OUT_BIOMES
from task_synthesis.look_mix import LookMix
from task_synthesis.synthesis_config import SynthesisConfig, at_scale
from task_synthesis.task import TaskSpec, from_json_line
from task_synthesis.views.view_shift import view_shift_deg

# 7 skills x 3 bands x 48, and 7 x 2 x 72.
_NUM_TASKS = 1008
# By name: a skill that is added later leaves the suites what they are.
_SKILLS = ("approach", "break", "interact", "hunt", "archery", "pick_up", "place")
# Few tasks a world, many worlds: what is measured is how an agent does in new ones.
_BASE = at_scale(skills=dict.fromkeys(_SKILLS, 1.0), bands={"near": 1.0, "easy": 1.0, "medium": 1.0}, tasks_per_world=2)
_NUM_SHIFTS = 6
_SHIFT_DEG = 180.0 / _NUM_SHIFTS
_HELD_OUT_TEXTURES = tuple(f"own:{FIRST_HELD_OUT_VARIANT + index}" for index in range(8))


def _if_hidden(task: TaskSpec) -> int | None:
    return 0 if not task.difficulty.in_sight and not task.difficulty.visible_at_start else None


def _by_shift(task: TaskSpec) -> int:
    return min(int(view_shift_deg(task) / _SHIFT_DEG), _NUM_SHIFTS - 1)


SUITES: dict[str, Suite] = {
    suite.name: suite
    for suite in (
        Suite(
            name="laptop",
            version=1,
            claim="the agent of the laptop recipe finds and breaks blocks in worlds like its own, of seeds never seen",
            num_tasks=1024,
            synthesis=SynthesisConfig(
                biomes=("plains", "forest", "desert", "snowy_hills"), side_blocks=64, tasks_per_world=2
            ),
        ),
        Suite(
            name="unseen_seeds",
            version=1,
            claim="what was learned holds in worlds of seeds never seen, with biomes, kinds and looks as in training",
            num_tasks=_NUM_TASKS,
            synthesis=_BASE,
        ),
        Suite(
            name="unseen_biomes",
            version=1,
            claim=f"it holds in biomes that no training world has: {', '.join(HELD_OUT_BIOMES)}",
            num_tasks=_NUM_TASKS,
            synthesis=dataclasses.replace(_BASE, biomes=HELD_OUT_BIOMES),
        ),
        Suite(
            name="unseen_textures",
            version=1,
            claim="it holds when everything is coloured anew, from dusk to night, in thick fog and rain",
            num_tasks=_NUM_TASKS,
            synthesis=dataclasses.replace(
                _BASE,
                looks=LookMix(
                    textures=_HELD_OUT_TEXTURES,
                    time_ticks=(11100, 13500),  # from late light to night, which begins at 13000
                    fog=(1.6, 3.0),
                    weather=("clear", "rain"),
                    tint_reach=0.15,
                ),
            ),
        ),
        Suite(
            name="unseen_objects",
            version=1,
            claim="it holds for blocks, animals and items that training never shows, told apart by the picture alone",
            num_tasks=_NUM_TASKS,
            synthesis=dataclasses.replace(_BASE, kinds="held_out"),
        ),
        Suite(
            name="far",
            version=1,
            claim="it holds where the target is 20 to 60 blocks away",
            num_tasks=_NUM_TASKS,
            synthesis=dataclasses.replace(_BASE, bands={"medium": 1.0, "hard": 1.0}),
        ),
        Suite(
            name="occluded",
            version=1,
            claim="the agent searches: from the start no turn of the head shows the target",
            num_tasks=_NUM_TASKS,
            # About every second task is hidden: more of a world are looked at.
            synthesis=dataclasses.replace(_BASE, hidden_share=1.0, tasks_per_world=4),
            part_of=_if_hidden,
        ),
        Suite(
            name="distractors",
            version=1,
            claim="mask and landmarks are read: two to four others of the target's kind are near, touching one fails",
            num_tasks=_NUM_TASKS,
            synthesis=dataclasses.replace(_BASE, num_same_kind=(2, 4)),
        ),
        Suite(
            name="companions",
            version=1,
            claim="the picture tells which is meant: two to four others of its kind, another thing beside each",
            num_tasks=_NUM_TASKS,
            synthesis=dataclasses.replace(_BASE, num_same_kind=(2, 4), companions=True),
        ),
        Suite(
            name="memory",
            version=1,
            claim="what was seen is remembered: the first frame shows the target, half the walk or more hides it",
            num_tasks=_NUM_TASKS,
            # A near target is lost on one walk in thirty.
            synthesis=dataclasses.replace(
                _BASE, bands={"easy": 1.0, "medium": 1.0}, hidden_share=0.0, min_hidden_walk=0.5
            ),
        ),
        Suite(
            name="goal_view_shift",
            version=1,
            claim=f"how success falls with the angle between start and goal camera, {_NUM_SHIFTS} equal parts of 180",
            num_tasks=_NUM_TASKS,
            synthesis=dataclasses.replace(_BASE, tasks_per_world=3),
            num_parts=_NUM_SHIFTS,
            part_of=_by_shift,
        ),
    )
}


def suite_of(name: str) -> Suite:
    """Return a suite by its name; raise ValueError for an unknown one."""
    if name not in SUITES:
        raise ValueError(f"suite {name!r} is unknown; there are {', '.join(SUITES)}")
    return SUITES[name]


def load_suite(name: str, num_tasks: int | None = None) -> list[TaskSpec]:
    """Return the first tasks of a frozen suite, all by default; every prefix is balanced over skills and bands.

    Raises:
        ValueError: the suite is unknown, has fewer tasks, or its file is not the one that was frozen.
    """
    suite = suite_of(name)
    if num_tasks is not None and not 1 <= num_tasks <= suite.num_tasks:
        raise ValueError(f"suite {suite.label} holds {suite.num_tasks} tasks: choose 1 to that many, not {num_tasks}")
    wanted = suite.sha256
    try:
        text = gzip.decompress(suite.path.read_bytes())
    except (OSError, EOFError, zlib.error):
        text = b""
    if hashlib.sha256(text).hexdigest() != wanted:
        raise ValueError(f"{suite.path}: missing, broken or not the tasks frozen as {suite.label}; get the file again")
    lines = text.decode("ascii").splitlines()[:num_tasks]
    return [from_json_line(line, where=f"{suite.path}:{number}") for number, line in enumerate(lines, 1)]
