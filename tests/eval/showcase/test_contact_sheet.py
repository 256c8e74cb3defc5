"""The contact sheet: where it looks from, how it is laid out, and the whole of it."""

import math

import numpy as np
import pytest

from eval.showcase.closeup import inside_view, level_ground, look_at
from eval.showcase.contact_sheet import PANEL_PX, Panel, Section, compose
from eval.showcase.sample_pack import write_sample_pack
from eval.showcase.viewpoint import landscape_view, start_pose
from mcrl.cli import main
from worlds.blocks import BLOCK_ID
from worlds.spec import World, WorldSpec
from worlds.textures.procedural import build_textures
from worlds.textures.resource_pack import load_resource_pack
from worlds.types import Pose

SIDE = 64


def world_of(height_XZ: np.ndarray) -> World:
    """Return a world of grass up to the given levels."""
    level_Y = np.arange(64)
    block_XZY = np.where(level_Y <= height_XZ[..., None], BLOCK_ID["grass_block"], 0).astype(np.uint16)
    spec = WorldSpec(seed=0, size_blocks=(SIDE, 64, SIDE))
    return World(spec=spec, block_XZY=block_XZY, ground_XZ=height_XZ.astype(np.int16))


def rough_world() -> World:
    return world_of(np.random.default_rng(0).integers(10, 30, (SIDE, SIDE)))


def block_at(world: World, eye: Pose) -> int:
    return int(world.block_XZY[math.floor(eye.x) % SIDE, math.floor(eye.z) % SIDE, math.floor(eye.y)])


def test_the_start_is_on_the_ground_and_looks_where_it_can_see_far():
    height_XZ = np.full((SIDE, SIDE), 20)
    height_XZ[:, :30] = 40  # a cliff to the north of the middle
    start = start_pose(world_of(height_XZ))
    assert start.y == 21.0
    assert abs(start.x - 32) + abs(start.z - 32) < 12
    assert not 100 < start.yaw_deg < 260  # 180 looks north


def test_a_world_without_ground_to_stand_on_is_refused():
    with pytest.raises(ValueError, match="no place to stand on"):
        start_pose(world_of(np.full((SIDE, SIDE), 63)))


def test_a_landscape_is_seen_from_free_air_above_the_ground():
    world = rough_world()
    eye = landscape_view(world)
    assert block_at(world, eye) == 0
    assert eye.y > world.ground_XZ[int(eye.x) % SIDE, int(eye.z) % SIDE] + 3


def test_a_view_of_what_is_wanted_looks_at_it():
    world = world_of(np.full((SIDE, SIDE), 20))
    world.block_XZY[40:52, 8:20, 20] = BLOCK_ID["gold_block"]
    eye = landscape_view(world, wanted_kinds=(BLOCK_ID["gold_block"],))
    # The torus image of the gold's middle that is nearest to the eye.
    dx, dz = ((to - at + SIDE / 2) % SIDE - SIDE / 2 for to, at in ((46.0, eye.x), (14.0, eye.z)))
    wanted_deg = math.degrees(math.atan2(-dx, dz))
    assert abs((wanted_deg - eye.yaw_deg + 180.0) % 360.0 - 180.0) < 40.0


def test_level_ground_is_found_in_rough_land():
    world = rough_world()
    height_XZ = world.ground_XZ.copy()
    height_XZ[20:34, 40:52] = 18
    assert level_ground(world_of(height_XZ), width=14, depth=12) == (27, 19, 46)


def test_a_thing_is_looked_at_from_its_front_with_nothing_in_between():
    height_XZ = np.full((SIDE, SIDE), 20)
    height_XZ[30:35, 30:35] = 24  # the thing
    height_XZ[:, :26] = 50  # a cliff behind its back
    world = world_of(height_XZ)
    eye = look_at(world, (32.5, 21.0, 32.5), half_blocks=2.5, height_blocks=4.0, front_deg=180.0)
    assert block_at(world, eye) == 0
    assert eye.z > 35
    assert 0 < eye.pitch_deg < 60


def test_a_cave_is_seen_from_inside_along_its_length():
    world = world_of(np.full((SIDE, SIDE), 30))
    world.block_XZY[10:14, 5:45, 12:15] = 0
    eye, length_blocks = inside_view(world, 0, covered=True)
    assert block_at(world, eye) == 0
    assert eye.y < 27
    assert length_blocks > 20
    assert abs(math.sin(math.radians(eye.yaw_deg))) < 0.1  # along z


def test_the_sample_pack_is_taken_whole_by_the_loader(tmp_path):
    folder = write_sample_pack(tmp_path)
    pack = load_resource_pack(folder)
    own = build_textures()
    drawn = {path.stem for path in folder.rglob("*.png")}
    assert len(drawn) >= 15
    assert {name for name in own if not np.array_equal(own[name], pack.textures[name])} == drawn


def test_panels_are_laid_out_in_rows_under_their_headings():
    panels = [Panel(f"panel {i}", np.full((*PANEL_PX, 3), 10 * i, np.uint8)) for i in range(7)]
    sheet_HWC = compose([Section("one", panels), Section("two", panels[:1])])
    height_px, width_px = PANEL_PX
    assert sheet_HWC.shape[0] > 3 * height_px
    assert 5 * width_px < sheet_HWC.shape[1] < 6 * width_px
    shown = {int(value) for value in np.unique(sheet_HWC[:, 100, 0])}
    assert {0, 50} <= shown  # the first column holds panels 0 and 5


def test_a_sheet_that_is_no_picture_file_is_refused(capsys):
    assert main(["sheet", "--out", "sheet.gif"]) == 2
    assert "must end in .png or .jpg" in capsys.readouterr().err


@pytest.mark.slow
def test_the_whole_sheet_shows_every_biome_and_looks_different_everywhere(tmp_path, capsys):
    import cv2

    path = tmp_path / "sheet.png"
    assert main(["sheet", "--out", str(path)]) == 0
    assert "pictures" in capsys.readouterr().out
    assert cv2.imread(str(path)).std() > 30
