"""Claims about mixes of looks: every look drawn lies within the mix, and no impossible mix can be written down."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from task_synthesis.look_mix import LookMix
from worlds.spec import Look


@given(
    seed=st.integers(0, 2**32),
    fog=st.tuples(st.floats(0.25, 8.0), st.floats(0.25, 8.0)).map(sorted),
    time_ticks=st.tuples(st.integers(0, 23999), st.integers(0, 23999)).map(sorted),
    tint_reach=st.floats(0.0, 0.5),
)
def test_looks_lie_within_the_mix(seed, fog, time_ticks, tint_reach):
    mix = LookMix(
        textures=("own", "own:3"),
        time_ticks=tuple(time_ticks),
        fog=tuple(fog),
        weather=("rain",),
        tint_reach=tint_reach,
    )
    look = mix.draw(np.random.default_rng(seed))
    assert look.textures in mix.textures
    assert look.weather == "rain"
    assert time_ticks[0] <= look.time_ticks <= time_ticks[1]
    assert fog[0] - 1e-3 <= look.fog <= fog[1] + 1e-3
    assert all(abs(part - 1.0) <= tint_reach + 1e-3 for part in look.tint)


def test_the_default_mix_is_the_default_look():
    assert LookMix().draw(np.random.default_rng(0)) == Look()


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"textures": ()}, "looks: textures and weather need at least one value"),
        ({"fog": (2.0, 1.0)}, "looks.fog must be"),
        ({"fog": (1.0, 9.0)}, "look.fog must be"),
        ({"time_ticks": (0, 24000)}, "look.time_ticks must be"),
        ({"tint_reach": 0.6}, "looks.tint_reach must be"),
        ({"weather": ("snow",)}, "look.weather must be"),
    ],
)
def test_an_impossible_mix_is_refused(fields, fault):
    with pytest.raises(ValueError, match=fault):
        LookMix(**fields)
