"""What tells rows apart in a chart beside their colour, for eyes and printers that see none: marks and dashes."""

import math

SHAPES = ("circle", "square", "diamond", "up", "down", "cross", "plus")
DASHES = ("", "7 4", "2 3", "9 3 2 3", "4 2", "12 4", "1 4")  # lengths of stroke and gap; "" is drawn through
_KEY_WIDTH_PX, _KEY_HEIGHT_PX = 26, 12

# Corners as angles, 0 to the right and clockwise, and how far out they lie for a mark as large as the circle.
_CORNERS_DEG = {
    "square": (45, 135, 225, 315),
    "diamond": (0, 90, 180, 270),
    "up": (270, 30, 150),
    "down": (90, 210, 330),
}
_REACH = 1.3


def shape_mark(shape: str, across: float, down: float, radius: float, color: str, note: str = "") -> str:
    """Return an SVG mark of one of SHAPES around a point; `note`, escaped, is shown when the pointer rests on it."""
    title = f"<title>{note}</title>" if note else ""
    if shape == "circle":
        return f'<circle fill="{color}" cx="{across:.1f}" cy="{down:.1f}" r="{radius}">{title}</circle>'
    if shape in _CORNERS_DEG:
        corners = [_around(across, down, _REACH * radius, angle) for angle in _CORNERS_DEG[shape]]
        return f'<path fill="{color}" d="M{"L".join(corners)}Z">{title}</path>'
    assert shape in ("cross", "plus"), shape
    turn = 45 if shape == "cross" else 0
    ends = [_around(across, down, _REACH * radius, turn + angle) for angle in (0, 180, 90, 270)]
    return f'<path class="strokes" stroke="{color}" d="M{ends[0]}L{ends[1]}M{ends[2]}L{ends[3]}">{title}</path>'


def dashed(dash: str) -> str:
    """Return the attribute, a space before it, of a line drawn with one of DASHES."""
    return f' stroke-dasharray="{dash}"' if dash else ""


def mark_key(shape: str, color: str) -> str:
    """Return a mark for a legend."""
    return _key(shape_mark(shape, _KEY_WIDTH_PX / 2, _KEY_HEIGHT_PX / 2, 4.2, color))


def line_key(dash: str, color: str) -> str:
    """Return a piece of line for a legend."""
    middle = _KEY_HEIGHT_PX / 2
    return _key(f'<path class="curve" stroke="{color}"{dashed(dash)} d="M0,{middle}L{_KEY_WIDTH_PX},{middle}"/>')


def _around(across: float, down: float, reach: float, angle_deg: float) -> str:
    angle = math.radians(angle_deg)
    return f"{across + reach * math.cos(angle):.1f},{down + reach * math.sin(angle):.1f}"


def _key(body: str) -> str:
    # Its name stands beside it, so a screen reader passes it over.
    size = f'width="{_KEY_WIDTH_PX}" height="{_KEY_HEIGHT_PX}"'
    return f'<svg class="key" aria-hidden="true" {size} viewBox="0 0 {_KEY_WIDTH_PX} {_KEY_HEIGHT_PX}">{body}</svg>'
