import pytest

from worlds.spec import Look
from worlds.voxel.daylight import darkness, daylight, look_row
from worlds.voxel.scene import LOOK_COLUMNS


@pytest.mark.parametrize(("time_ticks", "levels"), [(6000, 0), (1000, 0), (18000, 11), (23999, 5)])
def test_darkness_follows_the_time_of_day(time_ticks, levels):
    assert darkness(Look(time_ticks=time_ticks)) == levels


def test_rain_takes_light_by_day_and_nothing_at_night():
    assert daylight(Look(weather="rain")) == pytest.approx(11 / 16)
    assert daylight(Look(weather="rain", time_ticks=18000)) == 0.0


def test_a_look_row_has_a_number_for_every_column():
    row = look_row(Look(tint=(0.9, 1.0, 1.1), fog=2.0), 3)
    named = dict(zip(LOOK_COLUMNS, row, strict=True))
    assert named["texture_set"] == 3
    assert named["tint_blue"] == pytest.approx(1.1)
    assert named["fog_density"] == 2.0
    assert named["sun_angle_deg"] == 90.0


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"time_ticks": 24000}, "look.time_ticks must be in"),
        ({"weather": "hail"}, "look.weather must be"),
        ({"fog": 0.0}, "look.fog must be in"),
        ({"tint": (1.0, 2.0, 1.0)}, "look.tint must be three numbers"),
    ],
)
def test_a_wrong_look_is_refused_in_one_sentence(fields, sentence):
    with pytest.raises(ValueError, match=sentence):
        Look(**fields)
