"""One answer of the Malmo mod, taken apart: the JSON that comes with a frame, of 1.11.2 or of MineRL 1.0's 1.16.5."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from worlds.adapters.engines.before_flattening import new_item, new_mob

# Names that our missions give to their observations.
NEARBY, WATCH = "mcrl_nearby", "mcrl_watch"
NUM_SLOTS = 36
_BEHIND_BLOCKS = 1e-3  # how far beyond a surface its block is looked for
_COUNTERS = ("mine_block", "use_item", "pickup", "items_dropped", "drop", "kill_entity")


class Aim(NamedTuple):
    """What lies under the crosshair."""

    is_block: bool
    name: str  # as the mod calls it
    cell: tuple[int, int, int]  # of the block
    front: tuple[int, int, int]  # the cell in front of the face that is looked at
    point: tuple[float, float, float]  # of the hit; of a mob its feet
    is_open: bool | None = None  # of doors and the like; None where it cannot be


class Entity(NamedTuple):
    """A mob or an item near the agent."""

    name: str  # of a mob, ours; of an item "item:apple"
    x: float
    y: float
    z: float
    life: float  # half hearts; 0 of an item
    yaw_deg: float


@dataclass
class Report:
    """What the mod has said after a tick."""

    pose: tuple[float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0)
    health: float = 20.0
    items: list[tuple[str, int]] = field(default_factory=list)
    selected: int = 0
    aim: Aim | None = None
    entities: dict[str, Entity] = field(default_factory=dict)  # by the game's own id
    watched: dict[int, str] = field(default_factory=dict)  # by the watch's number, the block's name
    counters: dict[str, dict[str, int]] = field(default_factory=dict)  # verb: name: count
    chat: list[str] = field(default_factory=list)  # what the game has answered to commands
    damage_type: str = ""  # of the last harm, as 1.11.2 calls it


def read_report(said: Mapping[str, Any], *, is_old: bool, player: str) -> Report:
    """Return a report of the mod's JSON; what it does not say is left as it is by default.

    Raises:
        KeyError, TypeError, ValueError: it is not what the mod sends.
    """
    pose = tuple(float(said[name]) for name in ("xpos", "ypos", "zpos", "yaw", "pitch"))
    report = Report(
        pose=pose,  # type: ignore[arg-type]
        health=0.0 if said.get("is_dead") else float(said.get("life", said.get("health", 20.0))),
        items=_items(said.get("inventory", ()), is_old=is_old),
        selected=int(said.get("current_item_index", 0)),
        aim=_aim(said.get("LineOfSight"), pose[3], pose[4]),
        counters=_counters(said),
        chat=[str(line) for line in said.get("Chat", ())],
        damage_type=str(_mapping(said.get("damage_source")).get("damage_type", "")),
    )
    for row in said.get(NEARBY, ()):
        if row["name"] != player and ("life" in row or "type" in row):
            report.entities[str(row["id"])] = _entity(row, is_old=is_old)
    for name, cells in said.items():
        if name.startswith(WATCH):
            report.watched[int(name[len(WATCH) :])] = cells[0]
    return report


def _items(rows: Any, *, is_old: bool) -> list[tuple[str, int]]:
    items = [("", 0)] * NUM_SLOTS
    for number, row in enumerate(rows):
        slot = int(row.get("index", row.get("slot_id", number)))
        count = int(row["quantity"])
        if row.get("inventory", "inventory") == "inventory" and slot < NUM_SLOTS and count > 0:
            name = new_item(row["type"], int(row.get("metadata", 0))) if is_old else row["type"]
            items[slot] = (name, count)
    return items


def _entity(row: Mapping[str, Any], *, is_old: bool) -> Entity:
    if "life" in row:
        name = new_mob(row["name"]) if is_old else row["name"]
    else:
        name = "item:" + (new_item(row["type"], int(row.get("metadata", 0))) if is_old else row["type"])
    x, y, z, life, yaw_deg = (float(row.get(key, 0.0)) for key in ("x", "y", "z", "life", "yaw"))
    return Entity(name, x, y, z, life, yaw_deg)


def _aim(said: Mapping[str, Any] | None, yaw_deg: float, pitch_deg: float) -> Aim | None:
    if not said or said.get("hitType") not in ("block", "entity"):
        return None
    yaw, pitch = math.radians(yaw_deg), math.radians(pitch_deg)
    way = (-math.sin(yaw) * math.cos(pitch), -math.sin(pitch), math.cos(yaw) * math.cos(pitch))
    point = (float(said["x"]), float(said["y"]), float(said["z"]))
    behind = [math.floor(at + _BEHIND_BLOCKS * part) for at, part in zip(point, way)]
    front = [math.floor(at - _BEHIND_BLOCKS * part) for at, part in zip(point, way)]
    state = said.get("prop_open", said.get("prop_powered"))
    return Aim(
        is_block=said["hitType"] == "block",
        name=str(said["type"]),
        cell=(behind[0], behind[1], behind[2]),
        front=(front[0], front[1], front[2]),
        point=point,
        is_open=None if state is None else str(state).lower() == "true",
    )


def _counters(said: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Return the statistics without the levels that 1.11.2 puts around them: "stat", and "minecraft" under each."""
    verbs = said.get("stat", said)
    found: dict[str, dict[str, int]] = {}
    for verb in _COUNTERS:
        counts = verbs.get(verb)
        if isinstance(counts, Mapping):
            inner = counts.get("minecraft", counts)
            table = found.setdefault("items_dropped" if verb == "drop" else verb, {})
            table.update({name: int(count) for name, count in inner.items() if not isinstance(count, Mapping)})
    # What a click opens is counted by the game under names of its own.
    found["custom"] = {
        name: int(count) for name, count in {**verbs, **_mapping(said.get("custom"))}.items() if name in OPENED
    }
    return found


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


# Counters of clicks on blocks, both versions' names, and the block.
OPENED = {
    "chest_opened": "chest", "open_chest": "chest", "open_barrel": "barrel",
    "furnace_interaction": "furnace", "interact_with_furnace": "furnace",
    "crafting_table_interaction": "crafting_table", "interact_with_crafting_table": "crafting_table",
}  # fmt: skip
