"""Real saves: every layout from 1.13 on gives the same world, every block has a stand-in, no broken file does harm."""

import gzip
import importlib
import os
import time
from pathlib import Path

import numpy as np
import pytest

from tests.worlds.anvil.anvil_files import DATA_VERSIONS, State, chunk, region, write_save
from worlds.anvil import Save, cut_out, open_save, read_world
from worlds.anvil.chunk import SavedState, parse_state
from worlds.anvil.mapping import map_state
from worlds.blocks import BLOCK_ID, STATE_ID
from worlds.spec import World, WorldSpec

REGION = importlib.import_module("worlds.anvil.region")
GOLDEN = Path(__file__).parents[2] / "golden" / "anvil"

# What tests/golden/anvil/write_regions.js put into the region files of that folder.
STATES: tuple[tuple[str, dict[str, str]], ...] = (
    ("air", {}), ("stone", {}), ("grass_block", {"snowy": "false"}), ("grass_block", {"snowy": "true"}), ("dirt", {}),
    ("oak_log", {"axis": "x"}), ("oak_log", {"axis": "y"}), ("oak_log", {"axis": "z"}), ("cobblestone", {}),
    ("oak_stairs", {"facing": "east", "half": "top", "shape": "straight", "waterlogged": "false"}),
    ("oak_stairs", {"facing": "north", "half": "bottom", "shape": "outer_left", "waterlogged": "true"}),
    ("stone_slab", {"type": "double", "waterlogged": "false"}), ("stone_slab", {"type": "top", "waterlogged": "false"}),
    ("oak_door", {"facing": "west", "half": "upper", "hinge": "right", "open": "true", "powered": "false"}),
    ("oak_fence", {"east": "true", "north": "false", "south": "true", "waterlogged": "false", "west": "false"}),
    ("furnace", {"facing": "south", "lit": "true"}), ("snow", {"layers": "3"}), ("gold_ore", {}),
    ("water", {"level": "0"}), ("blue_wool", {}),
    ("dark_oak_stairs", {"facing": "south", "half": "bottom", "shape": "straight", "waterlogged": "false"}),
)  # fmt: skip
LOW_LEVELS = {"1.13": 8, "1.16.5": 8, "1.18.2": -8, "1.21.4": -8}
NUM_LEVELS = 16


def saved(name: str, properties: dict[str, str] | None = None) -> SavedState:
    return SavedState(f"minecraft:{name}", tuple(sorted((properties or {}).items())))


def mapped(name: str, **properties: str) -> str:
    return map_state(saved(name, properties)).state


def spec_of(save: Save, origin: tuple[int, int, int], side: int = 32) -> WorldSpec:
    return WorldSpec(seed=0, source=save.source, origin_blocks=origin, size_blocks=(side, 64, side))


