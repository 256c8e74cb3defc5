"""The folder Conditions of the Task tab: time of day, weather and fog of the world, its textures, the time limit."""

import dataclasses
from typing import TYPE_CHECKING, get_args

import viser

from eval.viewer.app_control import Forward
from eval.viewer.draft import GoalDraft
from task_synthesis.held_out import FIRST_HELD_OUT_VARIANT
from worlds.spec import Look, Weather
from worlds.types import TICK_S

if TYPE_CHECKING:
    from eval.viewer.app_booth import Booth

_TICKS_A_DAY, _TICKS_AN_HOUR, _SUNRISE_H = 24000, 1000, 6
_LAST_HOUR = 23.99
_VARIANTS = (1, 2, 3, FIRST_HELD_OUT_VARIANT, FIRST_HELD_OUT_VARIANT + 1)  # of training, and two that it never shows
_TEXTURES = ("own", *(f"own:{variant}" for variant in _VARIANTS))


class LookPanel:
    """Its controls."""

    def __init__(self, booth: "Booth", gui: viser.GuiApi) -> None:
        """Build them in the container that is open."""
        self._goal = booth.session.goal
        draft = self._goal.draft
        with gui.add_folder("Conditions", expand_by_default=False):
            hour, weather, fog, textures, limit_s = _values(draft)
            self._controls: tuple[viser.GuiInputHandle[object], ...] = (
                gui.add_number(
                    "Hour", hour, min=0.0, max=_LAST_HOUR, step=0.01, hint="6 is sunrise, 12 noon, 18 sunset."
                ),
                gui.add_dropdown("Weather", get_args(Weather), initial_value=weather),
                gui.add_number("Fog", fog, min=0.25, max=8.0, step=0.01, hint="2 brings it to half the distance."),
                gui.add_dropdown("Textures", _with(_TEXTURES, textures), initial_value=textures),
                gui.add_number("Limit s", limit_s, min=0.0, step=0.05, hint="0: what the distance to walk allows."),
            )
            change = gui.add_button("Set them", icon=viser.Icon.SUN)
        self._shown = _values(draft)
        change.on_click(Forward(booth.do).reading(self._set, *self._controls))

    def update(self) -> None:
        """Show the session's draft where it has become another; not before: a person may be writing here."""
        values = _values(self._goal.draft)
        if values == self._shown:
            return
        self._shown = values
        textures = self._controls[3]
        assert isinstance(textures, viser.GuiDropdownHandle)
        textures.options = _with(_TEXTURES, values[3])
        for control, value in zip(self._controls, values, strict=True):
            control.value = value

    def _set(self, hour: float, weather: Weather, fog: float, textures: str, limit_s: float) -> None:
        # What was not touched stays as it is: a task's time has more digits than are shown.
        was, look = self._shown, dataclasses.replace(self._goal.draft.look, weather=weather, textures=textures)
        if hour != was[0]:
            time_ticks = round((hour - _SUNRISE_H) * _TICKS_AN_HOUR) % _TICKS_A_DAY
            look = dataclasses.replace(look, time_ticks=time_ticks)
        if fog != was[2]:
            look = dataclasses.replace(look, fog=float(fog))
        max_ticks = None if limit_s == was[4] else round(limit_s / TICK_S)
        self._goal.set_conditions(look=look, max_ticks=max_ticks)


def _values(draft: GoalDraft) -> tuple[float, Weather, float, str, float]:
    """Return what the controls show of a draft."""
    look: Look = draft.look
    hour = (look.time_ticks / _TICKS_AN_HOUR + _SUNRISE_H) % (_TICKS_A_DAY / _TICKS_AN_HOUR)
    hour = min(_LAST_HOUR, round(hour, 2))  # of the last ticks before midnight it rounds to 24, which nobody can enter
    return hour, look.weather, round(look.fog, 2), look.textures, round((draft.max_ticks or 0) * TICK_S, 2)


def _with(options: tuple[str, ...], one: str) -> tuple[str, ...]:
    """Return the options with this one among them."""
    return options if one in options else (*options, one)
