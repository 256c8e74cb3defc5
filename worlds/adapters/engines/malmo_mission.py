"""The parts of a mission's XML that a task needs, for Malmo in 1.11.2 and in MineRL 1.0's 1.16.5."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

from worlds.adapters.engines.before_flattening import old_item
from worlds.adapters.engines.malmo_report import NEARBY, WATCH

BOX = "mcrl_box"
_NEARBY_BLOCKS = (48, 24, 48)


@dataclass(frozen=True)
class Mission:
    """What differs from one mission to the next."""

    seed: int = 0
    is_fresh: bool = True  # the world is made anew from its seed, else it stays as it is
    start: Sequence[float] | None = None  # feet x, y, z, yaw, pitch; None is the world's spawn
    inventory: Sequence[Sequence[object]] = ()  # (item, count) by slot, ("", 0) is empty
    time_ticks: int = 6000
    watched: Mapping[int, Sequence[int]] = field(
        default_factory=dict
    )  # cells whose block every report names, by number
    box: tuple[Sequence[int], Sequence[int]] | None = None  # a box that every report lists, corners inclusive


def world_generator(mission: Mission) -> str:
    """Return the element that makes the world, or leaves it."""
    return f'<DefaultWorldGenerator seed="{mission.seed}" forceReset="{str(mission.is_fresh).lower()}"/>'


def initial_conditions(mission: Mission) -> list[str]:
    """Return the elements that stop the clock and keep animals away."""
    return [
        f"<Time><StartTime>{mission.time_ticks}</StartTime><AllowPassageOfTime>false</AllowPassageOfTime></Time>",
        "<Weather>clear</Weather>",
        "<AllowSpawning>false</AllowSpawning>",
    ]


def agent_start(mission: Mission, *, is_old: bool) -> list[str]:
    """Return the elements that place the agent and fill its slots."""
    elements = []
    stacks = [(slot, str(item), count) for slot, (item, count) in enumerate(mission.inventory) if item]
    if stacks:
        elements.append(f"<Inventory>{''.join(_stack(*stack, is_old=is_old) for stack in stacks)}</Inventory>")
    if mission.start is not None:
        # The mod's schema knows no exponent, and no yaw beyond a whole turn.
        x, y, z, yaw, pitch = mission.start
        place = f'x="{x:.9f}" y="{y:.9f}" z="{z:.9f}"'
        elements.append(f'<Placement {place} yaw="{math.fmod(yaw, 360.0):.9f}" pitch="{pitch:.9f}"/>')
    return elements


def _stack(slot: int, item: str, count: object, *, is_old: bool) -> str:
    if not is_old:
        return f'<InventoryObject slot="{slot}" type={quoteattr(item)} quantity="{count}"/>'
    name, data = old_item(item)
    return f'<InventoryObject slot="{slot}" type={quoteattr(name)} metadata="{data}" quantity="{count}"/>'


def observations(mission: Mission) -> list[str]:
    """Return the elements that ask for all that a report holds; one of each kind, as MineRL allows.

    For damage MineRL 0.4.4 asks by itself; the 1.0 line's game knows no such observation.
    """
    x, y, z = _NEARBY_BLOCKS
    grids = [_grid(f"{WATCH}{number}", cell, cell) for number, cell in mission.watched.items()]
    if mission.box is not None:
        grids.append(_grid(BOX, *mission.box))
    return [
        "<ObservationFromFullStats/>",
        '<ObservationFromFullInventory flat="false"/>',
        "<ObservationFromRay/>",
        "<ObservationFromChat/>",
        f'<ObservationFromNearbyEntities><Range name="{NEARBY}" xrange="{x}" yrange="{y}" zrange="{z}"/>'
        "</ObservationFromNearbyEntities>",
        *([f"<ObservationFromGrid>{''.join(grids)}</ObservationFromGrid>"] if grids else []),
    ]


def _grid(name: str, lowest: Sequence[int], highest: Sequence[int]) -> str:
    corners = "".join(
        f'<{tag} x="{x}" y="{y}" z="{z}"/>' for tag, (x, y, z) in (("min", lowest), ("max", highest))
    )  # fmt: skip
    return f'<Grid name="{name}" absoluteCoords="true">{corners}</Grid>'
