"""Claims about the actions that are kept of judged episodes."""

import dataclasses

import numpy as np
import pytest

from eval.episodes.action_archive import EpisodeActions, pack, read_unit
from worlds.types import BUTTONS


def _actions(num_decisions: int) -> EpisodeActions:
    rng = np.random.default_rng(num_decisions)
    return EpisodeActions(
        buttons_DB=rng.random((num_decisions, len(BUTTONS))) < 0.5,
        camera_deg_D2=rng.normal(size=(num_decisions, 2)).astype(np.float32),
        ticks_per_decision=4,
    )


@pytest.fixture
def unit(tmp_path):
    path = tmp_path / "rl.0000.npz"
    path.write_bytes(pack({"a" * 16: _actions(3), "b" * 16: _actions(5)}))
    return path


def test_episodes_come_back_as_they_were_packed(unit):
    read = read_unit(unit)
    assert list(read) == ["a" * 16, "b" * 16]
    for actions, num_decisions in zip(read.values(), (3, 5), strict=True):
        wanted = _actions(num_decisions)
        assert np.array_equal(actions.buttons_DB, wanted.buttons_DB)
        assert np.array_equal(actions.camera_deg_D2, wanted.camera_deg_D2)
        assert actions.ticks_per_decision == 4


def test_an_archive_with_any_byte_flipped_reads_or_is_called_damaged(unit):
    content = unit.read_bytes()
    refusals = []
    for place, byte in enumerate(content):
        unit.write_bytes(content[:place] + bytes([byte ^ 0x55]) + content[place + 1 :])
        try:
            read_unit(unit)
        except ValueError as error:
            refusals.append(str(error))
    assert len(refusals) > len(content) / 2
    for said in refusals:
        assert said.startswith(f"{unit}: no archive of actions (")
        assert said.endswith("; judge the checkpoint again")


def test_arrays_of_another_kind_are_no_archive_of_actions(unit):
    names = ("num_decisions_N", "buttons", "camera_deg", "task_id_N", "ticks_per_decision")
    np.savez_compressed(unit, **{name: np.array(["x"]) for name in names})
    with pytest.raises(ValueError, match="no archive of actions"):
        read_unit(unit)


def test_arrays_that_do_not_fit_together_are_refused(unit):
    with np.load(unit) as read:
        arrays = dict(read)
    for changed in (
        {"num_decisions_N": np.array([3, 4])},
        {"task_id_N": np.array(["a"])},
        {"camera_deg": np.ones((7, 2))},
    ):
        np.savez_compressed(unit, **(arrays | changed))
        with pytest.raises(ValueError, match="the arrays do not fit together; judge the checkpoint again"):
            read_unit(unit)


def test_decisions_of_a_unit_last_equally_long():
    longer = dataclasses.replace(_actions(5), ticks_per_decision=5)
    with pytest.raises(ValueError, match=r"decisions of \[4, 5\] ticks in one unit"):
        pack({"a" * 16: _actions(3), "b" * 16: longer})


def test_an_archive_that_is_missing_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"rl\.0000\.npz: no archive of actions .*; judge the checkpoint again"):
        read_unit(tmp_path / "rl.0000.npz")