def hills(x: int, y: int, z: int) -> State:
    """Terrain at y -64 .. about 30 with a few shaped blocks on it."""
    height = 20 + (x // 5 + z // 7) % 6
    if y < height:
        return f"minecraft:{('stone', 'dirt', 'granite', 'andesite', 'deepslate')[(7 * x + 3 * y + 5 * z) % 5]}"
    if y == height:
        return "minecraft:grass_block", {"snowy": "false"}
    if y == height + 1 and x % 4 == 0:
        facing = ("north", "south", "east", "west")[z % 4]
        return "minecraft:oak_stairs", {"facing": facing, "half": "top", "shape": "straight", "waterlogged": "false"}
    if y == height + 1 and x % 4 == 1:
        return f"minecraft:{('white', 'red', 'lime', 'cyan', 'brown', 'orange', 'pink', 'blue')[z % 8]}_wool"
    return "minecraft:air"


def expected_id(state: State) -> int:
    name, properties = (state, {}) if isinstance(state, str) else state
    return STATE_ID[map_state(SavedState(name, tuple(sorted(properties.items())))).state]


@pytest.mark.parametrize("version", LOW_LEVELS)
def test_region_files_written_by_another_program_are_read_cell_by_cell(version, tmp_path):
    (tmp_path / "r.0.0.mca").write_bytes(gzip.decompress((GOLDEN / f"{version}.mca.gz").read_bytes()))
    save = open_save(tmp_path)
    low, above = LOW_LEVELS[version], 3
    block_XZY = read_world(save, spec_of(save, (0, low - above, 0))).block_XZY
    x, z, v = np.meshgrid(np.arange(32), np.arange(32), np.arange(NUM_LEVELS), indexing="ij")
    state_of = np.array([STATE_ID[map_state(saved(*state)).state] for state in STATES])
    expected_XZV = state_of[(7 * x + 13 * v + 29 * z + (x * z) % 5) % len(STATES)]
    np.testing.assert_array_equal(block_XZY[1:, 1:, above : above + NUM_LEVELS], expected_XZV[1:, 1:])
    assert (block_XZY[1:, 1:, above + NUM_LEVELS :] == 0).all()


@pytest.mark.parametrize(("version", "compression"), [("1.13", 1), ("1.16", 2), ("1.18", 3), ("1.21", 2)])
def test_a_cut_out_across_regions_holds_the_right_blocks(version, compression, tmp_path):
    ys = range(0, 3) if version in ("1.13", "1.16") else range(-2, 2)
    save = open_save(write_save(tmp_path, hills, version, chunks=range(-2, 2), ys=ys, compression=compression))
    origin = (-21, -20, -3)
    block_XZY = read_world(save, spec_of(save, origin)).block_XZY
    for x, y, z in np.random.default_rng(0).integers((1, 1, 1), (32, 64, 32), (3000, 3)):
        at = x + origin[0], y + origin[1], z + origin[2]
        state = hills(*at) if at[1] // 16 in ys else "minecraft:air"
        assert block_XZY[x, z, y] == expected_id(state), at


def test_the_border_is_barrier_and_the_floor_is_bedrock(tmp_path):
    save = open_save(write_save(tmp_path, hills, "1.16", chunks=range(2), ys=range(2)))
    world = read_world(save, spec_of(save, (0, 0, 0)))
    assert (world.block_XZY[0] == BLOCK_ID["barrier"]).all()
    assert (world.block_XZY[:, 0] == BLOCK_ID["barrier"]).all()
    assert (world.block_XZY[1:, 1:, 0] == BLOCK_ID["bedrock"]).all()
    assert world.block_XZY.dtype == np.uint16
    assert not world.block_XZY.flags.writeable


def test_the_ground_is_what_carries_trees_and_not_the_trees(tmp_path):
    def grove(x: int, y: int, z: int) -> State:
        if y == 10:
            return "minecraft:grass_block", {"snowy": "false"}
        if (x, z) == (5, 5) and y in (11, 12):
            return "minecraft:oak_log", {"axis": "y"}
        if y == 11 and z == 9:
            return f"minecraft:{('pumpkin', 'melon', 'mushroom_stem', 'red_mushroom_block')[x % 4]}"
        return "minecraft:oak_leaves" if (x, z) == (5, 5) and y == 13 else "minecraft:air"

    save = open_save(write_save(tmp_path, grove, "1.16", chunks=range(2), ys=range(1)))
    assert (read_world(save, spec_of(save, (0, 0, 0))).ground_XZ[1:, 1:] == 10).all()


def test_another_dimension_is_named_where_the_overworld_is_empty(tmp_path):
    write_save(tmp_path / "DIM-1", hills, "1.16", chunks=range(2), ys=range(2))
    with pytest.raises(ValueError, match=f"another dimension is named by its folder, {tmp_path / 'DIM-1'}$"):
        open_save(tmp_path)
    assert open_save(tmp_path / "DIM-1").num_chunks == 4


def test_a_save_is_named_by_all_its_bytes(tmp_path):
    write_save(tmp_path, hills, "1.16", chunks=range(-1, 1), ys=range(1))
    before = open_save(tmp_path)
    assert open_save(tmp_path / "region").sha256 == before.sha256
    path = tmp_path / "region" / "r.-1.0.mca"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    after = open_save(tmp_path)
    assert after.sha256 != before.sha256
    with pytest.raises(ValueError, match="open that save"):
        read_world(after, spec_of(before, (-16, 0, -16)))


def test_the_report_counts_every_cell_once_and_says_how(tmp_path):
    save = open_save(write_save(tmp_path, hills, "1.16", chunks=range(2), ys=range(3)))
    report = cut_out(save, spec_of(save, (0, 0, 0))).report
    assert sum(row.num_cells for row in report.rows) == 32 * 64 * 32
    how = {row.saved.removeprefix("minecraft:"): row.how for row in report.by_kind()}
    assert (how["granite"], how["deepslate"]) == ("same", "table")
    assert (report.min_data_version, report.max_data_version) == (2586, 2586)


# ---- mapping ----


def test_no_block_of_minecraft_1_13_to_1_21_is_unknown():
    names = (GOLDEN / "block_names.txt").read_text().split()
    assert len(names) > 1000
    assert [name for name in names if map_state(saved(name)).how == "unknown"] == []


def test_every_kind_of_the_engine_maps_to_itself():
    assert [text for text in STATE_ID if STATE_ID[mapped_text(text)] != STATE_ID[text]] == []


def mapped_text(text: str) -> str:
    """Map one of our own canonical strings as if a save had it."""
    name, _, inside = text.partition("[")
    pairs = dict(part.split("=") for part in inside.rstrip("]").split(",") if part)
    links = int(pairs.pop("links", 0))
    pairs |= {side: "true" for bit, side in enumerate(("north", "east", "south", "west")) if links >> bit & 1}
    return mapped(name, **pairs)


@pytest.mark.parametrize(
    ("name", "properties", "expected"),
    [
        ("grass_block", {"snowy": "true"}, "snowy_grass_block"),
        ("podzol", {"snowy": "true"}, "snowy_grass_block"),
        ("stone_button", {"face": "floor", "facing": "east"}, "stone_button[facing=up,powered=false]"),
        ("lever", {"face": "wall", "facing": "east", "powered": "true"}, "lever[facing=east,powered=true]"),
        ("cobblestone_wall", {"north": "low", "east": "none", "south": "tall"}, "nether_brick_fence[links=5]"),
        ("crimson_stem", {"axis": "x"}, "acacia_log[axis=x]"),
        ("waxed_oxidized_cut_copper_stairs", {"facing": "west", "half": "top"}, "brick_stairs[facing=west,half=top]"),
        ("deepslate_diamond_ore", {}, "diamond_ore"),
        ("red_sandstone_slab", {"type": "top"}, "sandstone_slab[type=top]"),
        ("light_blue_stained_glass", {}, "blue_stained_glass"),
        ("tube_coral", {"waterlogged": "true"}, "water"),
        ("tube_coral", {"waterlogged": "false"}, "air"),
    ],
)  # fmt: skip
def test_a_block_that_the_engine_lacks_becomes_the_nearest_one(name, properties, expected):
    assert STATE_ID[mapped(name, **properties)] == STATE_ID[expected]


def test_a_block_of_a_mod_is_stone_and_reported_as_unknown():
    assert map_state(SavedState("mod:frobnicator", (("glow", "7"),))) == ("stone", "unknown")


def test_a_property_value_that_the_engine_lacks_gives_the_default():
    assert STATE_ID[mapped("oak_log", axis="sideways")] == BLOCK_ID["oak_log"]


# ---- refusals ----


def one_region(folder: Path, content: bytes) -> Path:
    (folder / "r.0.0.mca").write_bytes(content)
    return folder


def read_corner(folder: Path) -> World:
    save = open_save(folder)
    return read_world(save, spec_of(save, (0, 0, 0)))


@pytest.fixture(scope="module")
def good_chunk() -> bytes:
    return chunk(hills, 0, 0, "1.16", ys=range(2))


def test_a_missing_folder_and_one_without_a_world_are_named(tmp_path):
    with pytest.raises(ValueError, match="no such folder"):
        open_save(tmp_path / "none")
    with pytest.raises(ValueError, match="holds no region files"):
        open_save(tmp_path)


def test_what_is_no_file_is_no_region(tmp_path, good_chunk):
    one_region(tmp_path, region({(0, 0): good_chunk}))
    os.mkfifo(tmp_path / "r.0.1.mca")
    (tmp_path / "r.1.0.mca").mkdir()
    assert len(open_save(tmp_path).regions) == 1


def test_ungenerated_ground_is_named_with_the_bounds(tmp_path, good_chunk):
    one_region(tmp_path, region({(0, 0): good_chunk}))
    with pytest.raises(ValueError, match=r"chunk \(0, 1\) was never generated.*inside \(0, 0, 16, 16\)"):
        read_corner(tmp_path)


@pytest.mark.parametrize("y", [5000, -5000])
def test_a_cut_out_above_or_below_the_save_is_refused_with_its_levels(y, tmp_path):
    save = open_save(write_save(tmp_path, hills, "1.18", chunks=range(2), ys=range(-1, 3)))
    with pytest.raises(ValueError, match=rf"nothing lies at levels {y} \.\. {y + 63} .* blocks are at -16 \.\. 47;"):
        cut_out(save, spec_of(save, (0, y, 0)))
    assert cut_out(save, spec_of(save, (0, 47, 0))).world.block_XZY.any()


def test_a_save_from_before_1_13_is_refused(tmp_path, monkeypatch):
    monkeypatch.setitem(DATA_VERSIONS, "1.13", 1343)
    one_region(tmp_path, region({(0, 0): chunk(hills, 0, 0, "1.13", ys=range(1))}))
    with pytest.raises(ValueError, match="before Minecraft 1.13"):
        read_corner(tmp_path)


def test_lz4_is_refused_with_the_setting_to_change(tmp_path, good_chunk):
    content = bytearray(region({(0, 0): good_chunk}))
    content[8192 + 4] = 4
    one_region(tmp_path, bytes(content))
    with pytest.raises(ValueError, match="region-file-compression=deflate"):
        read_corner(tmp_path)


def test_a_chunk_too_big_for_its_region_is_read_from_its_own_file(tmp_path, monkeypatch):
    def read() -> np.ndarray:
        save = open_save(tmp_path)
        return read_world(save, spec_of(save, (512, 0, -512))).block_XZY

    path = tmp_path / "r.1.-1.mca"
    chunks = {(x, z): chunk(hills, 32 + x, z - 32, "1.16", ys=range(2)) for x in range(2) for z in range(2)}
    path.write_bytes(region(chunks))
    inside, content = read(), bytearray(path.read_bytes())
    length = int.from_bytes(content[8192:8196], "big")
    (tmp_path / "c.32.-32.mcc").write_bytes(content[8192 + 5 : 8192 + 4 + length])
    content[8192:8197] = b"\0\0\0\1\x82"
    path.write_bytes(content)
    np.testing.assert_array_equal(read(), inside)
    monkeypatch.setattr(REGION, "_MAX_STORED_BYTES", length - 2)
    with pytest.raises(ValueError, match=rf"c\.32\.-32\.mcc: holds more than {length - 2} bytes"):
        read()


def test_a_palette_entry_is_read_with_its_properties_sorted():
    raw = b"\x08\0\x04Name\0\x05a:log\x0a\0\x0aProperties\x08\0\x01z\0\x011\x08\0\x01a\0\x012\0\0"
    assert str(parse_state(raw, "here")) == "a:log[a=2,z=1]"


def test_a_cut_out_of_128_blocks_takes_less_than_a_second(tmp_path):
    heavy = chunk(hills, 0, 0, "1.18", ys=range(-4, 20))
    one_region(tmp_path, region({(x, z): heavy for x in range(8) for z in range(8)}))
    save = open_save(tmp_path)
    read_world(save, spec_of(save, (0, 0, 0)))  # compiles the reader
    # The best of three: the machine may be busy.
    times_s = []
    for _ in range(3):
        begin_s = time.perf_counter()
        read_world(save, spec_of(save, (0, -40, 0), side=128))
        times_s.append(time.perf_counter() - begin_s)
    assert min(times_s) < 1.0
