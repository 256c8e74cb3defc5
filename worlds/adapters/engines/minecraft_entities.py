"""The mobs and items of an episode, in a game whose scan gives them no name that lasts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from worlds.adapters.engine import Mob
from worlds.adapters.engines.minecraft_bodies import distance_to_body, miss_of_body
from worlds.adapters.engines.minecraft_commands import FRAIL_HEALTH, FULL_HEALTH, ITEM_PREFIX, bare, is_entity

_LOST_TICKS = 20  # the place where a mob was last seen grows by a block a tick for so long
_STEP_BLOCKS = 2.0  # a mob is taken for the same if it is this near to where it was
# How far along the view a body is met: the game lets a hand reach 3 blocks, and mobs move on before it tells of a blow.
_HAND_BLOCKS, _ARROW_BLOCKS = 4.0, 64.0
_NEAR_HAND_BLOCKS = 8.0  # nothing farther off is struck by hand, however late the game tells of it
_PICKED_BLOCKS = 3.0


class _Entity:
    """A placed mob or item."""

    def __init__(self, kind: str, position: Sequence[int], *, is_frail: bool) -> None:
        x, y, z = position
        self.kind = kind if kind.startswith(ITEM_PREFIX) else bare(kind)
        self.place = (x + 0.5, float(y), z + 0.5)
        self.health = min(float(FULL_HEALTH.get(self.kind, 0)), FRAIL_HEALTH if is_frail else math.inf)
        self.lost_ticks = 0
        self.is_gone = False


class Entities:
    """Follows the episode's mobs from scan to scan: each is the nearest of its kind to where it was."""

    def __init__(self, placements: Sequence[Mapping[str, Any]], *, is_frail: bool = False) -> None:
        """Begin with what the episode has put there, frail or not; an index is that of the placement."""
        self._placed = {
            index: _Entity(placement["kind"], placement["position"], is_frail=is_frail)
            for index, placement in enumerate(placements)
            if is_entity(placement["kind"])
        }
        self.mobs: list[Mob] = []
        self._last_mobs: list[Mob] = []  # of the scan before

    def look(self, rows: Sequence[Mapping[str, Any]], pose: Sequence[float]) -> None:
        """Read a scan: rows of name and x, y, z from the agent's feet, whole numbers from its cell."""
        mobs = [_mob_of(row, pose) for row in rows if bare(str(row["name"])) in FULL_HEALTH]
        pairs = sorted(
            (math.dist(entity.place, (mob.x, mob.y, mob.z)), index, row)
            for index, entity in self._placed.items()
            for row, mob in enumerate(mobs)
            if mob.kind == entity.kind and not entity.is_gone
        )
        row_of: dict[int, int] = {}
        for far, index, row in pairs:
            entity = self._placed[index]
            if index not in row_of and row not in row_of.values() and far <= _STEP_BLOCKS + entity.lost_ticks:
                row_of[index] = row
                mob = mobs[row]
                entity.place = (mob.x, mob.y, mob.z)
                entity.health = entity.health if math.isnan(mob.health) else mob.health
                mobs[row] = mob._replace(object_index=index, health=entity.health)
        for index, entity in self._placed.items():
            entity.lost_ticks = 0 if index in row_of else min(_LOST_TICKS, entity.lost_ticks + 1)
        full = [mob._replace(health=float(FULL_HEALTH[mob.kind])) for mob in mobs]
        self._last_mobs = self.mobs
        self.mobs = [other if math.isnan(mob.health) else mob for mob, other in zip(mobs, full)]

    def victim(self, kind: str, eye: Sequence[float], way: Sequence[float], is_arrow: bool) -> tuple[str, int]:
        """Return (kind, index) of the mob that is met first along the view, ("", -1) for none; "" asks for any kind.

        Where the view meets none within reach it is the one that it misses least. Mobs that have just gone out of sight
        count: who was killed is no longer there.

        Args:
            kind: of the mob.
            eye: x, y, z.
            way: unit vector of the view.
            is_arrow: an arrow struck, which flies farther than a hand reaches.
        """
        seen = [(mob.kind, mob.object_index, (mob.x, mob.y, mob.z)) for mob in (*self.mobs, *self._last_mobs)]
        seen += [
            (entity.kind, index, entity.place)
            for index, entity in self._placed.items()
            if entity.kind in FULL_HEALTH and entity.lost_ticks
        ]
        gone = {index for index, entity in self._placed.items() if entity.is_gone}
        seen = [mob for mob in seen if (not kind or mob[0] == kind) and mob[1] not in gone]
        met = [(distance_to_body(name, feet, eye, way), name, index) for name, index, feet in seen]
        far, name, index = min(met, default=(math.inf, "", -1))
        if far <= (_ARROW_BLOCKS if is_arrow else _HAND_BLOCKS):
            return name, index
        missed = [
            (miss_of_body(name, feet, eye, way), name, index)
            for name, index, feet in seen
            if is_arrow or math.dist(feet, eye) <= _NEAR_HAND_BLOCKS
        ]
        _, name, index = min(missed, default=(math.inf, "", -1))
        return name, index

    def health(self, index: int, kind: str) -> float:
        """Return the half hearts that a placed mob has left; those of its kind where it is none (-1)."""
        return self._placed[index].health if index in self._placed else float(FULL_HEALTH.get(kind, 0))

    def hurt(self, index: int, half_hearts: float) -> None:
        """Take health from a placed mob; -1 is none."""
        if index in self._placed:
            self._placed[index].health = max(0.0, self._placed[index].health - half_hearts)

    def lose(self, index: int) -> None:
        """Look no longer for a placed mob or item; -1 is none."""
        if index in self._placed:
            self._placed[index].is_gone = True

    def take_item(self, item: str, pose: Sequence[float]) -> int:
        """Return the index of the placed item that the agent has picked up, -1 when it was another."""
        lying = [
            (math.dist(entity.place, pose[:3]), index)
            for index, entity in self._placed.items()
            if entity.kind == ITEM_PREFIX + item and not entity.is_gone
        ]
        far, index = min(lying, default=(math.inf, -1))
        if far > _PICKED_BLOCKS:
            return -1
        self.lose(index)
        return index


def _mob_of(row: Mapping[str, Any], pose: Sequence[float]) -> Mob:
    place = []
    for axis, feet in zip("xyz", pose):
        value = row[axis]
        is_cell = isinstance(value, int)
        middle = 0.5 if axis != "y" else 0.0
        place.append(math.floor(feet) + value + middle if is_cell else feet + float(value))
    return Mob(bare(str(row["name"])), place[0], place[1], place[2], float(row.get("life", math.nan)))
