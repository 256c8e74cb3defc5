"""Claims about checkpoints that hold no environments or broken ones: the run says so, and loses nothing."""

import dataclasses
import json
import logging
import shutil
from pathlib import Path

import pytest

from mcrl import checkpoint
from mcrl.config import RolloutConfig, from_json, to_json
from mcrl.stages import ppo_stage
from mcrl.train import resume, train
from task_synthesis.playing.task_sampler import TaskSampler
from tests.mcrl.corridor_policy import CORRIDOR
from tests.mcrl.corridor_run import make_config
from tests.mcrl.training.interrupted_runs import (
    PARTS,
    StopAfter,
    contents,
    log_of,
    ppo,
    stopped_run,
    truncate,
)


def newest(run_dir: Path) -> Path:
    return checkpoint.newest(run_dir / "checkpoints")


def said(caplog) -> str:
    return " ".join(caplog.messages)


@pytest.mark.parametrize("name", ["play.json", "play.safetensors"])
def test_a_checkpoint_without_environments_resumes_with_fresh_episodes_and_says_so(tmp_path, name, caplog):
    caplog.set_level(logging.INFO)
    run_dir = stopped_run(tmp_path)
    (newest(run_dir) / name).unlink()
    if name == "play.safetensors":
        with pytest.raises(ValueError, match=r"play\.safetensors: missing.*delete play\.json there to go on with"):
            resume(run_dir, parts=PARTS)
        return
    assert resume(run_dir, parts=PARTS).exit_code == 0
    assert "holds no environments: they start fresh episodes" in said(caplog)
    assert [line["step"] for line in log_of(run_dir) if line["stage"] == "ppo"] == [1, 2, 3, 4, 5, 6]


def test_environments_of_a_cpu_are_left_where_the_engine_is_on_a_gpu_now(tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.INFO)
    run_dir = stopped_run(tmp_path)
    monkeypatch.setattr(ppo_stage, "is_engine_on_gpu", lambda config, device: True)
    assert resume(run_dir, parts=PARTS).exit_code == 0
    assert "holds environments of a CPU: those on the GPU start fresh episodes" in said(caplog)
    assert [line["step"] for line in log_of(run_dir) if line["stage"] == "ppo"] == [1, 2, 3, 4, 5, 6]


def test_a_resume_says_from_where_ppo_goes_on(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    run_dir = stopped_run(tmp_path)
    folder = newest(run_dir)
    lost = tmp_path / "lost"
    shutil.copytree(run_dir, lost)
    for path in (lost / "checkpoints").glob("iteration_*"):
        shutil.rmtree(path)
    resume(run_dir, parts=PARTS)
    number = int(folder.name.removeprefix("iteration_"))
    assert f"ppo goes on after iteration {number}, from {folder}" in said(caplog)
    caplog.clear()
    resume(lost, parts=PARTS)
    assert "ppo begins again: it was killed before its first checkpoint, which comes every" in said(caplog)


def test_exact_resume_off_keeps_no_environments_and_says_nothing(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    run_dir = stopped_run(tmp_path, rollout=RolloutConfig(envs_per_worker=8, exact_resume=False))
    assert sorted(path.name for path in newest(run_dir).iterdir()) == [
        "model.safetensors",
        "optimizer.safetensors",
        "state.json",
    ]
    assert resume(run_dir, parts=PARTS).exit_code == 0
    assert "holds no environments" not in said(caplog)


def test_a_sampler_that_cannot_say_where_it_is_leaves_the_environments_out(tmp_path):
    class InOrder(TaskSampler):
        is_of_ppo = True

        def __init__(self, tasks):
            super().__init__()
            self.tasks, self.next = tasks, 0

        def draw(self):
            self.next += 1
            return self.tasks[self.next % len(self.tasks)]

    parts = dataclasses.replace(CORRIDOR, make_sampler=lambda config, tasks, seed: InOrder(tasks))
    config = make_config(tmp_path, checkpoint_every=100)
    train(config, parts=StopAfter(config, 3, parts).parts())
    assert not (newest(tmp_path / "run") / "play.json").exists()
    assert resume(tmp_path / "run", parts=parts).exit_code == 0


def test_a_finished_run_whose_result_is_damaged_is_not_said_to_be_finished(tmp_path):
    result = train(make_config(tmp_path), parts=CORRIDOR)
    truncate(result.checkpoint, "model.safetensors", 0.5)
    with pytest.raises(ValueError, match=r"final/model\.safetensors: .*truncated.* delete this one and resume"):
        resume(tmp_path / "run", parts=CORRIDOR)
    shutil.rmtree(result.checkpoint)
    assert resume(tmp_path / "run", parts=CORRIDOR) == result
    checkpoint.load(result.checkpoint)


@pytest.mark.parametrize(("text", "said"), [("", "holds no task"), (None, "holds 3 of 8 tasks")])
def test_a_run_does_not_go_on_with_other_tasks_than_its_own(tmp_path, text, said):
    run_dir = stopped_run(tmp_path)
    path = run_dir / "tasks_train.jsonl"
    whole = path.read_bytes()
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:3]) if text is None else text.encode())
    with pytest.raises(ValueError, match=f"{said}.*delete the file, and a resume makes the run's tasks again"):
        resume(run_dir, parts=PARTS)
    path.unlink()
    assert resume(run_dir, parts=PARTS).exit_code == 0
    assert path.read_bytes() == whole


