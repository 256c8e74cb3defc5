"""Claims about what a ray from the eye, or from a browser's camera, points at."""

import math

import numpy as np
import pytest

from eval.viewer.pointer import hit_of_ray, pixel_directions
from eval.viewer.scene_place import UNITS_PER_BLOCK, Ground
from tests.eval.viewer.made_goals import WORLD, place_cow
from worlds.blocks import STATE_ID
from worlds.types import INSTANCE_FIRST_OBJECT


def test_a_ray_through_a_pixel_meets_what_the_renderer_drew_there(session):
    place_cow(session)
    eye = session.goal.draft.goal_view
    desk = session.goal.desk
    views = desk.views(eye, (64, 64))
    row_HW, column_HW = np.mgrid[0:64, 0:64]
    ray_HW3 = pixel_directions(eye, row_HW, column_HW, size_px=(64, 64), fov_deg=70.0)
    num_agreeing = num_cow = num_rays = 0
    for row in range(0, 64, 3):
        for column in range(0, 64, 3):
            depth, ray = views.depth_VHW[0, row, column], tuple(ray_HW3[row, column].tolist())
            if depth >= desk.engine.view_range_blocks:
                continue
            hit = hit_of_ray(desk.engine, tuple(eye[:3]), ray)
            is_cow = views.instance_VHW[0, row, column] == INSTANCE_FIRST_OBJECT
            num_cow += is_cow and hit.object_index == 0
            if hit.object_index is None or is_cow:  # a cow's box is larger than the cow
                num_rays += 1
                num_agreeing += abs(hit.distance_blocks - depth) < (0.8 if is_cow else 0.01)
    assert num_cow > 3
    assert num_agreeing >= 0.99 * num_rays


@pytest.mark.parametrize("corner", [(0, 0), (-32, 0), (48, -48)])
def test_a_click_on_the_drawn_world_is_not_caught_by_its_repetition(session, corner):
    ground = Ground(WORLD.size_blocks, corner)
    low_x, middle_z = corner[0], corner[1] + WORLD.size_blocks[2] / 2
    hit = session.hit((low_x - 20.0, 50.0, middle_z), (1.0, -0.4, 0.0), ground=ground)
    assert hit.point[0] >= low_x
    with pytest.raises(ValueError, match="only sky"):
        session.hit((low_x - 20.0, 50.0, middle_z), (-1.0, -0.4, 0.0), ground=ground)


@pytest.mark.parametrize("start", [(0.5, 0.5), (63.5, 32.5), (32.5, 0.5)])
def test_what_is_drawn_beyond_the_border_of_the_world_can_be_clicked(session, start):
    """A scene shows the copy around the start: close to a border half of it has the other end's numbers."""
    session.goal.place_start(session.hit((start[0], 60.0, start[1]), (0.0, -1.0, 0.0)))
    ground = Ground.around(WORLD.size_blocks, start)
    x, _, z = session.goal.draft.start[:3]
    for east, south in ((-3.5, 0.0), (3.5, 0.0), (0.0, -3.5), (0.0, 3.5), (-20.5, 20.5), (20.5, -20.5)):
        hit = session.hit((x + east, 60.0, z + south), (0.0, -1.0, 0.0))
        assert hit.is_block
        assert hit.cell[::2] == (math.floor(x + east) % 64, math.floor(z + south) % 64)
        session.goal.add_object("cow", hit)
        # From close by, and from far outside: where the cow is drawn, it is.
        feet_3 = ground.scene(np.array(hit.cell) + (0.5, 1.0, 0.5)) / UNITS_PER_BLOCK
        for offset_3 in ((0.4, 12.0, 0.3), (-30.0, 400.0, 20.0)):
            eye_3 = feet_3 + offset_3
            met = session.hit(tuple(eye_3), tuple(feet_3 + (0.0, 0.7, 0.0) - eye_3), ground=ground)
            assert met.kind == "cow"
            assert met.cell == (hit.cell[0], hit.cell[1] + 1, hit.cell[2])
        session.goal.undo()


def test_what_water_hides_is_no_target_from_above_the_water(session):
    ground = session.hit((20.5, 60.0, 20.5), (0.0, -1.0, 0.0))
    x, y, z = ground.cell
    session.engine.state.terrain.block_EXZY[0, x, z, y + 1] = STATE_ID["water"]
    before = session.goal.draft
    hit = session.hit((20.5, 60.0, 20.5), (0.0, -1.0, 0.0))
    assert (hit.cell, hit.is_under_water, ground.is_under_water) == (ground.cell, True, False)
    with pytest.raises(ValueError, match="dive, or click above it"):
        session.goal.choose_target(hit)
    assert session.goal.draft == before
    dived = session.hit((20.5, y + 1.5, 20.5), (0.0, -1.0, 0.0))
    assert (dived.cell, dived.is_under_water) == (ground.cell, False)
