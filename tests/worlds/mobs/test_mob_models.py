"""Models and skins: what mobs, arrows and items look like."""

import numpy as np
import pytest

from worlds.items import ITEM_ID, ITEMS
from worlds.mobs.kinds import MOBS
from worlds.mobs.models import (
    ANATOMIES,
    ARROW_MODEL,
    ITEM_MODEL_START,
    NUM_MODELS,
    build_model_looks,
    model_texture_names,
)
from worlds.mobs.skins import mob_textures
from worlds.textures.atlas import texture_rows
from worlds.types import FACE_EAST, FACE_NORTH, FACE_SOUTH, FACE_WEST
from worlds.voxel.scene import JOINT_FIXED, JOINT_LEG_A, JOINT_LEG_B


@pytest.fixture(scope="module")
def rows():
    return texture_rows()


@pytest.fixture(scope="module")
def looks(rows):
    return build_model_looks(rows)


@pytest.fixture(scope="module")
def skins():
    return mob_textures()


def parts_of(looks, model):
    start = int(looks.part_start_K[model])
    return range(start, start + int(looks.part_count_K[model]))


def corners_of(looks, model):
    """Return the lowest and the highest corner of a model at rest, in blocks from the feet."""
    rows = list(parts_of(looks, model))
    low_P3 = looks.part_box_P6[rows, :3] + looks.part_pivot_P3[rows]
    high_P3 = looks.part_box_P6[rows, 3:] + looks.part_pivot_P3[rows]
    return low_P3.min(axis=0), high_P3.max(axis=0)


def test_models_are_all_kinds_then_the_arrow_then_all_items(looks):
    assert len(MOBS) == ARROW_MODEL == ITEM_MODEL_START - 1
    assert NUM_MODELS == ITEM_MODEL_START + len(ITEMS) == len(looks.part_start_K)
    empty = [ITEMS[model - ITEM_MODEL_START].name for model in np.flatnonzero(looks.part_count_K == 0)]
    assert empty == ["barrier"]
    assert looks.part_count_K.sum() == len(looks.part_box_P6)


def test_every_kind_has_a_body_and_no_body_is_without_a_kind():
    assert set(ANATOMIES) == {kind.name for kind in MOBS}


def test_every_skin_is_worn_and_every_worn_skin_is_drawn(skins, rows):
    worn = {name for name in model_texture_names() if name.startswith("mob/")}
    assert worn == set(skins)
    assert model_texture_names() <= set(rows)


def test_skins_are_opaque_pictures_of_16_px(skins):
    for name, image_HWC in skins.items():
        assert image_HWC.shape == (16, 16, 4), name
        assert image_HWC.dtype == np.uint8, name
        assert (image_HWC[..., 3] == 255).all(), name


def test_skins_have_the_same_bytes_every_time(skins):
    again = mob_textures()
    assert all(np.array_equal(skins[name], again[name]) for name in skins)


def test_a_texture_that_the_set_lacks_is_named(rows):
    poorer = {name: row for name, row in rows.items() if name != "mob/cow"}
    with pytest.raises(ValueError, match="'mob/cow'"):
        build_model_looks(poorer)


@pytest.mark.parametrize("kind", MOBS, ids=lambda kind: kind.name)
def test_a_body_stands_on_its_feet_and_fills_its_collision_box(looks, kind):
    low, high = corners_of(looks, MOBS.index(kind))
    assert low[1] == pytest.approx(0.0, abs=0.01)
    # Ears, horns, long necks and a mooshroom's mushrooms reach over the box, as in the game.
    assert 0.75 * kind.height < high[1] < 1.53 * kind.height
    assert max(high[0] - low[0], high[2] - low[2]) > 0.75 * kind.width
    # Bodies are centred between left and right, but for the bow in one hand.
    assert low[0] + high[0] == pytest.approx(0.0, abs=0.13)


