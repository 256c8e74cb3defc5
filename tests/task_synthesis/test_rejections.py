"""Claims about attempts that fail: every reason that the sources name can come up, and is counted."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import task_synthesis
from task_synthesis.placement import starts
from task_synthesis.synthesis_config import at_scale
from task_synthesis.synthesize import Synthesizer
from task_synthesis.views import goal_camera, viewpoints

_REASON = re.compile(r"(target|object|start|camera|mask|walk)_[a-z_]+|unreachable|detour")
_WHERE_ATTEMPTS_FAIL = ("synthesize", "layout", "starts", "goal_camera", "goal_check", "close_look", "hidden_walk")


def reasons_in_the_sources() -> set[str]:
    """All text constants that look like a reason, in the files that reject."""
    folder = Path(task_synthesis.__path__[0])
    found = set()
    for name in _WHERE_ATTEMPTS_FAIL:
        (path,) = folder.rglob(f"{name}.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="ascii"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _REASON.fullmatch(node.value):
                found.add(node.value)
    return found


def rejections(num_tasks: int = 16, **changes: object) -> Counter[str]:
    """What is counted while tasks of a config are made in worlds of 64 blocks."""
    small = {"side_blocks": 64, "bands": {"near": 1.0, "easy": 1.0}, "tasks_per_world": 8, "image_px": 64}
    # Without exact shares, which give up on what hardly ever succeeds; held-out worlds may be of any biome.
    config = at_scale(**(small | {"exact_shares": False} | changes))
    synthesizer = Synthesizer(config, split="held_out", seed=1, num_parallel=8, num_threads=1)
    assert len(synthesizer.run(num_tasks)) == num_tasks
    return synthesizer.rejections


@pytest.mark.slow
def test_every_reason_to_reject_an_attempt_is_reachable_and_counted(monkeypatch):
    counted = rejections(40, hidden_share=0.0)
    counted += rejections(goal_area=(0.0005, 0.003))  # next to nothing is small enough
    counted += rejections(goal_area=(0.05, 0.9))  # next to nothing is large enough
    counted += rejections(num_same_kind=(3, 4), num_other_kind=(6, 8), bands={"near": 1.0})  # crowded
    counted += rejections(max_near_share=0.0, biomes=("jungle",), goal_views={"human": 1.0})
    counted += rejections(least_mask_width=0.2)
    counted += rejections(min_hidden_walk=0.5, bands={"easy": 1.0})  # seen at the start, then lost
    counted += rejections(120, biomes=("mountains",), bands={"easy": 1.0}, hidden_share=1.0)  # cliffs
    # A single draw shows what many draws make rare.
    monkeypatch.setattr(goal_camera, "_CAMERA_DRAWS", 1)
    monkeypatch.setattr(starts, "_START_DRAWS", 1)
    counted += rejections(40, biomes=("jungle", "dark_forest"), goal_views={"third_person": 1.0})
    watery = {"biomes": ("beach", "swamp"), "bands": {"medium": 1.0}, "hidden_share": 1.0}
    counted += rejections(60, goal_views={"human": 1.0}, **watery)  # in the water nobody stands
    monkeypatch.setattr(viewpoints, "CAMERA_YAW_JITTER_DEG", 50.0)
    counted += rejections()
    monkeypatch.setattr(starts, "_MAX_DETOUR_FACTOR", 1.0)
    monkeypatch.setattr(starts, "_MAX_DETOUR_BLOCKS", 0.0)
    counted += rejections()
    assert len(reasons_in_the_sources()) >= 16
    assert set(counted) == reasons_in_the_sources()
