"""The gallery: tasks on one self-contained HTML page, each with its views, its map and all its fields."""

import dataclasses
import html
from collections.abc import Callable, Sequence
from pathlib import Path

from eval.library.companions import companions_sentence, has_companion
from eval.library.task_pictures import png_uri, task_pictures
from eval.library.task_sample import SAMPLE_RULE
from eval.library.top_down_map import TaskMap, task_map
from eval.numbers.counted import counted
from task_synthesis.task import TaskSpec
from worlds.spec import Look
from worlds.voxel.backend import VoxelBackend

PICTURE_PX = 192

_STYLE = Path(__file__).with_name("gallery.css")
_LEGEND = (
    ("start", "start and where it looks"),
    ("camera", "goal camera"),
    ("target", "target"),
    ("same", "another of its kind"),
    ("other", "another object"),
)


def gallery_page(
    tasks: Sequence[TaskSpec],
    *,
    title: str,
    num_all: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> str:
    """Return the page; tasks are grouped by skill in the order given.

    They may be a sample of `num_all`, as `sample_tasks` draws it.
    """
    backends: dict[tuple[int, int, int], VoxelBackend] = {}
    cards: dict[str, list[str]] = {}
    for num_done, task in enumerate(tasks, 1):
        size = task.world.size_blocks
        if size not in backends:
            backends[size] = VoxelBackend(1, size_blocks=size, image_px=(PICTURE_PX, PICTURE_PX))
        cards.setdefault(task.skill, []).append(_card(task, backends[size]))
        if on_progress:
            on_progress(num_done)
    for backend in backends.values():
        backend.close()
    sections = "".join(
        f'<section id="{html.escape(skill)}"><h2>{html.escape(skill.replace("_", " "))}</h2>'
        f'<div class="tasks">{"".join(of_skill)}</div></section>\n'
        for skill, of_skill in cards.items()
    )
    links = " ".join(f'<a href="#{html.escape(skill)}">{html.escape(skill.replace("_", " "))}</a>' for skill in cards)
    is_sample = num_all not in (None, len(tasks))
    shown = f"{len(tasks)} of " * is_sample + counted(num_all or len(tasks), "task") + f", {SAMPLE_RULE}" * is_sample
    companions = companions_sentence(sum(map(_has_companion, tasks)), len(tasks))
    legend = "".join(f'<span><i class="{name}"></i>{meaning}</span>' for name, meaning in _LEGEND)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{_STYLE.read_text(encoding='ascii')}</style></head>\n"
        f"<body><main><h1>{html.escape(title)}</h1><p>{shown}. {companions}{' ' * bool(companions)}"
        "Left to right: what the agent sees at the start, the goal view with the target outlined, the map with the "
        "shortest walk (north is up).</p>"
        f'<p class="legend">{legend}</p><nav>{links}</nav>{sections}</main></body></html>\n'
    )


def _has_companion(task: TaskSpec) -> bool:
    kinds, positions = [one.kind for one in task.placements], [one.position for one in task.placements]
    return has_companion(kinds, positions, task.target_index, task.world.size_blocks)


def _card(task: TaskSpec, backend: VoxelBackend) -> str:
    pictures = task_pictures(task, backend)
    overview = task_map(task, backend.state.terrain.block_EXZY[0])
    skill, _, kind = task.family.partition("/")
    heading = f"{skill.replace('_', ' ')} {kind.partition(':')[2] or kind}".replace("_", " ")
    return (
        f"<article><h3>{html.escape(heading)} <small>{html.escape(task.band)}, {html.escape(task.world.biome)}</small>"
        f'</h3><div class="views">'
        f'<figure><img alt="start view" src="{png_uri(pictures.start_HWC)}"><figcaption>start</figcaption></figure>'
        f'<figure><img alt="goal view" src="{png_uri(pictures.goal_HWC)}"><figcaption>goal</figcaption></figure>'
        f"<figure>{_map_svg(overview)}<figcaption>map, {overview.side_blocks} blocks wide</figcaption></figure></div>"
        f"<dl>{_fields(task)}</dl></article>\n"
    )


def _map_svg(overview: TaskMap) -> str:
    side = overview.side_blocks
    return (
        f'<svg viewBox="0 0 {side} {side}" role="img" aria-label="map"><image width="{side}" height="{side}" '
        f'href="{png_uri(overview.land_HWC)}"/>{overview.svg}</svg>'
    )


def _fields(task: TaskSpec) -> str:
    """Return every field of the task: the measured ones first, then what it is made from."""
    world = task.world
    pairs: list[tuple[str, object]] = list(dataclasses.asdict(task.difficulty).items())
    pairs += [
        ("max_ticks", task.max_ticks),
        ("inventory", ", ".join(f"{item} x {count}" for item, count in task.inventory if item) or "bare hand"),
        ("objects", ", ".join(placement.kind for placement in task.placements)),
        ("start", _numbers(task.start)),
        ("goal_view", _numbers(task.goal_view)),
        (
            "world",
            f"{world.source}, seed {world.seed}, {world.detail}, {world.size_blocks[0]} x {world.size_blocks[2]}",
        ),
        ("split", task.split),
        ("episode_seed", task.episode_seed),
        ("task_id", task.task_id),
    ]
    plain = dataclasses.asdict(Look())
    changed = {name: value for name, value in dataclasses.asdict(task.look).items() if value != plain[name]}
    if changed:
        pairs.append(("look", ", ".join(f"{name} {value}" for name, value in changed.items())))
    return "".join(f"<dt>{name}</dt><dd>{html.escape(_text(value))}</dd>" for name, value in pairs)


def _numbers(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
