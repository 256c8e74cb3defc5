"""Claims about the rooms that engines without terrain are filled with, and about what fits their pictures to ours."""

import numpy as np
import pytest
from scipy import ndimage

from worlds.adapters.engines.doom_sectors import DoomSectors
from worlds.adapters.engines.floor_plan import floor_plan, is_line_free
from worlds.adapters.engines.picture_fit import PictureFit


def test_every_room_can_be_walked_to_from_every_other():
    for seed in range(200):
        plan = floor_plan(seed)
        _, num_parts = ndimage.label(plan.is_free_XZ)
        assert num_parts == 1, seed
        assert not plan.is_free_XZ[[0, -1]].any()
        assert not plan.is_free_XZ[:, [0, -1]].any()


def test_the_same_seed_gives_the_same_rooms_and_another_seed_others():
    assert floor_plan(7).rooms == floor_plan(7).rooms
    assert len({str(floor_plan(seed).rooms) for seed in range(50)}) == 50


def test_a_line_is_free_exactly_where_small_steps_along_it_meet_no_wall():
    rng = np.random.default_rng(0)
    is_free_XZ = floor_plan(5).is_free_XZ
    for _ in range(300):
        start, end = (rng.uniform(0.05, np.array(is_free_XZ.shape) - 0.05) for _ in range(2))
        step_N2 = start + np.linspace(0, 1, 4001)[:, None] * (end - start)
        cell_N2 = np.floor(step_N2).astype(int)
        by_steps = bool(is_free_XZ[cell_N2[:, 0], cell_N2[:, 1]].all())
        assert is_line_free(is_free_XZ, tuple(start), tuple(end)) == by_steps


def test_a_picture_of_the_wanted_size_and_view_is_left_as_it_is():
    image_HWC = np.random.default_rng(0).integers(0, 256, (30, 40, 3)).astype(np.uint8)
    assert np.array_equal(PictureFit((30, 40), 70.0, (30, 40), 70.0).image(image_HWC), image_HWC)


def test_half_the_view_is_the_middle_half_of_the_picture():
    half_deg = 2 * np.degrees(np.arctan(np.tan(np.radians(35.0)) / 2))
    fit = PictureFit((40, 80), 70.0, (20, 20), half_deg)
    ids_HW = np.arange(3200).reshape(40, 80)
    assert np.array_equal(fit.labels(ids_HW), ids_HW[10:30, 30:50])


def test_a_view_wider_than_the_engine_draws_is_refused():
    with pytest.raises(ValueError, match="smaller look.fov_deg"):
        PictureFit((40, 80), 70.0, (20, 20), 90.0)


class Part:
    """As vizdoom.Sector and vizdoom.Line: a bag of numbers."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


def two_sectors():
    """Squares of 64 units side by side, the eastern one 24 units higher; the line between them is in both."""

    def lines(west, east):
        corners = [(west, 0), (east, 0), (east, 64), (west, 64)]
        ends = zip(corners, corners[1:] + corners[:1], strict=True)
        return [Part(x1=a[0], y1=a[1], x2=b[0], y2=b[1], is_blocking=False) for a, b in ends]

    low = Part(floor_height=0.0, ceiling_height=128.0, lines=lines(0, 64))
    high = Part(floor_height=24.0, ceiling_height=96.0, lines=lines(64, 128))
    return DoomSectors([low, high])


def test_floors_and_ceilings_are_those_of_the_sector_around_a_place():
    floor_N, ceiling_N = two_sectors().floor_and_ceiling(np.array([[10.0, 10.0], [100.0, 60.0], [200.0, 10.0]]))
    assert floor_N[:2].tolist() == [0.0, 24.0]
    assert ceiling_N[:2].tolist() == [128.0, 96.0]
    assert np.isnan(floor_N[2])


def test_a_line_of_sight_passes_between_sectors_above_the_step_and_below_the_lintel():
    sectors = two_sectors()
    assert sectors.is_line_free((10, 32, 50), (120, 32, 50))
    assert not sectors.is_line_free((10, 32, 10), (120, 32, 10))
    assert not sectors.is_line_free((10, 32, 110), (120, 32, 110))
    assert not sectors.is_line_free((10, 32, 50), (10, 90, 50))
