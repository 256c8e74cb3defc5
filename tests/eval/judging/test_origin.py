"""Claims about origin.json."""

import dataclasses
import json
import re

import pytest

from eval.judging.origin import read_origin, write_origin
from tests.eval.made_episodes import ORIGIN


def test_an_origin_comes_back_as_it_was_written(tmp_path):
    origin = dataclasses.replace(
        ORIGIN,
        hardware={"cpu": "a cpu", "num_cores": 2, "memory_gib": 7.5, "flags": ["avx2"]},
        training_wall_s={"training": 12.5},
        config={"seed": 0, "env": {"image_px": 32}, "initial_policy": None},
    )
    write_origin(origin, tmp_path)
    assert read_origin(tmp_path) == origin


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"config": 5}, "config must be an object, got int"),
        ({"hardware": []}, "hardware must be an object, got list"),
        ({"row_sources": None}, "row_sources must be an object, got NoneType"),
        ({"row_sources": {"rl": 1}}, "row_sources.rl must be str, got 1"),
        ({"row_wall_s": []}, "row_wall_s must be an object, got list"),
        ({"training_wall_s": {"a": "x"}}, "training_wall_s.a must be a finite float, got 'x'"),
        ({"suite": 3}, "suite must be str, got 3"),
        ({"num_worlds": "many"}, "num_worlds must be int, got 'many'"),
        ({"when": "now"}, "when is not a field"),
    ],
)
def test_a_field_of_another_type_is_named_with_file_and_fix(tmp_path, changes, said):
    path = tmp_path / "origin.json"
    path.write_text(json.dumps(dataclasses.asdict(ORIGIN) | changes))
    whole = f"{path}: damaged, not where an evaluation comes from: {said}"
    with pytest.raises(ValueError, match=f"^{re.escape(whole)}.*; repeat the command that wrote it$"):
        read_origin(tmp_path)


@pytest.mark.parametrize("text", ["", "5", "[]", "{}", '{"command": ', "\u00e9"])
def test_what_is_no_origin_at_all_is_one_sentence(tmp_path, text):
    path = tmp_path / "origin.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: damaged, .*; repeat the command that wrote it$"):
        read_origin(tmp_path)
