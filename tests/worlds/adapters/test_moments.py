"""Claims about moments that an engine sends: what cannot be is refused before anything is written from it."""

import copy

import numpy as np
import pytest

from worlds.adapters.engine import Event, Mob, Moment, Scan, Sight
from worlds.adapters.moments import MAX_OBJECTS, NUM_SLOTS, check_scan, moment_fields, moment_of
from worlds.spec import MAX_OBJECTS as OUR_MAX_OBJECTS
from worlds.voxel.state import NUM_SLOTS as OUR_NUM_SLOTS

SIGHT = Sight(np.zeros((4, 4, 3), np.uint8))
MOMENT = Moment(
    sight=SIGHT,
    pose=(1.5, 64.0, -2.5, 90.0, -10.0),
    health=17.5,
    items=[("dirt", 64)],
    selected=NUM_SLOTS - 1,
    mobs=[Mob("cow", 1.0, 2.0, 3.0, 10.0, MAX_OBJECTS - 1), Mob("pig", 1.0, 2.0, 3.0, 10.0, -1, 45.0)],
    events=[Event("damage", "fall", 3), Event("block_broken", "dirt", 0, (1, -2, 3), 0)],
    changed=[((4, 5, 6), "stone")],
)


def test_a_moment_comes_through_whole():
    assert moment_of(moment_fields(MOMENT), SIGHT) == MOMENT


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), 1e300, 2**40, -7, "seven"])
@pytest.mark.parametrize(
    "place",
    [
        ("selected",),
        ("mobs", 0, 5),  # index of the placement
        ("events", 1, 4),
    ],
)
def test_an_index_that_is_none_is_refused(place, number):
    assert_refused(place, number)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e300, "far"])
@pytest.mark.parametrize(
    "place",
    [
        *(("pose", part) for part in range(5)),
        ("health",),
        ("items", 0, 1),
        *(("mobs", 1, part) for part in (1, 2, 3, 4, 6)),
        ("events", 0, 2),
        ("events", 1, 3, 0),
        ("changed", 0, 0, 1),
    ],
)
def test_a_number_that_is_none_is_refused(place, number):
    assert_refused(place, number)


def assert_refused(place, number) -> None:
    """Put a number into the fields of a moment, and see that they are no moment any more."""
    fields = copy.deepcopy(moment_fields(MOMENT))
    inner = fields
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = number
    with pytest.raises((ValueError, OverflowError)):
        moment_of(fields, SIGHT)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32", "bool"])
def test_a_scan_of_other_numbers_than_the_contract_says_is_refused(dtype):
    check_scan(Scan(["air"], np.zeros((2, 4, 3), np.uint16)), (2, 3, 4))
    with pytest.raises(ValueError, match=f"its scan is {dtype} .2, 4, 3., wanted is uint16 .2, 4, 3."):
        check_scan(Scan(["air"], np.zeros((2, 4, 3), dtype)), (2, 3, 4))


def test_slots_and_objects_are_as_many_as_in_our_engine():
    assert (NUM_SLOTS, MAX_OBJECTS) == (OUR_NUM_SLOTS, OUR_MAX_OBJECTS)