@pytest.mark.parametrize("swing_rad", [-1.4, -0.7, 0.0, 0.7, 1.4])
def test_the_sphere_holds_every_part_in_every_pose(looks, swing_rad):
    for model in range(NUM_MODELS):
        centre = np.array([0.0, looks.middle_K[model], 0.0])
        for p in parts_of(looks, model):
            box = looks.part_box_P6[p].astype(float)
            corner_N3 = np.array(
                [[box[3 * i], box[3 * j + 1], box[3 * k + 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)]
            )
            joint = looks.part_joint_P[p]
            if joint != JOINT_FIXED:
                assert joint in (JOINT_LEG_A, JOINT_LEG_B)
                turn = swing_rad if joint == JOINT_LEG_A else -swing_rad
                cos, sin = np.cos(turn), np.sin(turn)
                corner_N3 = corner_N3 @ np.array([[1, 0, 0], [0, cos, sin], [0, -sin, cos]])
            distance_N = np.linalg.norm(corner_N3 + looks.part_pivot_P3[p] - centre, axis=1)
            assert distance_N.max() <= looks.radius_K[model] + 1e-4


def test_legs_hang_from_their_pivots(looks):
    is_leg_P = looks.part_joint_P != JOINT_FIXED
    assert is_leg_P.sum() > 4 * 10
    assert (looks.part_box_P6[is_leg_P, 1] < 0.0).all()
    assert (looks.part_pivot_P3[is_leg_P, 1] > 0.0).all()


def test_faces_look_ahead(looks, rows):
    """A mob looks along +z: the picture with the eyes is on a south face."""
    for name in ("mob/cow_head_front", "mob/creeper_front", "mob/pig_snout", "mob/zombie_head_front"):
        worn_PF = looks.part_texture_P6 == rows[name]
        assert worn_PF[:, FACE_SOUTH].any()
        assert not np.delete(worn_PF, FACE_SOUTH, axis=1).any()


def test_the_two_sides_of_a_head_mirror_each_other(looks, rows, skins):
    west, east = skins["mob/horse_head_west"], skins["mob/horse_head_east"]
    assert np.array_equal(west, east[:, ::-1])
    worn_PF = looks.part_texture_P6
    assert (worn_PF[:, FACE_WEST] == rows["mob/horse_head_west"]).any()
    assert (worn_PF[:, FACE_EAST] == rows["mob/horse_head_east"]).any()
    # The eye is in the front half: seen from the west, the front is at the right.
    eye_W = (west[..., :3].max(axis=2) < 40).any(axis=0)
    assert eye_W[8:].any()
    assert not eye_W[:8].any()


@pytest.mark.parametrize("kind", MOBS, ids=lambda kind: kind.name)
def test_eyes_stand_out_from_the_face(kind, skins):
    """The front of every head holds its own dark or bright spots: its contrast is well above that of bare fur."""
    fronts = [
        name
        for part in ANATOMIES[kind.name].parts
        for name in (part.textures[FACE_SOUTH], part.textures[FACE_WEST])
        if name.endswith(("_front", "_head_west"))
    ]
    contrast = max(float(np.ptp(skins[name][..., :3].mean(axis=2))) for name in fronts)
    assert contrast > 70.0


def test_no_two_kinds_look_alike(skins):
    looks_by_kind = set()
    for kind in MOBS:
        names = sorted({name for part in ANATOMIES[kind.name].parts for name in part.textures if name in skins})
        colors_N3 = np.stack([skins[name] for name in names])[..., :3].mean(axis=(1, 2))
        looks_by_kind.add((len(names), colors_N3.round(1).tobytes()))
    assert len(looks_by_kind) == len(MOBS)


def test_a_block_on_the_ground_is_a_cube_in_the_blocks_pictures(looks, rows):
    (part,) = parts_of(looks, ITEM_MODEL_START + ITEM_ID["oak_log"])
    assert np.allclose(looks.part_box_P6[part], (-0.5, 0.0, -0.5, 0.5, 1.0, 0.5))
    side, top = rows["oak_log"], rows["oak_log_top"]
    assert looks.part_texture_P6[part].tolist() == [side, side, top, top, side, side]


def test_a_shaped_block_on_the_ground_keeps_its_boxes(looks):
    low, high = corners_of(looks, ITEM_MODEL_START + ITEM_ID["stone_slab"])
    assert np.allclose(low, (-0.5, 0.0, -0.5))
    assert np.allclose(high, (0.5, 0.5, 0.5))
    assert len(parts_of(looks, ITEM_MODEL_START + ITEM_ID["oak_stairs"])) >= 2


def test_a_tool_on_the_ground_is_a_sheet_seen_from_both_sides(looks, rows):
    (part,) = parts_of(looks, ITEM_MODEL_START + ITEM_ID["iron_pickaxe"])
    row = rows["iron_pickaxe"]
    assert looks.part_texture_P6[part].tolist() == [-1, -1, -1, -1, row, row]
    assert looks.part_box_P6[part, 2] == looks.part_box_P6[part, 5]


def test_the_arrow_flies_tip_first(looks, rows):
    low, high = corners_of(looks, ARROW_MODEL)
    assert high[2] == 0.0
    assert low[2] < -0.5
    tips = [p for p in parts_of(looks, ARROW_MODEL) if looks.part_texture_P6[p, FACE_NORTH] == rows["mob/arrow_tip"]]
    assert looks.part_box_P6[tips[0], 5] == 0.0
