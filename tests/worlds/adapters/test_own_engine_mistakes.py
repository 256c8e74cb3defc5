"""The claim that who writes an engine is told where it went wrong."""

import pytest

from worlds.adapters.backend import ProcessBackend
from worlds.adapters.engine_choice import EngineChoice, EngineFaultError
from worlds.spec import Episode, WorldSpec
from worlds.types import Pose

ENGINE = """
import numpy as np
from worlds.adapters.engine import Engine

class Mistaken(Engine):
    def reset(self, episode):
        return self._place(episode)

    def _place(self, episode):
        return {MISTAKE}
"""
LINE = 1 + next(number for number, line in enumerate(ENGINE.splitlines()) if "{MISTAKE}" in line)


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        ("np.zeros(3) + np.zeros(4)", "ValueError: operands could not be broadcast"),
        ("episode['pose']", "KeyError: 'pose'"),
    ],
)
def test_a_mistake_is_told_with_its_kind_and_its_line_in_the_engines_file(tmp_path, mistake, sentence):
    file = tmp_path / "my_engine.py"
    file.write_text(ENGINE.replace("{MISTAKE}", mistake))
    backend = ProcessBackend(1, EngineChoice(engine=str(file), options={}), image_px=(16, 16), max_faults_in_row=1)
    episode = Episode(world=WorldSpec(seed=1, source="own:my_engine"), start=Pose(0.5, 64.0, 0.5, 0.0, 0.0))
    try:
        with pytest.raises(EngineFaultError) as told:
            backend.reset([0], [episode])
    finally:
        backend.close()
    assert sentence in str(told.value)
    assert f"(my_engine.py:{LINE})" in str(told.value)
