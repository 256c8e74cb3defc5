"""Other ways to tell a policy what is wanted: what cross-view goals are held against.

Each form fills the same picture and mask as a cross-view goal, so that every policy of an ablation has the same
network, the same number of parameters and the same training; only what the goal says differs. The interaction is told
in every form. Forms are functions of the goal and the task alone: the same task gives the same bytes everywhere.
"""

import hashlib
from functools import cache
from typing import Literal, get_args

import numpy as np

from task_synthesis.goal import CrossViewGoal
from task_synthesis.skills import base_kind
from task_synthesis.task import TaskSpec
from worlds.spec import ITEM_PREFIX

GoalForm = Literal["cross_view", "blank", "kind_card", "word_card", "close_up"]
"""cross_view: the picture and mask of the goal view.
blank: a black picture and an empty mask; a policy that does well with it does not use its goal.
kind_card: a one-hot goal, one fixed pattern of colours for each kind of target, and an empty mask.
word_card: a language-like goal, one fixed pattern for each word of "break gold block", and an empty mask.
close_up: the box around the target cut out of the goal view and enlarged, its mask likewise; no landmarks.
"""

GOAL_FORMS: tuple[GoalForm, ...] = get_args(GoalForm)

_KIND_CELLS = 4  # a side of the kind card
_WORDS_PER_SIDE = 3  # of the word card: room for nine words, and the longest names of blocks have six with the skill
_WORD_CELLS = 3  # a side of one word's pattern
# Three levels a channel: as far apart as 27 colours can be.
_PALETTE_N3 = np.array([(r, g, b) for r in (0, 128, 255) for g in (0, 128, 255) for b in (0, 128, 255)], np.uint8)
# Around the target's box, as a share of its longer side: its outline stays, the scene goes.
_CLOSE_UP_MARGIN = 0.15


def check_goal_form(form: str, *, where: str) -> None:
    """Raise ValueError, naming `where`, unless `form` is one of GOAL_FORMS."""
    if form not in GOAL_FORMS:
        raise ValueError(f"{where} must be one of {', '.join(GOAL_FORMS)}, got {form!r}")


def shown_goal(form: GoalForm, goal: CrossViewGoal, task: TaskSpec) -> CrossViewGoal:
    """Return what a policy is shown for `task`, whose cross-view goal is `goal`: same sizes, same interaction."""
    if form == "cross_view":
        return goal
    height_px, width_px = goal.mask_HW.shape
    if form == "close_up":
        return _close_up(goal)
    if form == "kind_card":
        image_HWC = _fill(_pattern(_kind_name(task), _KIND_CELLS), height_px, width_px)
    elif form == "word_card":
        image_HWC = _fill(_word_cells(words_of(task)), height_px, width_px)
    else:
        image_HWC = np.zeros((height_px, width_px, 3), np.uint8)
    return CrossViewGoal(
        image_HWC=image_HWC, mask_HW=np.zeros((height_px, width_px), bool), interaction=goal.interaction
    )


def words_of(task: TaskSpec) -> tuple[str, ...]:
    """Return the task in words: ("break", "gold", "block"), ("pick", "up", "bread")."""
    return tuple(f"{task.skill}_{_kind_name(task).removeprefix(ITEM_PREFIX)}".split("_"))


def _kind_name(task: TaskSpec) -> str:
    return base_kind(task.placements[task.target_index].kind)


def _close_up(goal: CrossViewGoal) -> CrossViewGoal:
    """Return the square around the target enlarged to the whole picture; blank where nothing is marked."""
    rows, columns = np.nonzero(goal.mask_HW)
    if not len(rows):
        return CrossViewGoal(np.zeros_like(goal.image_HWC), np.zeros_like(goal.mask_HW), goal.interaction)
    longer_px = int(max(np.ptp(rows), np.ptp(columns))) + 1
    side_px = min(longer_px + 2 * max(1, round(_CLOSE_UP_MARGIN * longer_px)), *goal.mask_HW.shape)
    # Moved inside where the square would stick out: black borders would tell where in the view the target was.
    row_H, column_W = (
        _samples(int(indices.min() + indices.max() + 1 - side_px) // 2, side_px, size_px)
        for indices, size_px in zip((rows, columns), goal.mask_HW.shape, strict=True)
    )
    box = np.ix_(row_H, column_W)
    return CrossViewGoal(goal.image_HWC[box], goal.mask_HW[box], goal.interaction)


def _samples(first_px: int, side_px: int, size_px: int) -> np.ndarray:
    """Return which of the pixels first .. first + side each of `size_px` enlarged pixels shows, int64 [size_px]."""
    first_px = min(max(first_px, 0), size_px - side_px)
    return first_px + (np.arange(size_px) * side_px + side_px // 2) // size_px


def _word_cells(words: tuple[str, ...]) -> np.ndarray:
    """Return the patterns of the words row by row, uint8 [9, 9, 3]; black where there is no word."""
    cells_NNC = np.zeros((_WORDS_PER_SIDE * _WORD_CELLS, _WORDS_PER_SIDE * _WORD_CELLS, 3), np.uint8)
    for index, word in enumerate(words[: _WORDS_PER_SIDE**2]):
        top, left = (_WORD_CELLS * place for place in divmod(index, _WORDS_PER_SIDE))
        cells_NNC[top : top + _WORD_CELLS, left : left + _WORD_CELLS] = _pattern(word, _WORD_CELLS)
    return cells_NNC


@cache
def _pattern(name: str, side: int) -> np.ndarray:
    """Return `side` x `side` colours that are all different, uint8 [side, side, 3], in an order that `name` decides."""
    # By hashes and not by a generator: the pattern is part of what a checkpoint learned, on any version of numpy.
    order = sorted(range(len(_PALETTE_N3)), key=lambda index: hashlib.sha256(f"{name}/{index}".encode()).digest())
    return _PALETTE_N3[order[: side * side]].reshape(side, side, 3)


def _fill(cells_NNC: np.ndarray, height_px: int, width_px: int) -> np.ndarray:
    """Return the cells enlarged to uint8 [height, width, 3]."""
    num_cells = len(cells_NNC)
    row_H = np.arange(height_px) * num_cells // height_px
    column_W = np.arange(width_px) * num_cells // width_px
    return cells_NNC[np.ix_(row_H, column_W)]
