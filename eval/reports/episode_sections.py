"""The sections of a report's page that show single episodes: videos, and a gallery of failures."""

import html
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddedVideo:
    """A video inside the page."""

    caption: str
    is_success: bool
    goal_uri: str
    video_uri: str
    poster_uri: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownFailure:
    """A failure in pictures, all of them data URIs."""

    heading: str
    cause: str
    """One of records.CAUSES."""
    story: str
    """How it went, in a sentence."""
    start_uri: str
    goal_uri: str
    last_uri: str
    map_svg: str
    side_blocks: int
    """Width of the map."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownEpisodes:
    """All episodes that a page shows, with how they were chosen or why there are none."""

    videos: Sequence[EmbeddedVideo] = ()
    video_note: str = ""
    failures: Sequence[ShownFailure] = ()
    failure_note: str = ""


_MAP_LEGEND = (
    ("start", "start and where it looks"),
    ("camera", "goal camera"),
    ("target", "target"),
    ("same", "another of its kind"),
    ("other", "another object"),
    ("walked", "where the agent went"),
    ("walk", "shortest walk"),
)


def video_section(shown: ShownEpisodes) -> str:
    """Return the videos, successes first."""
    text = f"<p>{html.escape(shown.video_note)}</p>" if shown.video_note else ""
    figures = "".join(_film(video) for video in shown.videos)
    return f'{text}<div class="grid two">{figures}</div>' if figures else text


def _film(video: EmbeddedVideo) -> str:
    caption, kind = html.escape(video.caption), "success" if video.is_success else "failure"
    return (
        '<figure class="episode"><div class="pair"><div><img loading="lazy" alt="goal view, target outlined" '
        f'src="{video.goal_uri}"><small>goal view, target outlined</small></div><div>'
        f'<video controls loop muted playsinline preload="none" poster="{video.poster_uri}" src="{video.video_uri}" '
        f'aria-label="{caption}"></video></div></div>'
        f'<figcaption><i class="swatch" style="background:var(--k-{kind})"></i>{caption}</figcaption></figure>'
    )


def gallery_section(shown: ShownEpisodes) -> str:
    """Return the failures, each with what was seen first and last, the goal, and the way that was gone."""
    text = f"<p>{html.escape(shown.failure_note)}</p>" if shown.failure_note else ""
    if not shown.failures:
        return text
    legend = "".join(f'<span><i class="mark {name}"></i>{meaning}</span>' for name, meaning in _MAP_LEGEND)
    cards = "".join(_card(failure) for failure in shown.failures)
    return f'{text}<p class="legend">{legend}</p><div class="failures">{cards}</div>'


def _card(failure: ShownFailure) -> str:
    side = failure.side_blocks
    cause = failure.cause.replace("_", " ")
    return (
        f'<article><h3><i class="swatch" style="background:var(--k-{failure.cause})"></i>{html.escape(cause)} '
        f'<small>{html.escape(failure.heading)}</small></h3><div class="views">'
        f"{_picture(failure.start_uri, 'start')}{_picture(failure.goal_uri, 'goal')}"
        f"{_picture(failure.last_uri, 'last view')}"
        f'<div><svg class="map" viewBox="0 0 {side} {side}" role="img" aria-label="map: {html.escape(failure.story)}">'
        f"{failure.map_svg}</svg><small>map, {side} blocks</small></div></div>"
        f"<p>{html.escape(failure.story)}</p></article>\n"
    )


def _picture(uri: str, name: str) -> str:
    return f'<div><img loading="lazy" alt="{name}" src="{uri}"><small>{name}</small></div>'
