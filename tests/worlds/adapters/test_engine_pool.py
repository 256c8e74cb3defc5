"""Claims about engines that are started again."""

import os
import sys
from pathlib import Path

import pytest

from worlds.adapters.engine_choice import EngineChoice, EngineFaultError, Limits
from worlds.adapters.engine_pool import EnginePool

ENGINE = str(Path(__file__).with_name("flat_engine.py"))


def test_an_engine_that_cannot_be_started_again_is_said_so_in_the_log(tmp_path, caplog):
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    choice = EngineChoice(engine=ENGINE, python=python)
    pool = EnginePool(1, choice, (16, 16), Limits(start_s=60, close_s=5), max_faults_in_row=5)
    try:
        os.kill(pool.process(0).pids[1], 9)
        pool.ask([0], lambda process, e: process.ask("observe"))
        list(pool.answers([0], lambda process, e: process.moment()))
        python.unlink()
        caplog.clear()
        pool.revive(0)
        assert pool.is_lost_E.tolist() == [True]
        (record,) = caplog.records
        assert "env 0: flat_engine: " in record.getMessage()
        assert "cannot be started (No such file or directory)" in record.getMessage()
    finally:
        pool.close()


def test_faults_with_a_step_between_them_are_not_in_a_row():
    def fail():
        raise EngineFaultError("flat_engine: failed")

    pool = EnginePool(1, EngineChoice(engine=ENGINE), (16, 16), Limits(start_s=60, close_s=5), max_faults_in_row=2)
    try:
        for _ in range(3):
            pool.attempt(0, fail)
            pool.revive(0)
            pool.note_steps()
        pool.attempt(0, fail)
        pool.note_steps()  # of other envs: this one is lost
        pool.revive(0)
        with pytest.raises(EngineFaultError, match="that was fault 2 in a row of env 0"):
            pool.attempt(0, fail)
    finally:
        pool.close()
