"""The JSON that goes with every frame: what the mission's observation handlers write into it.

Some is seen by the client at once; what only the game's server knows (inventory, grids) is one tick old, as it is in
the mod, where the client asks in one tick and hears in the next.
"""

import functools
import json
from typing import Any

from tests.worlds.malmo.dialect import Dialect
from tests.worlds.malmo.game import Game
from tests.worlds.malmo.mission import Grid, Mission
from tests.worlds.malmo.sight import glance
from worlds.blocks import NUM_STATES, STATES

_NUM_PLAYER_SLOTS = 41  # 36, four of armour, one for the other hand
_ARMOUR = ("feet", "legs", "chest", "head")
Json = dict[str, Any]


def client_part(game: Game, mission: Mission, dialect: Dialect, player: str, answers: list[str]) -> Json:
    """Return what the client itself sees now."""
    report: Json = {}
    handlers = mission.handlers
    is_new = dialect.version != "1.11.2"
    if "ObservationFromFullStats" in handlers or is_new:
        report |= _place(game)
    if "ObservationFromFullStats" in handlers:
        report |= _life(game, player) | _surroundings(game) | _statistics(game, dialect)
    if is_new:
        report |= {"isGuiOpen": False, "health": report.get("life", 20.0), "food_level": 20}
    if "ObservationFromDamage" in handlers:
        report |= _damage(game)
    if "ObservationFromEquippedItem" in handlers:
        report["equipped_items"] = _equipped(game, dialect)
    if "ObservationFromRay" in handlers:
        report |= _line_of_sight(game, dialect)
    if "ObservationFromChat" in handlers and answers:
        report["Chat"] = list(answers)
    for name, reach in mission.entity_ranges:
        report[name] = _entities(game, reach, player, dialect)
    return report


def server_part(game: Game, mission: Mission, dialect: Dialect) -> Json:
    """Return what the game's server tells the client when asked now."""
    report: Json = {}
    if "ObservationFromFullInventory" in mission.handlers:
        report |= {
            "inventory": _inventory(game, dialect),
            "inventories_available": [{"name": "inventory", "size": _NUM_PLAYER_SLOTS}],
            "current_item_index": int(game.state.hands.selected_E[0]),
        }
    for grid in mission.grids:
        report[grid.name] = _grid(game, grid, dialect)
    return report


