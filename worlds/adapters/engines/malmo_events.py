"""What the agent did and suffered, told from one report of the Malmo mod to the next.

The game's own statistics say that it was the agent who mined, placed, killed or picked up, and how often; where it
happened is told by what the crosshair pointed at and by the blocks that the mission watches. Reports of the game's
server come a tick late, so that what is seen together need not have been said together.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from worlds.adapters.engine import BUTTONS, Event
from worlds.adapters.engines.before_flattening import (
    new_block,
    new_item,
    new_mob,
    old_block,
    old_item,
    old_mob,
    split_state,
)
from worlds.adapters.engines.drawn_bow import DrawnBow
from worlds.adapters.engines.malmo_report import OPENED, Aim, Entity, Report

_ATTACK, _USE = BUTTONS.index("attack"), BUTTONS.index("use")
_AIMS_KEPT = 6
_BLOW_TICKS = 3  # between a blow and its effect in the report
_ARROW_TICKS = 80
_NEAR_BLOCKS = 3.0
_CAUSES = {
    "fall": "fall", "arrow": "arrow", "drown": "drowning", "outofworld": "void", "mob": "mob", "explosion": "mob",
    "explosion.player": "mob",
}  # fmt: skip


@dataclass
class Placed:
    """An object of the task."""

    index: int
    kind: str  # block state, mob or "item:apple"
    cell: tuple[int, int, int]
    name: str = ""  # of a block, as the mod calls it
    entity_id: str = ""  # of a mob or an item
    seen_at: tuple[float, float, float] | None = None  # of a mob or an item, its last place; None: it was never seen
    is_gone: bool = False


def placed_objects(placements: Sequence[tuple[str, tuple[int, int, int]]], *, is_old: bool) -> list[Placed]:
    """Return the objects of an episode as (kind, cell), by index."""
    return [
        Placed(index, kind, cell, old_block(kind).name if is_old else split_state(kind)[0])
        for index, (kind, cell) in enumerate(placements)
    ]


class EventReader:
    """Compares reports."""

    def __init__(self, placed: list[Placed], first: Report, *, is_old: bool) -> None:
        """Begin with the report of a task's first tick; mobs and items of the task are those nearest to their cells."""
        self._placed, self._is_old, self._before = placed, is_old, first
        self._aims: deque[Aim] = deque(maxlen=_AIMS_KEPT)
        self._ticks_since_blow = self._ticks_since_arrow = _ARROW_TICKS
        self._blow_at: tuple[float, float, float] | None = None
        self._bow, self._was_using = DrawnBow(), False
        self._cause, self._is_dead = "block", False  # of harm, as far as the game says: only 1.11.2 does
        self._seen, self._told = dict(first.watched), dict(first.watched)
        taken: set[str] = set()
        for thing in placed:
            x, y, z = thing.cell[0] + 0.5, thing.cell[1], thing.cell[2] + 0.5
            seen_as = new_mob(old_mob(thing.kind)[1]) if is_old else thing.kind  # a cat was an ocelot
            near = sorted(
                (math.dist((entity.x, entity.y, entity.z), (x, y, z)), key)
                for key, entity in first.entities.items()
                if entity.name == seen_as and key not in taken
            )
            if near and near[0][0] < _NEAR_BLOCKS:
                thing.entity_id = near[0][1]
                taken.add(thing.entity_id)
        self._look(first)

    def _look(self, report: Report) -> None:
        """Note where the placed mobs and items are."""
        for thing in self._placed:
            entity = report.entities.get(thing.entity_id)
            if entity is not None:
                thing.seen_at = (entity.x, entity.y, entity.z)

    def object_of(self, entity_id: str) -> int:
        """Return the index of the object that an entity is, -1 for none."""
        return next((thing.index for thing in self._placed if thing.entity_id == entity_id), -1)

    def changed(self) -> list[tuple[tuple[int, int, int], str]]:
        """Return (cell, block state) of the watched blocks that have changed since it was asked last."""
        cell_of = {thing.index: thing.cell for thing in self._placed}
        news = [(number, name) for number, name in self._seen.items() if self._told.get(number, name) != name]
        self._told = dict(self._seen)
        return [(cell_of[number], new_block(name) if self._is_old else name) for number, name in news]

    def read(self, now: Report, buttons: Sequence[bool]) -> list[Event]:
        """Return what has happened since the last report, in which these keys were held."""
        self._ticks_since_blow += 1
        self._ticks_since_arrow += 1
        if buttons[_ATTACK]:
            self._ticks_since_blow = 0
            # What is dead after the blow is no longer under the crosshair.
            for aim in (self._before.aim, now.aim):
                if aim is not None and not aim.is_block:
                    self._blow_at = aim.point
        events = [
            *self._blocks(now), *self._uses(now, buttons), *self._items(now), *self._mobs(now), *self._harm(now),
        ]  # fmt: skip
        if now.aim is not None and now.aim.is_block and (not self._aims or self._aims[-1] != now.aim):
            self._aims.append(now.aim)
        self._was_using = bool(buttons[_USE])
        self._bow.hold(is_using=self._was_using, in_hand=self._held())
        self._look(now)
        self._before, self._seen = now, dict(now.watched)
        return events

    def _held(self) -> str:
        """Return the item that was in the hand when the tick began, "" for none."""
        return self._before.items[self._before.selected][0] if self._before.items else ""

    def _grown(self, verb: str, now: Report) -> Iterator[tuple[str, int]]:
        """Yield (name, by how much) of the counters that have grown."""
        before = self._before.counters.get(verb, {})
        for name, count in now.counters.get(verb, {}).items():
            more = count - before.get(name, 0)
            if more > 0:
                yield name, more

    def _blocks(self, now: Report) -> Iterator[Event]:
        for name, number in self._grown("mine_block", now):
            for _ in range(number):
                yield self._broken(name, now)
        for name, number in self._grown("use_item", now):
            if name == "bow":
                self._ticks_since_arrow = 0
                yield from (Event("arrow_shot", "arrow", self._bow.shoot()) for _ in range(number))
            else:
                yield from self._placed_block(name, now)

    def _placed_block(self, name: str, now: Report) -> Iterator[Event]:
        """Yield the placing of the block in hand, if the crosshair now meets such a block where it met none before."""
        held = self._held()
        if not held or (old_item(held).name if self._is_old else held) != name:
            return
        block = old_block(held).name if self._is_old else held
        aims = [*self._aims, *([now.aim] if now.aim is not None else [])]
        for aim in reversed(aims):
            if aim.is_block and aim.name == block and any(earlier.front == aim.cell for earlier in aims):
                yield Event("block_placed", held, 0, aim.cell)
                return

    def _broken(self, name: str, now: Report) -> Event:
        """Return the event of a block of this name: an object that is watched and gone, else what was aimed at."""
        gone = {
            thing.cell: thing
            for thing in self._placed
            if thing.name == name and not thing.is_gone and now.watched.get(thing.index, name) != name
        }
        aimed = [aim.cell for aim in reversed(self._aims) if aim.name == name]
        cell = next((cell for cell in aimed if cell in gone), None)
        if cell is None and not aimed and gone:
            cell = next(iter(gone))
        if cell is None:
            standing = now.aim.cell if now.aim is not None and now.aim.is_block else None
            cell = next((cell for cell in aimed if cell != standing), aimed[0] if aimed else None)
        self._aims = deque((aim for aim in self._aims if aim.cell != cell), maxlen=_AIMS_KEPT)
        thing = next((thing for thing in self._placed if thing.cell == cell and thing.name == name), None)
        if thing is not None and not thing.is_gone:
            thing.is_gone = True
            return Event("block_broken", thing.kind, 0, cell, thing.index)
        return Event("block_broken", new_block(name) if self._is_old else name, 0, cell)

    def _uses(self, now: Report, buttons: Sequence[bool]) -> Iterator[Event]:
        """Yield clicks on blocks: counted ones, and doors and levers that have changed under the crosshair."""
        for name, _ in self._grown("custom", now):
            aim = now.aim or (self._aims[-1] if self._aims else None)
            if aim is not None and aim.is_block:
                yield self._used(aim, OPENED[name])
        aim = now.aim
        last = next((old for old in reversed(self._aims) if aim is not None and old.cell == aim.cell), None)
        if aim is not None and last is not None and aim.is_open is not None and aim.is_open != last.is_open:
            if buttons[_USE] or self._was_using:
                yield self._used(aim, new_block(aim.name) if self._is_old else aim.name)

    def _used(self, aim: Aim, kind: str) -> Event:
        thing = next((thing for thing in self._placed if thing.cell == aim.cell and thing.name == aim.name), None)
        if thing is not None:
            return Event("block_used", thing.kind, 0, aim.cell, thing.index)
        return Event("block_used", kind, 0, aim.cell)

    def _items(self, now: Report) -> Iterator[Event]:
        for name, number in self._grown("pickup", now):
            item = new_item(name, 0) if self._is_old else name
            thing = next(
                (
                    thing
                    for thing in self._placed
                    if thing.kind == f"item:{item}"
                    and not thing.is_gone
                    and thing.entity_id not in now.entities
                    and thing.seen_at is not None
                    and math.dist(thing.seen_at, now.pose[:3]) <= _NEAR_BLOCKS
                ),
                None,
            )
            if thing is not None:
                thing.is_gone = True
            yield Event("item_picked", item, number, None, -1 if thing is None else thing.index)
        for name, number in self._grown("items_dropped", now):
            yield Event("item_dropped", new_item(name, 0) if self._is_old else name, number)

    def _mobs(self, now: Report) -> Iterator[Event]:
        killed = [
            new_mob(name) if self._is_old else name
            for name, more in self._grown("kill_entity", now)
            for _ in range(more)
        ]
        for key, before in self._before.entities.items():
            entity = now.entities.get(key)
            lost = before.life - (entity.life if entity is not None else 0.0)
            is_dead = before.name in killed and (entity is None or entity.life <= 0.0)
            if lost <= 0.0 or not (entity is not None or is_dead):
                continue
            is_blow = self._ticks_since_blow <= _BLOW_TICKS and self._is_struck(before)
            is_shot = not is_blow and self._ticks_since_arrow <= _ARROW_TICKS
            if is_blow or is_shot:
                name = "mob_struck" if is_blow else "mob_shot"
                yield Event(name, before.name, math.ceil(lost), None, self.object_of(key))
            if is_dead:
                killed.remove(before.name)
                yield Event("mob_killed", before.name, int(is_shot), None, self.object_of(key))
        yield from (Event("mob_killed", name) for name in killed)

    def _is_struck(self, entity: Entity) -> bool:
        """Tell whether an entity stands where the crosshair was when the agent struck."""
        at = self._blow_at
        return at is not None and math.dist(at, (entity.x, entity.y, entity.z)) < _NEAR_BLOCKS

    def _harm(self, now: Report) -> Iterator[Event]:
        lost = self._before.health - now.health
        if now.damage_type:  # it may be told before the health that it takes
            self._cause = _CAUSES.get(now.damage_type.lower(), "block")
        if lost > 0.0:
            yield Event("damage", self._cause, math.ceil(lost))
        if now.health <= 0.0 and not self._is_dead:
            self._is_dead = True
            yield Event("death", self._cause)
