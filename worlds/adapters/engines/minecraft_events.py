"""What the agent did in a tick, told from Minecraft's own statistics and from what changed around it.

The statistics say that the agent did something and to what kind of thing; which cell or mob it was follows from the
blocks that changed and from what the agent looked at. So a creeper that takes the target away is no deed of the agent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from worlds.adapters.engine import BUTTONS, Event, Mob
from worlds.adapters.engines.drawn_bow import DrawnBow
from worlds.adapters.engines.minecraft_cells import AIR, EYE_BLOCKS, SNEAK_EYE_BLOCKS, Cells, view_direction
from worlds.adapters.engines.minecraft_commands import Cell, bare, blocks_of, is_entity
from worlds.adapters.engines.minecraft_entities import Entities

HAND_BLOCKS = 4.5
_COUNTED_BLOCKS = 5.0  # a little more than a hand reaches: the game itself has counted what is looked for so far
_MOB_REACH_BLOCKS = 4.0
_ARROW_FLIES_TICKS = 60  # damage dealt so long after a shot is the arrow's, unless the agent strikes
_STRIKE_TICKS = 3  # the statistics may tell of a blow this much later
_USE_AGAIN_TICKS = 4  # a held use key acts this often
_LONG_AGO_TICKS = 1000
_STATISTICS = ("mine_block", "kill_entity", "use_item", "pickup")
_ATTACK, _USE, _SNEAK = BUTTONS.index("attack"), BUTTONS.index("use"), BUTTONS.index("sneak")

_LATE_TICKS = 5  # a count and the change that it is of may come so far apart
# The statistic that counts each use; blocks of _USED_BY_AIM have none.
_USE_COUNTERS = {
    "open_chest": "chest",
    "open_barrel": "barrel",
    "interact_with_furnace": "furnace",
    "interact_with_blast_furnace": "blast_furnace",
    "interact_with_smoker": "smoker",
    "interact_with_crafting_table": "crafting_table",
    "interact_with_anvil": "anvil",
}
_USED_BY_AIM = ("_door", "_trapdoor", "_fence_gate", "_button", "lever", "enchanting_table")
_NEVER_BY_HAND = frozenset({"iron_door", "iron_trapdoor"})
_ARCHERS = frozenset({"skeleton", "stray"})
_HOSTILE = frozenset({"zombie", "husk", "spider", "cave_spider", "creeper"}) | _ARCHERS

Counts = dict  # {(statistic, subject): count}; with its types it would need Python 3.9
Change = tuple  # cell, kind before, kind now


class Body(NamedTuple):
    """The agent after a tick."""

    pose: Sequence[float]  # feet x, y, z, yaw, pitch
    health: float
    is_on_ground: bool
    in_hand: str  # item, "" is none


class EventReader:
    """Reads the events of one episode, tick by tick."""

    def __init__(
        self,
        placements: Sequence[Mapping[str, Any]],
        info: Mapping[str, Any],
        cells: Cells,
        body: Body,
        *,
        is_frail: bool = False,
    ) -> None:
        """Begin where the episode begins: what the statistics count up to here was not the agent's doing.

        `is_frail` says that any arrow kills the mobs that were placed.
        """
        self._state_at: dict[Cell, str] = {}  # of the episode's own blocks
        self._object_at: dict[Cell, int] = {}
        for index, placement in enumerate(placements):
            if not is_entity(placement["kind"]):
                for block in blocks_of(placement["kind"], tuple(placement["position"])):
                    self._state_at[block.cell], self._object_at[block.cell] = block.state, index
        self._entities = Entities(placements, is_frail=is_frail)
        self._entities.look(info.get("mobs") or (), body.pose)
        self._counts = _counts_of(info)
        self._cells, self._body = cells, body
        self._eye = self._eye_of(is_sneaking=False)
        self._ticks = 0
        self._broken_at: dict[Cell, tuple[int, str]] = {}  # when it was told of, and what it was
        self._shot_tick = self._struck_tick = self._used_tick = -_LONG_AGO_TICKS
        self._bow = DrawnBow()
        self._fallen_blocks = 0.0
        self._was_using = False
        self.changed: dict[Cell, str] = {}  # kind before the episode of every cell that has changed since
        self.changed_now: dict[Cell, str] = {}  # kind now of every cell that the last tick has changed

    @property
    def mobs(self) -> list[Mob]:
        """Return the mobs around the agent."""
        return self._entities.mobs

    def read(self, buttons: Sequence[bool], info: Mapping[str, Any], cells: Cells, body: Body) -> list[Event]:
        """Return the events of the tick that led to `info`, `cells` and `body`."""
        self._ticks += 1
        counts = _counts_of(info)
        grown = {name: count - self._counts.get(name, 0) for name, count in counts.items()}
        grown = {name: count for name, count in grown.items() if count > 0}
        changed = cells.changed_since(self._cells)
        self.changed_now = {cell: now for cell, _, now in changed}
        for cell, before, _ in changed:
            self.changed.setdefault(cell, before)
        if buttons[_ATTACK]:
            self._struck_tick = self._ticks
        self._eye = self._eye_of(is_sneaking=bool(buttons[_SNEAK]))
        aimed = self._aimed(_COUNTED_BLOCKS)
        events = self._broken(grown, changed, aimed if buttons[_ATTACK] else None, aimed)
        events += self._placed(grown, changed)
        events += self._used(buttons, grown, aimed)
        events += self._shots(buttons, grown)
        self._entities.look(info.get("mobs") or (), body.pose)
        events += self._blows(grown)
        events += [
            Event("item_picked", item, count, None, self._entities.take_item(item, body.pose))
            for (statistic, item), count in grown.items()
            if statistic == "pickup"
        ]
        events += self._harm(body)
        self._counts, self._cells, self._body = counts, cells, body
        return events

    def _eye_of(self, *, is_sneaking: bool) -> tuple[float, float, float]:
        """Return where the agent's eye was when the tick began."""
        x, y, z = self._body.pose[:3]
        return x, y + (SNEAK_EYE_BLOCKS if is_sneaking else EYE_BLOCKS), z

    def _aimed(self, reach_blocks: float) -> Cell | None:
        """Return the cell that was looked at when the tick began."""
        yaw_deg, pitch_deg = self._body.pose[3:]
        return self._cells.aimed_at(self._eye, yaw_deg, pitch_deg, reach_blocks)

    def _victim(self, kind: str, is_arrow: bool) -> tuple[str, int]:
        return self._entities.victim(kind, self._eye, view_direction(*self._body.pose[3:]), is_arrow)

    def _distance_blocks(self, cell: Cell) -> float:
        return math.dist([part + 0.5 for part in cell], self._eye)

    def _about(self, name: str, cell: Cell, kind: str) -> Event:
        """Return an event of a block, by its full state where the episode has put it there."""
        state = self._state_at.get(cell, kind)
        return Event(name, state if bare(state) == kind else kind, 0, cell, self._object_at.get(cell, -1))

    def _broken(
        self, grown: Counts, changed: Sequence[Change], attacked: Cell | None, aimed: Cell | None
    ) -> list[Event]:
        told: list[tuple[Cell, str]] = []
        late = {cell: kind for cell, (tick, kind) in self._broken_at.items() if self._ticks - tick <= _LATE_TICKS}
        for (statistic, kind), count in grown.items():
            if statistic == "mine_block":
                gone = [cell for cell, before, now in changed if before == kind and now != kind]
                # One count may take two cells, as those of a door: what was aimed at comes first.
                gone.sort(key=lambda cell: (cell != aimed, cell not in self._object_at, self._distance_blocks(cell)))
                cells = gone[:count] or ([] if aimed is None or kind in late.values() else [aimed])
                told += [(cell, kind) for cell in cells]
        # The game counts what its tool could harvest: stone that an axe breaks, or a hand, goes uncounted.
        if attacked is not None and not told and attacked not in late:
            has_creeper = any(mob.kind == "creeper" for mob in self.mobs)
            told += [(cell, was) for cell, was, now in changed if cell == attacked and now == AIR and not has_creeper]
        self._broken_at.update({cell: (self._ticks, kind) for cell, kind in told})
        return [self._about("block_broken", cell, kind) for cell, kind in told]

    def _placed(self, grown: Counts, changed: Sequence[Change]) -> list[Event]:
        events = []
        for (statistic, item), count in grown.items():
            if statistic == "use_item":
                put = [(self._distance_blocks(cell), cell, now) for cell, _, now in changed if _is_item_of(now, item)]
                events += [Event("block_placed", now, 0, cell) for _, cell, now in sorted(put)[:count]]
        return events

    def _used(self, buttons: Sequence[bool], grown: Counts, aimed: Cell | None) -> list[Event]:
        events = []
        for (statistic, name), _ in grown.items():
            if statistic == "custom" and name in _USE_COUNTERS:
                kind = _USE_COUNTERS[name]
                near = [cell for cell, found in self._cells.kind.items() if found == kind]
                cell = aimed if aimed in near else min(near, key=self._distance_blocks, default=None)
                if cell is not None:
                    events.append(self._about("block_used", cell, kind))
        aimed = self._aimed(HAND_BLOCKS)
        is_due = not self._was_using or self._ticks - self._used_tick >= _USE_AGAIN_TICKS
        # A sneaking hand uses what it holds instead of the block.
        if buttons[_USE] and is_due and aimed is not None and not (buttons[_SNEAK] and self._body.in_hand):
            kind = self._cells[aimed]
            if kind.endswith(_USED_BY_AIM) and kind not in _NEVER_BY_HAND:
                events.append(self._about("block_used", aimed, kind))
                self._used_tick = self._ticks
        self._was_using = bool(buttons[_USE])
        return events

    def _shots(self, buttons: Sequence[bool], grown: Counts) -> list[Event]:
        """An arrow leaves when the use key is let go; the statistics may say so a tick later."""
        events = []
        if grown.get(("use_item", "bow")):
            events.append(Event("arrow_shot", "arrow", self._bow.shoot()))
            self._shot_tick = self._ticks
        self._bow.hold(is_using=bool(buttons[_USE]), in_hand=self._body.in_hand)
        return events

    def _blows(self, grown: Counts) -> list[Event]:
        """Damage dealt is a blow's, a kill a blow's or an arrow's; whose it was, the view says.

        The game counts no damage of arrows, so a hit that does not kill is not told of.
        """
        has_struck = self._ticks - self._struck_tick <= _STRIKE_TICKS
        dealt = grown.get(("custom", "damage_dealt"), 0) / 10.0  # the game counts tenths of half hearts
        is_arrow = not has_struck and not dealt and self._ticks - self._shot_tick <= _ARROW_FLIES_TICKS
        events = []
        killed = [
            kind for (statistic, kind), count in grown.items() if statistic == "kill_entity" for _ in range(count)
        ]
        if dealt > 0:
            kind, index = self._victim(killed[0] if killed else "", False)
            if kind:
                self._entities.hurt(index, dealt)
                events.append(Event("mob_struck", kind, round(dealt), None, index))
        for kind in killed:
            _, index = self._victim(kind, is_arrow)
            if is_arrow:
                left = max(1, round(self._entities.health(index, kind)))
                events.append(Event("mob_shot", kind, left, None, index))
            self._entities.lose(index)
            events.append(Event("mob_killed", kind, int(is_arrow), None, index))
        return events

    def _harm(self, body: Body) -> list[Event]:
        """Health lost, and what most likely took it: the game does not say."""
        fallen = self._fallen_blocks
        self._fallen_blocks = 0.0 if body.is_on_ground else fallen + max(0.0, self._body.pose[1] - body.pose[1])
        lost = self._body.health - body.health
        if lost <= 0:
            return []
        cause = self._cause(body, fallen)
        events = [Event("damage", cause, max(1, round(lost)))]
        return [*events, Event("death", cause)] if body.health <= 0 else events

    def _cause(self, body: Body, fallen_blocks: float) -> str:
        x, y, z = body.pose[:3]
        if y < -60:
            return "void"
        if body.is_on_ground and fallen_blocks > 3.0:
            return "fall"
        hostile = [mob for mob in self.mobs if mob.kind in _HOSTILE]
        if any(math.dist((mob.x, mob.y, mob.z), (x, y, z)) < _MOB_REACH_BLOCKS for mob in hostile):
            return "mob"
        if any(mob.kind in _ARCHERS for mob in hostile):
            return "arrow"
        head = (math.floor(x), math.floor(y + EYE_BLOCKS), math.floor(z))
        return "drowning" if self._cells[head] == "water" else "block"


def _counts_of(info: Mapping[str, Any]) -> Counts:
    """Return the statistics; of "custom" only those that are read here."""
    counts = {}
    for statistic in _STATISTICS:
        for subject, count in (info.get(statistic) or {}).items():
            counts[statistic, bare(str(subject))] = int(count)
    custom = info.get("custom") or {}
    for subject in ("damage_dealt", *_USE_COUNTERS):
        if subject in custom:
            counts["custom", subject] = int(custom[subject])
    return counts


def _is_item_of(kind: str, item: str) -> bool:
    """Tell whether a block is what an item becomes when it is placed."""
    return kind != AIR and item in (kind, kind.replace("wall_", ""))