def boxes_part(game: Game, boxes: dict[str, list[int]], dialect: Dialect) -> Json:
    """Return the answers to the step verbs `voxels` and `mobs` of the 1.16.5 mod: boxes x0, x1, y0, y1, z0, z1.

    The mod's sources are not public; the fields are those that the minestudio package reads.
    """
    report: Json = {}
    feet = [int(part // 1) for part in game.feet()[:3]]
    for verb, (x0, x1, y0, y1, z0, z1) in boxes.items():
        lowest, highest = (x0, y0, z0), (x1, y1, z1)
        if verb == "voxels":
            corner = tuple(at + low for at, low in zip(feet, lowest, strict=True))
            far = tuple(at + high for at, high in zip(feet, highest, strict=True))
            name_S = _names(dialect)
            box_YZX = game.states_in(corner, far)
            report["voxels"] = [
                {"x": x0 + x, "y": y0 + y, "z": z0 + z, "type": name_S[state]}
                for y, plane_ZX in enumerate(box_YZX.tolist())
                for z, row_X in enumerate(plane_ZX)
                for x, state in enumerate(row_X)
                if state
            ]
        else:
            # As voxels, from the agent; the mod tells neither ids nor health (ROCKET-3 reads name, x, y, z).
            report["mobs"] = [
                {"name": mob["name"], **{axis: mob[axis] - at for axis, at in zip("xyz", game.feet(), strict=False)}}
                for mob in game.mobs()
                if all(
                    low <= mob[axis] - at <= high
                    for axis, at, low, high in zip("xyz", feet, lowest, highest, strict=True)
                )
            ]
    return report


def _place(game: Game) -> Json:
    x, y, z, yaw, pitch = game.feet()
    return {"xpos": x, "ypos": y, "zpos": z, "yaw": yaw, "pitch": pitch}


def _life(game: Game, player: str) -> Json:
    health = float(game.state.bodies.health_E[0])
    return {
        "life": health, "score": 0, "food": 20, "saturation": 5.0, "xp": 0, "is_alive": health > 0,
        "air": int(game.state.bodies.air_ticks_E[0]), "name": player,
    }  # fmt: skip


def _surroundings(game: Game) -> Json:
    return {
        "biome_name": game.world.biome, "biome_id": 1, "biome_temperature": 0.8, "biome_rainfall": 0.4,
        "sea_level": 63, "light_level": 15, "is_raining": game.look.weather == "rain", "can_see_sky": True,
        "sun_brightness": 1.0, "sky_light_level": 1.0, "world_time": game.look.time_ticks,
        "total_time": game.num_ticks,
    }  # fmt: skip


def _statistics(game: Game, dialect: Dialect) -> Json:
    """Return the counters: 1.11.2 nests them under "stat" and "minecraft", the 1.16.5 mod has them on top."""
    counters = game.counters
    if dialect.version != "1.11.2":
        return {
            "mine_block": dict(counters.mined), "use_item": dict(counters.used), "pickup": dict(counters.picked),
            "drop": dict(counters.dropped), "kill_entity": dict(counters.killed), "custom": dict(counters.custom),
            "craft_item": {}, "break_item": {}, "damage_dealt": {}, "entity_killed_by": {},
        }  # fmt: skip
    mined: dict[str, int] = {}
    for kind, count in counters.mined.items():
        name = dialect.kind_name(kind)
        mined[name] = mined.get(name, 0) + count
    items = {
        "use_item": counters.used, "pickup": counters.picked, "items_dropped": counters.dropped,
    }  # fmt: skip
    return {
        "stat": {
            "mine_block": {"minecraft": mined},
            "kill_entity": {kind: count for kind, count in counters.killed.items()},
            **{
                verb: {"minecraft": {dialect.item_name(item)[0]: count for item, count in counts.items()}}
                for verb, counts in items.items()
            },
            **counters.custom,
        }
    }


def _damage(game: Game) -> Json:
    lost = game.counters.damage_half_hearts
    is_dead = float(game.state.bodies.health_E[0]) <= 0
    source: Json = {"damage_amount": lost, "damage_type": "generic", "hunger_damage": 0.0} if lost else {}
    return {"is_dead": is_dead, "living_death_event_fired": is_dead, "damage_source": source}


def _line_of_sight(game: Game, dialect: Dialect) -> Json:
    seen = glance(game)
    if seen is None:
        return {}
    x, y, z = seen.hit
    line: Json = {"inRange": seen.is_in_reach, "distance": seen.distance_blocks, "x": x, "y": y, "z": z}
    if seen.mob >= 0:
        mob = next(mob for mob in game.mobs() if mob["row"] == seen.mob)
        line |= {axis: mob[axis] for axis in ("x", "y", "z", "yaw", "pitch")}
        line |= {"hitType": "entity", "type": dialect.mob_name(mob["name"])}
    else:
        line |= {"hitType": "block", "type": dialect.block_name(seen.state)}
        line |= {
            f"prop_{name}": value == "true" if value in ("true", "false") else value
            for name, value in STATES[seen.state].properties
        }
    return {"LineOfSight": line}


def _equipped(game: Game, dialect: Dialect) -> Json:
    held, _ = game.items()[int(game.state.hands.selected_E[0])]
    slots = {"mainhand": held, "offhand": "air", **dict.fromkeys(_ARMOUR, "air")}
    rows = {slot: {"type": dialect.item_name(item)[0], "damage": 0, "maxDamage": 0} for slot, item in slots.items()}
    # The 1.16.5 mod sends a JSON document inside a string for every slot.
    return rows if dialect.version == "1.11.2" else {slot: json.dumps(row) for slot, row in rows.items()}


def _inventory(game: Game, dialect: Dialect) -> list[Json]:
    slots = game.items() + [("air", 0)] * (_NUM_PLAYER_SLOTS - len(game.items()))
    rows = []
    for slot, (item, count) in enumerate(slots):
        name, data = dialect.item_name(item)
        row = {"type": name, "quantity": count}
        if dialect.version == "1.11.2":
            row |= {"metadata": data, "index": slot, "inventory": "inventory"}
        else:
            row |= {"slot_id": slot}
        rows.append(row)
    return (
        rows
        if dialect.version == "1.11.2"
        else [row if row["quantity"] else row | {"type": "none"} for row in rows[:36]]
    )


def _entities(game: Game, reach: tuple[float, float, float], player: str, dialect: Dialect) -> list[Json]:
    x, y, z, yaw, pitch = game.feet()
    health = float(game.state.bodies.health_E[0])
    rows: list[Json] = [{
        "id": "00000000-0000-4000-8000-000000000000", "name": player, "x": x, "y": y, "z": z, "yaw": yaw,
        "pitch": pitch, "life": health, "motionX": 0.0, "motionY": 0.0, "motionZ": 0.0,
    }]  # fmt: skip
    rows += [
        {key: value for key, value in mob.items() if key != "row"} | {"name": dialect.mob_name(mob["name"])}
        for mob in game.mobs()
    ]
    for drop in game.drops():
        name, data = dialect.item_name(str(drop["item"]))
        rows.append({
            "id": f"00000000-0000-4000-8001-{drop['row']:012x}", "name": "item", "type": name, "metadata": data,
            "quantity": drop["count"], "yaw": 0.0, "pitch": 0.0, "motionX": 0.0, "motionY": 0.0, "motionZ": 0.0,
            **{axis: drop[axis] for axis in "xyz"},
        })  # fmt: skip
    return [
        row
        for row in rows
        if all(abs(row[axis] - at) < far for axis, at, far in zip("xyz", (x, y, z), reach, strict=True))
    ]


def _grid(game: Game, grid: Grid, dialect: Dialect) -> list[str]:
    """Return the names of a box, x running fastest, then z, then y."""
    at = (0, 0, 0) if grid.is_absolute else tuple(int(part // 1) for part in game.feet()[:3])
    lowest = tuple(low + part for low, part in zip(grid.lowest, at, strict=True))
    highest = tuple(high + part for high, part in zip(grid.highest, at, strict=True))
    name_S = _names(dialect)
    return [name_S[state] for state in game.states_in(lowest, highest).reshape(-1).tolist()]


@functools.cache
def _names(dialect: Dialect) -> list[str]:
    return [dialect.block_name(state) for state in range(NUM_STATES)]
