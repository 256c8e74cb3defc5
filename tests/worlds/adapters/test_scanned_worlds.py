"""Claims about scans of other engines' worlds that are kept on disk."""

import dataclasses
import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import tests.worlds.adapters.pillar_engine
from worlds.adapters.backend import ProcessBackend
from worlds.adapters.catalogue import choice_of
from worlds.adapters.engine import Scan
from worlds.adapters.engine_choice import EngineFaultError
from worlds.adapters.scanned_worlds import ScannedWorlds, scan_folder, world_of_scan
from worlds.blocks import STATE_ID
from worlds.spec import Episode, WorldSpec
from worlds.types import Pose

SPEC = WorldSpec(seed=1, size_blocks=(32, 64, 32))
NO_FOLDER = Path("/proc/nowhere")  # where nothing can be kept


def make_scan(spec: WorldSpec) -> Scan:
    size_x, size_y, size_z = spec.size_blocks
    index_XZY = np.zeros((size_x, size_z, size_y), np.uint16)
    index_XZY[:, :, : size_y // 2] = 1
    return Scan(["air", "stone"], index_XZY)


@pytest.fixture
def worlds(tmp_path):
    """Worlds of which one was scanned before and is kept, not in memory."""
    ScannedWorlds(make_scan, folder=tmp_path).get([SPEC])
    return ScannedWorlds(make_scan, folder=tmp_path)


def test_a_kept_scan_need_not_be_made_again(worlds):
    assert worlds.has(SPEC)


def test_a_damaged_scan_is_as_good_as_none_whichever_byte_it_is(worlds, tmp_path):
    (path,) = tmp_path.glob("*.npz")
    content = path.read_bytes()
    answers = set()
    for place, byte in enumerate(content):
        path.write_bytes(content[:place] + bytes([byte ^ 0x55]) + content[place + 1 :])
        answers.add(worlds.has(SPEC))
    assert answers == {True, False}  # a flipped date harms nothing
    path.write_bytes(content[: len(content) // 2])
    assert not worlds.has(SPEC)
    assert worlds.get([SPEC])[0].world.spec == SPEC
    assert path.read_bytes() != content[: len(content) // 2]


@pytest.mark.parametrize("dtype", ["float32", "bool", "int32"])
def test_a_kept_scan_of_other_numbers_is_as_good_as_none(worlds, tmp_path, dtype):
    (path,) = tmp_path.glob("*.npz")
    np.savez_compressed(path, names=np.array(["air", "stone"]), index_XZY=make_scan(SPEC).index_XZY.astype(dtype))
    assert not worlds.has(SPEC)
    assert worlds.get([SPEC])[0].world.spec == SPEC


def test_scans_of_another_version_of_an_engine_are_kept_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.touch()

    def install(name: str, version: str) -> Path:
        package = tmp_path / "lib" / "python3.9" / "site-packages" / f"{name}.dist-info"
        package.mkdir(parents=True, exist_ok=True)
        (package / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        return scan_folder(choice_of("minerl", str(python)))

    before = install("minerl", "0.4.4")
    assert install("numpy", "1.26.0") == before
    assert install("minerl", "1.0.2") != before
    assert install("minerl", "0.4.4") == before


def test_scans_of_another_luanti_are_kept_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("worlds.adapters.engines.luanti_files.PROGRAM_FOLDERS", str(tmp_path))
    program = tmp_path / "minetest"
    folders = [scan_folder(choice_of("luanti"))]
    for content in ("5.6", "5.6.1"):
        program.write_text(content)
        program.chmod(0o755)
        folders += [scan_folder(choice_of("luanti")), scan_folder(choice_of("luanti"))]
    assert len(set(folders)) == 3
    assert folders[1] == folders[2]


def test_scans_with_other_options_are_kept_elsewhere():
    folders = {scan_folder(choice_of("luanti", options=options)) for options in ((), ("seed=2",), ("seed=3",))}
    assert len(folders) == 3


def test_a_box_of_another_world_is_closed_where_ours_would_wrap_around_and_our_own_is_not():
    names = {source: world_of_scan(dataclasses.replace(SPEC, source=source), make_scan(SPEC)).block_XZY for source in (
        "own:flat", "generated"
    )}  # fmt: skip
    closed_XZY, wrapping_XZY = names["own:flat"], names["generated"]
    assert (closed_XZY[0] == STATE_ID["barrier"]).all()
    assert (closed_XZY[:, 0] == STATE_ID["barrier"]).all()
    assert (closed_XZY[1:, 1:, 0] == STATE_ID["bedrock"]).all()
    assert np.array_equal(closed_XZY[1:, 1:, 1:], wrapping_XZY[1:, 1:, 1:])
    assert set(np.unique(wrapping_XZY)) == {STATE_ID["air"], STATE_ID["stone"]}


def test_what_is_no_world_is_not_kept(tmp_path):
    def scan_strangely(spec: WorldSpec) -> Scan:
        return Scan(["air"], make_scan(spec).index_XZY)  # whose index 1 is no name's

    with pytest.raises(IndexError):
        ScannedWorlds(scan_strangely, folder=tmp_path).get([SPEC])
    assert not list(tmp_path.iterdir())


def test_what_neither_memory_nor_a_folder_keeps_is_scanned_by_the_thread_that_asks():
    threads = []

    def scan_here(spec: WorldSpec) -> Scan:
        threads.append(threading.current_thread())
        return make_scan(spec)

    worlds = ScannedWorlds(scan_here, folder=NO_FOLDER)
    worlds._max_bytes = 1
    specs = [dataclasses.replace(SPEC, seed=seed) for seed in (1, 2, 3, 1)]
    assert [prepared.world.spec for prepared in worlds.get(specs)] == specs
    assert threads == [threading.main_thread()] * 3


def test_a_world_is_scanned_also_by_an_engine_that_was_lost(monkeypatch):
    monkeypatch.setattr("worlds.adapters.backend.scan_folder", lambda choice: NO_FOLDER)
    choice = choice_of(tests.worlds.adapters.pillar_engine.__file__)
    backend = ProcessBackend(1, choice, size_blocks=SPEC.size_blocks, image_px=(16, 16))
    spec = dataclasses.replace(SPEC, source="own:pillars", origin_blocks=(0, 40, 0))
    try:
        backend._pool.lose(0)
        assert backend.scanned_world(spec).spec == spec
        for pid in backend._pool.process(0).pids:
            os.kill(pid, signal.SIGKILL)
        assert backend.scanned_world(spec).spec == spec  # known by now
        with pytest.raises(EngineFaultError, match="ended"):
            backend.scanned_world(dataclasses.replace(spec, seed=7))
        assert backend._pool.is_lost_E[0]
    finally:
        backend.close()


def test_envs_begin_in_worlds_that_no_folder_keeps(monkeypatch):
    monkeypatch.setattr("worlds.adapters.backend.scan_folder", lambda choice: NO_FOLDER)
    choice = choice_of(tests.worlds.adapters.pillar_engine.__file__)
    backend = ProcessBackend(2, choice, size_blocks=SPEC.size_blocks, image_px=(16, 16))
    backend._scanner.worlds._max_bytes = 1  # memory for one alone
    worlds = [dataclasses.replace(SPEC, seed=seed, source="own:pillars", origin_blocks=(0, 40, 0)) for seed in (1, 2)]
    try:
        backend.reset([0, 1], [Episode(world=world, start=Pose(16.5, 24.0, 16.5, 0.0, 30.0)) for world in worlds])
        assert not backend.observe().is_fault_E.any()
    finally:
        backend.close()
