"""Where the objects of a task stand: the target, others of its kind, companions of these, and others that differ."""

import math
from dataclasses import dataclass

import numpy as np

from task_synthesis.placement.sites import Sites
from task_synthesis.placement.targets import torus_delta
from task_synthesis.skills import base_kind
from worlds.spec import Placement, World

_TARGET_DRAWS = 12
_OBJECT_DRAWS = 24
_OBJECT_RANGE_BLOCKS = 12
# Objects of the target's kind keep this far from it (and so their 2.5 blocks of reach never meet), others half.
_MIN_SAME_GAP_BLOCKS = 6.0
_MIN_OTHER_GAP_BLOCKS = 3.0
# Where a companion stands: near enough to belong to the object, and beyond the cell in front of a device.
_COMPANION_OFFSETS = [(dx, dz) for dx in range(-2, 3) for dz in range(-2, 3) if 2.0 <= math.hypot(dx, dz) < 2.3]
_COMPANION_MAX_STEP_BLOCKS = 1


@dataclass(frozen=True, slots=True)
class Layout:
    """The objects of one task; the target is drawn into a random place of the tuple, so its index tells nothing."""

    kind: str
    placements: tuple[Placement, ...]
    target_index: int
    companion_index: int | None = None
    """Of the target's companion, if it has one."""

    @property
    def target_position(self) -> tuple[int, int, int]:
        """Return the target's cell."""
        return self.placements[self.target_index].position


def draw_layout(
    rng: np.random.Generator,
    world: World,
    sites: Sites,
    *,
    kinds: tuple[str, ...],
    num_same: tuple[int, int],
    num_other: tuple[int, int],
    companions: tuple[str, ...] = (),
) -> Layout | str:
    """Draw the objects of a task, all of `kinds`, on dry ground; return the reason where there is no place for them.

    With `companions`, kinds of blocks, one of them stands beside the target and each other object of its kind, beside
    the target another one than beside all others.
    """
    size_x, _, size_z = world.spec.size_blocks
    kind = kinds[rng.integers(len(kinds))]
    others = [other for other in kinds if other != kind]
    wanted = [kind] * int(rng.integers(num_same[0], num_same[1] + 1))
    wanted += [others[rng.integers(len(others))] for _ in range(int(rng.integers(num_other[0], num_other[1] + 1)))]

    target = None
    for _ in range(_TARGET_DRAWS):
        x, z = int(rng.integers(size_x)), int(rng.integers(size_z))
        target = sites.place(rng, world, kind, x, z)
        if target:
            break
    if not target:
        return "target_no_ground"
    placed = [target]
    for other in wanted:
        found = None
        for _ in range(_OBJECT_DRAWS):
            dx, dz = rng.integers(-_OBJECT_RANGE_BLOCKS, _OBJECT_RANGE_BLOCKS + 1, 2)
            found = sites.place(rng, world, other, target.position[0] + int(dx), target.position[2] + int(dz))
            if found and _keeps_distance(found, placed, (size_x, size_z)):
                break
            found = None
        if not found:
            return "object_no_ground"
        placed.append(found)
    num_before = len(placed)
    if companions and not _add_companions(rng, world, sites, kind, companions, placed):
        return "companion_no_ground"
    order = rng.permutation(len(placed))
    return Layout(
        kind,
        tuple(placed[index] for index in order),
        int(np.flatnonzero(order == 0)[0]),
        int(np.flatnonzero(order == num_before)[0]) if companions else None,
    )


def _add_companions(
    rng: np.random.Generator, world: World, sites: Sites, kind: str, kinds: tuple[str, ...], placed: list[Placement]
) -> bool:
    """Put a companion beside the first of `placed`, the target, then beside each other of its kind; or return False."""
    present = {base_kind(placement.kind) for placement in placed}
    fresh = [name for name in kinds if name not in present] or [name for name in kinds if name != kind]
    names = [fresh[index] for index in rng.permutation(len(fresh))]
    hosts = [placement for placement in placed if base_kind(placement.kind) == kind]
    # Of few kinds those after the first are used again: never the target's own.
    others = names[1:] or [name for name in kinds if name not in (kind, names[0])]
    if len(hosts) > 1 and not others:
        return False
    for index, host in enumerate(hosts):
        name = names[0] if index == 0 else others[(index - 1) % len(others)]
        companion = _beside(rng, world, sites, name, host, placed)
        if companion is None:
            return False
        placed.append(companion)
    return True


def _beside(
    rng: np.random.Generator, world: World, sites: Sites, kind: str, host: Placement, placed: list[Placement]
) -> Placement | None:
    """Return an object of `kind` a step off `host`, on ground of about its height that nothing stands on."""
    taken = {placement.position for placement in placed}
    for index in rng.permutation(len(_COMPANION_OFFSETS)):
        dx, dz = _COMPANION_OFFSETS[index]
        found = sites.place(rng, world, kind, host.position[0] + dx, host.position[2] + dz)
        if found and found.position not in taken:
            if abs(found.position[1] - host.position[1]) <= _COMPANION_MAX_STEP_BLOCKS:
                return found
    return None


def _keeps_distance(found: Placement, placed: list[Placement], sides: tuple[int, int]) -> bool:
    for placement in placed:
        dx = torus_delta(found.position[0] - placement.position[0], sides[0])
        dz = torus_delta(found.position[2] - placement.position[2], sides[1])
        is_same = base_kind(placement.kind) == base_kind(found.kind)
        if np.hypot(dx, dz) < (_MIN_SAME_GAP_BLOCKS if is_same else _MIN_OTHER_GAP_BLOCKS):
            return False
    return True
