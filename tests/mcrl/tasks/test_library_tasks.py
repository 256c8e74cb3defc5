"""Claims about training on a library: its tasks and no others are played; one that does not fit is refused early."""

import dataclasses
import re
from pathlib import Path

import pytest

from mcrl.assembly import PRODUCT
from mcrl.config import TrainConfig
from mcrl.recipes import RECIPES
from mcrl.tasks.library_tasks import check_libraries
from mcrl.train import train
from task_synthesis.libraries.library import load_tasks, read_lines
from task_synthesis.libraries.library_build import build_library
from task_synthesis.libraries.library_plan import LibraryPlan
from task_synthesis.synthesis_config import SynthesisConfig

SYNTHESIS = SynthesisConfig(bands={"near": 1.0}, side_blocks=32)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory) -> dict[str, Path]:
    """A library of each split; the train one is sharded."""
    folders = {}
    for split in ("train", "val"):
        folders[split] = tmp_path_factory.mktemp(split)
        plan = LibraryPlan(num_tasks=24, split=split, seed=5, config=SYNTHESIS, tasks_per_shard=12)
        build_library(folders[split], plan)
    return folders


def config_with(**tasks: object) -> TrainConfig:
    config = RECIPES["smoke"]()
    return dataclasses.replace(config, tasks=dataclasses.replace(config.tasks, **tasks))


def made(config: TrainConfig, split: str, num_tasks: int) -> list[str]:
    return [task.task_id for task in PRODUCT.make_tasks(config, split, num_tasks, lambda num_done: None)]


def test_all_train_tasks_of_a_library_are_played_whatever_number_was_asked_for(libraries):
    config = config_with(library=str(libraries["train"]))
    assert made(config, "train", 3) == [task.task_id for task in load_tasks(libraries["train"], split="train")]


def test_val_tasks_are_a_draw_that_stays_the_same(libraries):
    config = config_with(val_library=str(libraries["val"]))
    drawn = made(config, "val", 10)
    assert len(set(drawn)) == 10
    assert set(drawn) < {task.task_id for task in load_tasks(libraries["val"], split="val")}
    assert made(config, "val", 10) == drawn
    assert made(dataclasses.replace(config, seed=1), "val", 10) != drawn


def test_what_has_no_library_is_synthesised(libraries):
    config = config_with(library=str(libraries["train"]))
    assert made(config, "val", 4) == made(config_with(), "val", 4)


@pytest.mark.parametrize(
    ("split", "settings", "said"),
    [
        ("val", {}, "is in split 'val', but this is a 'train' set"),
        ("train", {"side_blocks": 64}, "are 32 blocks wide, the run's are 64; give --tasks.side-blocks 32"),
        (None, {}, "no library or file of tasks there; make some with `mcrl synth"),
    ],
)
def test_a_library_that_does_not_fit_is_refused_before_there_is_a_run(libraries, tmp_path, split, settings, said):
    folder = libraries[split] if split else tmp_path / "nowhere"
    config = dataclasses.replace(config_with(library=str(folder), **settings), run_dir=str(tmp_path / "run"))
    with pytest.raises(ValueError, match=re.escape(said)):
        train(config)
    assert not (tmp_path / "run").exists()


def test_a_task_of_another_size_in_the_middle_of_a_library_is_refused(libraries, tmp_path):
    plan = LibraryPlan(
        num_tasks=4, split="train", seed=5, config=dataclasses.replace(SYNTHESIS, side_blocks=64), tasks_per_shard=4
    )
    build_library(tmp_path / "wide", plan)
    lines = [(libraries["train"], 2), (tmp_path / "wide", 2)]
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text("".join(line + "\n" for folder, num in lines for line in _first_lines(folder, num)))
    config = config_with(library=str(mixed))
    check_libraries(config)  # the first one fits
    with pytest.raises(ValueError, match="64 blocks wide"):
        made(config, "train", 4)


def _first_lines(folder: Path, num: int) -> list[str]:
    return [line for _, (_, line) in zip(range(num), read_lines(folder), strict=False)]


@pytest.mark.slow
def test_a_run_plays_its_library_and_keeps_its_own_copy(libraries, tmp_path):
    config = config_with(library=str(libraries["train"]), val_library=str(libraries["val"]), num_val_tasks=8)
    result = train(dataclasses.replace(config, run_dir=str(tmp_path / "run")))
    assert result.exit_code == 0
    kept = load_tasks(tmp_path / "run" / "tasks_train.jsonl", split="train")
    assert kept == load_tasks(libraries["train"], split="train")
    assert len(load_tasks(tmp_path / "run" / "tasks_val.jsonl", split="val")) == 8
