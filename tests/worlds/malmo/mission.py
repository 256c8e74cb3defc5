"""A mission as the client's XML describes it."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

_SPACE = "{http://ProjectMalmo.microsoft.com}"
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")  # xs:decimal of the mod's schema, by which it refuses missions
_MOST_DEG = {"yaw": 360.0, "pitch": 90.0}


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Blocks that every observation lists; corners are inclusive."""

    name: str
    lowest: tuple[int, int, int]
    highest: tuple[int, int, int]
    is_absolute: bool  # else from the agent's feet


@dataclass(frozen=True, kw_only=True)
class Mission:
    """What the server needs of a MissionInit message."""

    image_px: tuple[int, int]  # height, width
    seed: int | None = None  # of the world; None leaves it to the server
    is_fresh: bool = True  # make the world anew, even if it is the same
    start: tuple[float, float, float, float, float] | None = None  # feet x, y, z, yaw, pitch; None is the spawn
    inventory: tuple[tuple[int, str, int, int], ...] = ()  # slot, item, metadata, count
    start_time_ticks: int | None = None
    has_spawning: bool = True
    grids: tuple[Grid, ...] = ()
    entity_ranges: tuple[tuple[str, tuple[float, float, float]], ...] = ()  # name, reach along x, y, z
    handlers: frozenset[str] = field(default_factory=frozenset)  # names of all elements under AgentHandlers


def read_mission(xml: str) -> Mission:
    """Return the mission of a `<MissionInit>` document.

    Raises:
        ValueError: it asks for no video, or is no XML.
    """
    try:
        root = ElementTree.fromstring(xml)
    except ElementTree.ParseError as error:
        raise ValueError(f"mission: it is no XML ({error})") from None
    video = _find(root, "VideoProducer")
    if video is None:
        raise ValueError("mission: it asks for no VideoProducer; this server sends frames with every answer")
    generator = _find(root, "DefaultWorldGenerator")
    placement = _find(root, "Placement")
    handlers = _find(root, "AgentHandlers")
    start_time = _find(root, "StartTime")
    spawning = _find(root, "AllowSpawning")
    return Mission(
        image_px=(int(_text(video, "Height")), int(_text(video, "Width"))),
        seed=_seed(generator),
        is_fresh=generator is None or generator.get("forceReset") != "false",
        start=None if placement is None else _start(placement),
        inventory=tuple(
            (
                int(item.get("slot", "0")),
                item.get("type", ""),
                int(item.get("metadata", "0")),
                int(item.get("quantity", "1")),
            )
            for item in root.iter(_SPACE + "InventoryObject")
        ),
        start_time_ticks=None if start_time is None else int(start_time.text or "0"),
        has_spawning=spawning is None or (spawning.text or "").strip() != "false",
        grids=tuple(_grid(element) for element in root.iter(_SPACE + "Grid")),
        entity_ranges=tuple(
            (element.get("name", ""), _numbers(element, "xrange", "yrange", "zrange"))
            for element in root.iter(_SPACE + "Range")
        ),
        handlers=frozenset(element.tag.removeprefix(_SPACE) for element in handlers)
        if handlers is not None
        else frozenset(),
    )


def _find(root: ElementTree.Element, name: str) -> ElementTree.Element | None:
    return root.find(f".//{_SPACE}{name}")


def _text(element: ElementTree.Element, name: str) -> str:
    return (element.findtext(_SPACE + name) or "").strip()


def _numbers(element: ElementTree.Element, *names: str):
    return tuple(float(element.get(name, "0")) for name in names)


def _start(placement: ElementTree.Element):
    for name, text in placement.items():
        if not _DECIMAL.fullmatch(text) or abs(float(text)) > _MOST_DEG.get(name, float("inf")):
            raise ValueError(f"mission: {name} is {text!r}, which the schema does not allow")
    return _numbers(placement, "x", "y", "z", "yaw", "pitch")


def _seed(generator: ElementTree.Element | None) -> int | None:
    text = "" if generator is None else generator.get("seed", "")
    return int(text) if text else None


def _grid(element: ElementTree.Element) -> Grid:
    corners = []
    for name in ("min", "max"):
        corner = element.find(_SPACE + name)
        if corner is None:
            raise ValueError(f"mission: grid {element.get('name')} has no {name}")
        corners.append(tuple(int(float(corner.get(axis, "0"))) for axis in "xyz"))
    return Grid(
        name=element.get("name", ""), lowest=corners[0], highest=corners[1],
        is_absolute=element.get("absoluteCoords") == "true",
    )  # fmt: skip
