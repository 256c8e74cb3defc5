"""What a report's page is built of: tables, framed plots, legends, and the colour of every row."""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

_ROW_COLORS = {
    "random": "var(--c-random)",
    "noop": "var(--c-noop)",
    "shuffled goal": "var(--c-shuffled)",
    "blank goal": "var(--c-blank)",
    "imitation": "var(--c-imitation)",
    "dagger": "var(--c-dagger)",
    "imitation-long": "var(--c-long)",
    "rl": "var(--c-rl)",
    "expert": "var(--c-expert)",
}
_NUM_OTHER_COLORS = 6


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: a number to read, what belongs to it in small print, and how strongly its ground is tinted."""

    text: str
    small: str = ""
    heat: float | None = None
    """0 .. 1; None or NaN leaves the ground plain."""
    color: str = ""
    """CSS colour of a swatch before the text; "" draws none."""
    is_strong: bool = False


def table(caption: str, header: Sequence[str], rows: Sequence[Sequence[Cell]], *, is_stacked: bool = False) -> str:
    """Return a table that scrolls sideways where the screen is narrow; the first cell of a row names it.

    `is_stacked` puts small print under what it belongs to, for tables of many columns.
    """
    opened = '<table class="stacked">' if is_stacked else "<table>"
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in header)
    body = "".join(f"<tr>{_first(row[0])}{''.join(_cell(cell) for cell in row[1:])}</tr>" for row in rows)
    label = html.escape(caption)
    return (
        f'<div class="scroll" role="region" aria-label="{label}" tabindex="0">{opened}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _content(cell: Cell) -> str:
    sign = swatch(cell.color) if cell.color else ""
    text = f"<b>{html.escape(cell.text)}</b>" if cell.is_strong else html.escape(cell.text)
    return f"{sign}{text}" + (f" <small>{html.escape(cell.small)}</small>" if cell.small else "")


def _first(cell: Cell) -> str:
    return f'<th scope="row">{_content(cell)}</th>'


def _cell(cell: Cell) -> str:
    style = f' style="--heat:{100 * cell.heat:.0f}%"' if cell.heat is not None and not math.isnan(cell.heat) else ""
    return f"<td{' class=heat' if style else ''}{style}>{_content(cell)}</td>"


def color_of(row: str, rows: Sequence[str]) -> str:
    """Return a row's CSS colour, the same all over a page; rows of other names take turns."""
    if row in _ROW_COLORS:
        return _ROW_COLORS[row]
    others = [other for other in rows if other not in _ROW_COLORS]
    return f"var(--c-other-{others.index(row) % _NUM_OTHER_COLORS})"


def figure(title: str, note: str, body: str) -> str:
    """Return a plot in its frame with a heading."""
    heading = f"{html.escape(title)} <small>{html.escape(note)}</small>" if note else html.escape(title)
    return f"<figure><figcaption>{heading}</figcaption>{body}</figure>"


def swatch(color: str) -> str:
    """Return a small square of a CSS colour."""
    return f'<i class="swatch" style="background:{color}"></i>'


def legend(keys: Sequence[tuple[str, str]]) -> str:
    """Return what the signs of a chart mean, given as (sign, name)."""
    items = "".join(f"<span>{sign}{html.escape(name)}</span>" for sign, name in keys)
    return f'<p class="legend">{items}</p>'
