"""How the worlds of a set of tasks are drawn: which looks, evenly mixed."""

from dataclasses import dataclass

import numpy as np

from worlds.spec import Look, Weather


@dataclass(frozen=True, kw_only=True, slots=True)
class LookMix:
    """Looks drawn evenly and apart from each other. By default there is one: noon, clear, our own textures."""

    textures: tuple[str, ...] = ("own",)
    """Values of Look.textures, drawn with equal chance."""
    time_ticks: tuple[int, int] = (6000, 6000)
    """First and last time of day, 0 .. 23999."""
    fog: tuple[float, float] = (1.0, 1.0)
    """Thinnest and thickest fog, in Look.fog's unit."""
    weather: tuple[Weather, ...] = ("clear",)
    """Drawn with equal chance."""
    tint_reach: float = 0.0
    """Red, green and blue of the terrain are each multiplied by 1 - tint_reach .. 1 + tint_reach."""

    def __post_init__(self) -> None:
        if not self.textures or not self.weather:
            raise ValueError("looks: textures and weather need at least one value each")
        for name in ("time_ticks", "fog"):
            low, high = getattr(self, name)
            if low > high:
                raise ValueError(f"looks.{name} must be (least, most), got {(low, high)}")
        if not 0 <= self.tint_reach <= 0.5:
            raise ValueError(f"looks.tint_reach must be in [0, 0.5], got {self.tint_reach}")
        self.corners()  # a bound that no Look may have is refused here, by Look's own words

    def corners(self) -> list[Look]:
        """Return the extreme looks of the mix."""
        times, fogs = dict.fromkeys(self.time_ticks), dict.fromkeys(self.fog)
        return [
            Look(textures=textures, time_ticks=time_ticks, fog=fog, weather=weather)
            for textures in self.textures
            for time_ticks in times
            for fog in fogs
            for weather in self.weather
        ]

    def draw(self, rng: np.random.Generator) -> Look:
        """Return one look."""
        tint = tuple(round(1.0 + self.tint_reach * float(part), 3) for part in rng.uniform(-1.0, 1.0, 3))
        return Look(
            textures=self.textures[rng.integers(len(self.textures))],
            time_ticks=int(rng.integers(self.time_ticks[0], self.time_ticks[1] + 1)),
            fog=round(float(rng.uniform(*self.fog)), 3),
            weather=self.weather[rng.integers(len(self.weather))],
            tint=(tint[0], tint[1], tint[2]),
        )
