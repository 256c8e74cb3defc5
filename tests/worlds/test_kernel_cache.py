"""Claims about where compiled kernels are kept."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRINT_CACHE = "import os, worlds; print(os.environ.get('NUMBA_CACHE_DIR', 'unset'))"


def cache_of(home: Path, root: Path = ROOT, **extra: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {"XDG_CACHE_HOME": str(home), "PYTHONPATH": str(root)} | extra
    run = subprocess.run(
        [sys.executable, "-c", PRINT_CACHE], capture_output=True, text=True, check=True, cwd=root, env=environment
    )
    return run.stdout.strip()


def copy_of_kernels(folder: Path) -> Path:
    (folder / "worlds").mkdir(parents=True)
    for name in ("__init__.py", "kernel_cache.py"):
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
    for number in range(7):
        (root / "worlds" / "helper.py").write_text(f"X = {number}\n")
        newest = cache_of(tmp_path, root)
    kept = list((tmp_path / "mcrl" / "kernels").iterdir())
    assert len(kept) == 4
    assert Path(newest) in kept


def test_a_home_that_cannot_be_written_is_no_error(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert cache_of(blocked) == "unset"
