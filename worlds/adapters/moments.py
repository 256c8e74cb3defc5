"""A Moment and views as fields and arrays of a message, and back. Both sides run it. H W C image, V views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from worlds.adapters.engine import EVENT_NAMES, Event, Mob, Moment, Scan, Sight

# As in worlds.voxel.state and worlds.spec, which an engine's interpreter cannot import.
NUM_SLOTS, MAX_OBJECTS = 36, 14
_MOST = 1e9  # of blocks, degrees and half hearts: no world is as large, and its cells are integers of 32 bits
_INT32 = (-(2**31), 2**31 - 1)
_NO_HW = np.empty((0, 0), np.uint8)


def check_sight(sight: Sight, image_px: tuple[int, int]) -> None:
    """Raise ValueError where a view has another size or type than it should."""
    wanted: list[tuple[np.ndarray, tuple[int, ...], str, str]] = [(sight.image_HWC, (*image_px, 3), "uint8", "picture")]
    wanted += [(sight.instance_HW, image_px, "int32", "mask")] if sight.instance_HW is not None else []
    wanted += [(sight.depth_HW, image_px, "float32", "depth")] if sight.depth_HW is not None else []
    for array, shape, dtype, what in wanted:
        if array.shape != tuple(shape) or array.dtype != dtype:
            raise ValueError(
                f"its {what} is {array.dtype.name} {list(array.shape)}, wanted is {dtype} {list(shape)}; let the "
                "engine draw in that size"
            )


def check_scan(scan: Scan, size: tuple[int, int, int]) -> None:
    """Raise ValueError where a scan is not one of a box whose sides along x, y, z are `size`."""
    index_XZY, wanted = scan.index_XZY, (size[0], size[2], size[1])
    if index_XZY.dtype != np.uint16 or index_XZY.shape != wanted:
        raise ValueError(f"its scan is {index_XZY.dtype.name} {list(index_XZY.shape)}, wanted is uint16 {list(wanted)}")
    if int(index_XZY.max(initial=0)) >= len(scan.names):
        raise ValueError(f"its scan has {len(scan.names)} names, and an index of {int(index_XZY.max())}")


def moment_fields(moment: Moment) -> dict[str, Any]:
    """Return all of a moment but its view, for JSON. ValueError: it names an event that there is not."""
    for event in moment.events:
        if event[0] not in EVENT_NAMES:
            raise ValueError(f"event {event[0]!r} is none of {', '.join(EVENT_NAMES)}")
    return {
        "pose": [float(part) for part in moment.pose],
        "is_on_ground": bool(moment.is_on_ground),
        "health": float(moment.health),
        "items": [[str(name), int(count)] for name, count in moment.items],
        "selected": int(moment.selected),
        "mobs": [
            [
                str(mob.kind),
                *(float(part) for part in (mob.x, mob.y, mob.z, mob.health)),
                int(mob.object_index),
                None if mob.yaw_deg is None else float(mob.yaw_deg),
            ]
            for mob in moment.mobs
        ],
        "changed": [[[int(part) for part in cell], str(state)] for cell, state in moment.changed],
        "events": [
            [
                event.name,
                str(event.subject),
                int(event.amount),
                None if event.cell is None else [int(part) for part in event.cell],
                int(event.object_index),
            ]
            for event in moment.events
        ],
        "has_instance": moment.sight.instance_HW is not None,
        "has_depth": moment.sight.depth_HW is not None,
    }


def moment_of(fields: dict[str, Any], sight: Sight) -> Moment:
    """Return the moment that `moment_fields` took apart.

    Raises:
        KeyError, OverflowError, TypeError, ValueError: it is none, or has numbers that cannot be.
    """
    *feet, yaw_deg, pitch_deg = fields["pose"]
    events = [
        Event(
            str(name),
            str(subject),
            _integer(amount, *_INT32, "an event's amount"),
            None if cell is None else _cell(cell),
            _object_index(object_index),
        )
        for name, subject, amount, cell, object_index in fields["events"]
    ]
    for event in events:
        if event.name not in EVENT_NAMES:
            raise ValueError(f"event {event.name!r} is none of {', '.join(EVENT_NAMES)}")
    return Moment(
        sight=sight,
        pose=(*_place(feet), _number(yaw_deg, "the yaw"), _number(pitch_deg, "the pitch")),
        is_on_ground=bool(fields["is_on_ground"]),
        health=_number(fields["health"], "the health"),
        items=[(str(name), _integer(count, *_INT32, "an item's count")) for name, count in fields["items"]],
        selected=_integer(fields["selected"], 0, NUM_SLOTS - 1, "the selected slot"),
        mobs=[
            Mob(
                str(kind),
                *_place(feet),
                _number(health, "a mob's health"),
                _object_index(object_index),
                None if yaw is None else _number(yaw, "a mob's yaw"),
            )
            for kind, *feet, health, object_index, yaw in fields["mobs"]
        ],
        events=events,
        changed=[(_cell(cell), str(state)) for cell, state in fields["changed"]],
    )


def _number(value: Any, what: str) -> float:
    number = float(value)
    if not abs(number) <= _MOST:  # NaN is not, either
        raise ValueError(f"{what} is {number}, wanted is a number from {-_MOST:g} to {_MOST:g}")
    return number


def _integer(value: Any, least: int, most: int, what: str) -> int:
    number = int(value)
    if not least <= number <= most:
        raise ValueError(f"{what} is {number}, wanted is an integer from {least} to {most}")
    return number


def _object_index(value: Any) -> int:
    return _integer(value, -1, MAX_OBJECTS - 1, "an object's index")


def _place(value: Sequence[Any]) -> tuple[float, float, float]:
    x, y, z = (_number(part, "a place") for part in value)
    return x, y, z


def _cell(value: Sequence[Any]) -> tuple[int, int, int]:
    x, y, z = (_integer(part, *_INT32, "a cell's place") for part in value)
    return x, y, z


class SightArrays(NamedTuple):
    """V views as arrays of one message; what an engine does not draw is an array of no pixels."""

    image_VHWC: np.ndarray
    instance_VHW: np.ndarray
    depth_VHW: np.ndarray


def sight_arrays(sights: Sequence[Sight]) -> SightArrays:
    """Return the views stacked."""
    return SightArrays(
        np.stack([sight.image_HWC for sight in sights]),
        np.stack([_NO_HW.astype(np.int32) if sight.instance_HW is None else sight.instance_HW for sight in sights]),
        np.stack([_NO_HW.astype(np.float32) if sight.depth_HW is None else sight.depth_HW for sight in sights]),
    )


def sights_of(arrays: Sequence[np.ndarray], image_px: tuple[int, int]) -> list[Sight]:
    """Return the views that `sight_arrays` stacked; ValueError where they are of another size."""
    stacked = SightArrays(*arrays)
    sights = [
        Sight(
            image_HWC,
            instance_HW if instance_HW.size else None,
            depth_HW if depth_HW.size else None,
        )
        for image_HWC, instance_HW, depth_HW in zip(*stacked)  # noqa: B905 - `strict` is newer than Python 3.8
    ]
    for sight in sights:
        check_sight(sight, image_px)
    return sights
