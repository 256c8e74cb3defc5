"""Places, directions and colours on their way into the page."""

import numpy as np
import pytest

from eval.viewer.mesh_color import page_colors, page_lights
from eval.viewer.pointer import pixel_directions
from eval.viewer.scene_place import (
    UNITS_PER_BLOCK,
    Ground,
    blocks,
    camera_wxyz,
    direction_of,
    pose_of_camera,
    upright_wxyz,
)
from worlds.types import Pose


def _turned(wxyz, vector_3) -> np.ndarray:
    """Return a vector turned by a quaternion."""
    w, *xyz = wxyz
    cross_3 = np.cross(xyz, vector_3)
    return np.asarray(vector_3) + 2 * (w * cross_3 + np.cross(xyz, cross_3))


@pytest.mark.parametrize("yaw_deg", [0.0, 45.0, 90.0, 179.9, 180.0, 270.0, 359.0])
@pytest.mark.parametrize("pitch_deg", [-89.0, -30.0, 0.0, 60.0, 89.0])
def test_a_camera_of_the_page_looks_where_the_engines_eye_looks(yaw_deg, pitch_deg):
    pose = Pose(3.5, 40.25, 7.0, yaw_deg, pitch_deg)
    wxyz = camera_wxyz(pose)
    assert _turned(wxyz, (0, 0, 1)) == pytest.approx(direction_of(pose), abs=1e-9)
    # The page's x is to the right of the picture, its y down, as the renderer's columns and rows run.
    rays = pixel_directions(pose, np.array([0, 0, 99]), np.array([0, 99, 0]), size_px=(100, 100), fov_deg=70)
    assert _turned(wxyz, (1, 0, 0)) @ (rays[1] - rays[0]) > 0.5
    assert _turned(wxyz, (0, 1, 0)) @ (rays[2] - rays[0]) > 0.5
    assert pose_of_camera(np.array(pose[:3]) * UNITS_PER_BLOCK, np.array(wxyz)) == pytest.approx(pose, abs=1e-6)


def test_a_body_looks_along_its_yaw():
    for yaw_deg in (0.0, 90.0, 200.0):
        ahead_3 = direction_of(Pose(0, 0, 0, yaw_deg, 0))
        assert _turned(upright_wxyz(yaw_deg), (0, 0, 1)) == pytest.approx(ahead_3, abs=1e-9)
        assert _turned(upright_wxyz(yaw_deg), (0, 1, 0)) == pytest.approx((0, 1, 0), abs=1e-9)


def test_a_place_appears_in_the_copy_around_the_focus():
    ground = Ground.around((128, 64, 128), (2.0, 126.0))
    assert ground.corner == (-64, 64)  # of whole chunks
    for place in ((1.0, 5.0, 125.0), (127.0, 5.0, 1.0), (64.0, 5.0, 60.0), (-3.0, 5.0, 300.0)):
        x, y, z = blocks(ground.scene(np.array(place)))
        assert (x - place[0]) % 128 == pytest.approx(0, abs=1e-6) or (x - place[0]) % 128 == pytest.approx(128)
        assert y == pytest.approx(place[1])
        assert -64 <= x < 64
        assert 64 <= z < 192


def test_a_path_across_the_border_has_no_line_through_the_world():
    ground = Ground((128, 64, 128), (0, 0))
    path_N3 = np.array([(126.0, 4, 64), (127.5, 4, 64), (0.5, 4, 64), (2.0, 4, 64)])
    segments_S23 = ground.path(path_N3)
    assert len(segments_S23) == 2
    assert np.abs(segments_S23[:, 0] - segments_S23[:, 1]).max() < 2 * UNITS_PER_BLOCK


def _filmed(linear_N3: np.ndarray) -> np.ndarray:
    """Return what three.js' ACESFilmicToneMapping and sRGB output make of linear colours, 0 .. 255."""
    into = np.array([[0.59719, 0.35458, 0.04823], [0.07600, 0.90834, 0.01566], [0.02840, 0.13383, 0.83777]])
    out = np.array([[1.60475, -0.53108, -0.07367], [-0.10208, 1.10813, -0.00605], [-0.00327, -0.07276, 1.07602]])
    v = (linear_N3 / 0.6) @ into.T
    v = (v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081)
    seen = np.clip(v @ out.T, 0, 1)
    return 255 * np.where(seen <= 0.0031308, seen * 12.92, 1.055 * seen ** (1 / 2.4) - 0.055)


def test_colours_sent_are_seen_as_the_engine_draws_them():
    wanted_N3 = np.random.default_rng(0).integers(20, 200, (500, 3)).astype(np.uint8)
    sent_N3 = page_colors(wanted_N3) / 255.0
    linear_N3 = np.where(sent_N3 <= 0.04045, sent_N3 / 12.92, ((sent_N3 + 0.055) / 1.055) ** 2.4)
    # Colours of the world are rarely as pure as these: what the curve cannot reach is clipped.
    off_N = np.abs(_filmed(linear_N3) - wanted_N3).max(axis=1)
    assert np.median(off_N) < 1.5
    grey_N3 = np.repeat(np.arange(20, 150, 5)[:, None], 3, axis=1).astype(np.uint8)
    sent_N3 = page_colors(grey_N3) / 255.0
    linear_N3 = np.where(sent_N3 <= 0.04045, sent_N3 / 12.92, ((sent_N3 + 0.055) / 1.055) ** 2.4)
    for share in (1.0, 0.8, 0.6, 0.5):
        seen_N3 = _filmed(linear_N3 * page_lights(np.array(share)))
        assert np.abs(seen_N3 - share * grey_N3).max() < 9
