"""What tests of several files of this folder are given."""

import pytest

from mcrl.cli import main


@pytest.fixture(scope="session")
def task_dirs(tmp_path_factory):
    """Task folders of two splits, made by the command itself."""
    folders = {}
    for split in ("train", "held_out"):
        folders[split] = tmp_path_factory.mktemp(split)
        argv = ["synth", "-n", "6", "--out", str(folders[split]), "--split", split, "--size", "32", "--bands", "near"]
        assert main(argv) == 0
    return folders


@pytest.fixture
def lerobot():
    """The writer and the reader, where their libraries are."""
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'mcrl[data]'")
    from mcrl.demos import lerobot_reader, lerobot_writer

    return lerobot_writer, lerobot_reader
