"""Tables of a report as HTML."""

import html
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: a number to read, what belongs to it in small print, and how strongly its ground is tinted."""

    text: str
    small: str = ""
    heat: float | None = None
    """0 .. 1; None leaves the ground plain."""
    color: str = ""
    """CSS colour of a swatch before the text; "" draws none."""
    is_strong: bool = False


def table(caption: str, header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Return a table that scrolls sideways where the screen is narrow; the first cell of a row names it."""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in header)
    body = "".join(f"<tr>{_first(row[0])}{''.join(_cell(cell) for cell in row[1:])}</tr>" for row in rows)
    label = html.escape(caption)
    return (
        f'<div class="scroll" role="region" aria-label="{label}" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _content(cell: Cell) -> str:
    swatch = f'<i class="swatch" style="background:{cell.color}"></i>' if cell.color else ""
    text = f"<b>{html.escape(cell.text)}</b>" if cell.is_strong else html.escape(cell.text)
    return f"{swatch}{text}" + (f" <small>{html.escape(cell.small)}</small>" if cell.small else "")


def _first(cell: Cell) -> str:
    return f'<th scope="row">{_content(cell)}</th>'


def _cell(cell: Cell) -> str:
    style = f' style="--heat:{100 * cell.heat:.0f}%"' if cell.heat is not None else ""
    return f"<td{' class=heat' if style else ''}{style}>{_content(cell)}</td>"