def flip(folder, name):
    path = folder / name
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def rewrite(folder, change):
    fields = json.loads((folder / "play.json").read_text())
    change(fields)
    (folder / "play.json").write_text(json.dumps(fields))


DAMAGE = {
    "tensors cut short": (lambda f: truncate(f, "play.safetensors", 0.7), "truncated or not a safetensors file"),
    "json cut short": (lambda f: truncate(f, "play.json", 0.5), "not JSON, or only a part of it"),
    "json empty": (lambda f: truncate(f, "play.json", 0), "not JSON"),
    "json nested": (lambda f: (f / "play.json").write_text("[" * 200_000), "not JSON, or only a part of it"),
    "no values": (lambda f: rewrite(f, lambda x: x.update(values=None)), "not what mcrl writes"),
    "one bit": (lambda f: flip(f, "play.safetensors"), "not the file that was written with play.json"),
    "foreign": (lambda f: (f / "play.json").write_text("{}"), "not what mcrl writes"),
    "newer": (lambda f: rewrite(f, lambda x: x.update(format_version=9)), "format 9, this build reads 1"),
    "no workers": (lambda f: rewrite(f, lambda x: x["values"].pop("worker_0")), "worker_0 is None"),
    "turn": (lambda f: rewrite(f, lambda x: x["values"].update(turn=1)), "with worker 1 next, this run has 1"),
    "books": (lambda f: rewrite(f, lambda x: x["values"]["books"].update(produced=3)), "do not balance"),
    "generator": (
        lambda f: rewrite(f, lambda x: x["values"]["worker_0"]["sampler"]["order"].update(rng={"state": 1})),
        "no state of a PCG64 generator",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_one_sentence_and_leaves_the_run_as_it_was(tmp_path, damage):
    run_dir = stopped_run(tmp_path)
    harm, sentence = DAMAGE[damage]
    harm(newest(run_dir))
    before = contents(run_dir)
    with pytest.raises(ValueError, match=sentence) as error:
        resume(run_dir, parts=PARTS)
    assert "\n" not in str(error.value)
    assert str(error.value).endswith(
        "delete play.json there to go on with fresh episodes, or go on from an earlier checkpoint"
    )
    assert contents(run_dir) == before


def test_another_number_of_envs_or_no_reference_is_one_sentence_too(tmp_path):
    run_dir = stopped_run(tmp_path)
    config = from_json((run_dir / "config.json").read_text(), where="x")
    before = contents(run_dir)
    fewer = dataclasses.replace(config, rollout=RolloutConfig(envs_per_worker=4))
    (run_dir / "config.json").write_text(to_json(fewer))
    with pytest.raises(ValueError, match="holds 8 envs, this run has 4"):
        resume(run_dir, parts=PARTS)
    (run_dir / "config.json").write_text(to_json(ppo(config, kl_to_reference=None)))
    with pytest.raises(ValueError, match="has a reference policy, and the other has none"):
        resume(run_dir, parts=PARTS)
    (run_dir / "config.json").write_text(to_json(config))
    assert contents(run_dir) == before


# --------------------------------------------------------------------------------------- the stages before PPO
