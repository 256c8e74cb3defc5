"""Claims about where compiled kernels are kept."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRINT_CACHE = "import os, worlds; print(os.environ.get('NUMBA_CACHE_DIR', 'unset'))"


def cache_of(home: Path, root: Path = ROOT, *, before: str = "", **extra: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_CACHE")}
    environment |= {"XDG_CACHE_HOME": str(home), "PYTHONPATH": str(root)} | extra
    run = subprocess.run(
        [sys.executable, "-c", before + PRINT_CACHE],
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
        env=environment,
    )
    return run.stdout.strip()


def copy_of_kernels(folder: Path) -> Path:
    (folder / "worlds").mkdir(parents=True)
    for name in ("__init__.py", "cache_home.py", "kernel_cache.py"):
        (folder / "worlds" / name).write_bytes((ROOT / "worlds" / name).read_bytes())
    return folder


def test_other_sources_get_another_folder_and_the_same_sources_the_same(tmp_path):
    root = copy_of_kernels(tmp_path / "checkout")
    first = cache_of(tmp_path, root)
    assert cache_of(tmp_path, root) == first
    (root / "worlds" / "helper.py").write_text("X = 1\n")
    assert cache_of(tmp_path, root) != first


def test_a_folder_chosen_by_the_user_is_left_alone(tmp_path):
    assert cache_of(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "mine")) == str(tmp_path / "mine")


def test_old_folders_are_cleared_away(tmp_path):
    root = copy_of_kernels(tmp_path / "checkout")
    for number in range(80):
        (tmp_path / "mcrl" / "kernels" / f"old_{number}").mkdir(parents=True)
        os.utime(tmp_path / "mcrl" / "kernels" / f"old_{number}", (number, number))
    newest = cache_of(tmp_path, root)
    kept = {path.name for path in (tmp_path / "mcrl" / "kernels").iterdir()}
    assert kept == {f"old_{number}" for number in range(17, 80)} | {Path(newest).name}


def test_an_old_folder_may_go_while_it_is_looked_at(tmp_path):
    root = copy_of_kernels(tmp_path / "checkout")
    for number in range(80):
        (tmp_path / "mcrl" / "kernels" / f"old_{number}").mkdir(parents=True)
    # As when another process, which begins too, clears it away between the list of folders and their times.
    script = (
        "import pathlib; plain = pathlib.Path.is_dir\n"
        "def is_dir(path):\n"
        "    found = plain(path)\n"
        "    if path.name == 'old_7':\n"
        "        path.rmdir()\n"
        "    return found\n"
        "pathlib.Path.is_dir = is_dir\n"
    )
    cache_of(tmp_path, root, before=script)
    assert len(list((tmp_path / "mcrl" / "kernels").iterdir())) == 64


@pytest.fixture
def checkout(tmp_path):
    """Three packages: the engine, and two task files of which one imports the other."""
    root = copy_of_kernels(tmp_path / "checkout")
    (root / "worlds" / "engine.py").write_text("X = 1\n")
    (root / "task_synthesis").mkdir()
    for name, text in (
        ("__init__", ""),
        (
            "paths",
            "from task_synthesis import cells\nfrom task_synthesis import (\n  doors\n)\nfrom worlds.engine import X\n",
        ),
        ("cells", "X = 1\n"),
        ("doors", "X = 1\n"),
        ("lists", "X = 1\n"),
    ):
        (root / "task_synthesis" / f"{name}.py").write_text(text)
    return root


def folders_of(root: Path) -> dict[str, str]:
    """Return the folder of the kernels of each file, by the file's name."""
    code = (
        "import pathlib, sys, worlds.kernel_cache as cache;"
        "print(*(cache.folder_of(pathlib.Path(path)).name for path in sys.argv[1:]))"
    )
    names = ("worlds/engine.py", "task_synthesis/paths.py", "task_synthesis/lists.py")
    environment = os.environ | {
        "XDG_CACHE_HOME": str(root.parent),
        "PYTHONPATH": str(root),
        "NUMBA_CACHE_DIR": "unused",
    }
    run = subprocess.run(
        [sys.executable, "-c", code, *(str(root / name) for name in names)],
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
        env=environment,
    )
    return dict(zip(("engine", "paths", "lists"), run.stdout.split(), strict=True))


def test_a_change_of_the_engine_gives_every_kernel_another_folder(checkout):
    before = folders_of(checkout)
    (checkout / "worlds" / "other.py").write_text("X = 2\n")
    after = folders_of(checkout)
    assert all(before[name] != after[name] for name in before)


def test_an_adapter_may_change_and_no_kernel_is_compiled_again(checkout):
    before = folders_of(checkout)
    (checkout / "worlds" / "adapters").mkdir()
    (checkout / "worlds" / "adapters" / "other.py").write_text("X = 2\n")
    assert folders_of(checkout) == before


@pytest.mark.parametrize("imported", ["cells", "doors"])
def test_a_change_of_another_package_reaches_only_the_kernels_that_import_it(checkout, imported):
    before = folders_of(checkout)
    (checkout / "task_synthesis" / f"{imported}.py").write_text("X = 2\n")
    after = folders_of(checkout)
    assert before["paths"] != after["paths"]
    assert before["engine"] == after["engine"]
    assert before["lists"] == after["lists"]


def test_two_checkouts_of_the_same_sources_share_their_kernels(checkout, tmp_path):
    other = tmp_path / "elsewhere" / "checkout"
    shutil.copytree(checkout, other)
    assert folders_of(checkout) == folders_of(other)


@pytest.mark.slow
def test_kernels_are_compiled_into_the_folder_of_their_sources(tmp_path):
    code = "from task_synthesis.placement.reachability import feet_distance; print(feet_distance(0.0, 0, 0.0, 1, 2, 3))"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_CACHE")}
    subprocess.run(
        [sys.executable, "-c", code], check=True, cwd=ROOT, env=environment | {"XDG_CACHE_HOME": str(tmp_path)}
    )
    compiled = list((tmp_path / "mcrl" / "kernels").rglob("reachability.feet_distance*.nbc"))
    assert [path.parents[1].name.rpartition("_")[0] for path in compiled] == ["task_synthesis_reachability"]


def test_a_home_that_cannot_be_written_is_no_error(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert cache_of(blocked) == "unset"
    code = (
        "from task_synthesis.placement.reachability import feet_distance as kernel;"
        "print(type(kernel._cache._impl.locator).__name__)"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_CACHE")}
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=environment | {"XDG_CACHE_HOME": str(blocked)},
    )
    assert run.stdout.strip() == "InTreeCacheLocator"
