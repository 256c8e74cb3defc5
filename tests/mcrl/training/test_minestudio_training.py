"""The claim that a policy is trained through the real minestudio 1.1.6; its game is our engine, see test_minestudio."""

import contextlib
import json
import os
import signal
import time
from pathlib import Path

import pytest

from tests.mcrl.training.training_runs import ppo_rows, run_command, wait_for_iteration
from tests.worlds.adapters.minestudio_parts import launch_our_game, minestudio_python, processes_with

_LONGEST_S = 1500  # eight games and a Ray are started, on a machine that may be busy


def set_to(**options: object) -> list[str]:
    return [word for name, value in options.items() for word in (f"--{name.replace('__', '.')}", str(value))]


def launched_games(game: Path) -> dict[int, str]:
    """Return the command lines of the running games by process id, oldest first."""
    return {pid: command for pid, command in processes_with(game).items() if "malmo.launched" in command}


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(_LONGEST_S + 60)
def test_five_iterations_from_the_shipped_policy_survive_the_end_of_a_game(tmp_path, monkeypatch):
    minestudio_python()
    game = launch_our_game(tmp_path / "game", monkeypatch, lowest_y=32)
    monkeypatch.setattr("tests.mcrl.training.training_runs.LONGEST_WAIT_S", _LONGEST_S)
    run_dir = tmp_path / "run"
    skills = {f"tasks__skills__{name}": 0.0 for name in ("interact", "hunt", "archery")}
    bands = {f"tasks__bands__{name}": 0.0 for name in ("easy", "medium", "hard")}
    process = run_command(
        "train", "minecraft_finetune", "--no-report", "--wandb", "disabled",
        "--env.engine-options", f"folder={game}", "render_scale=1",
        *set_to(
            run_dir=run_dir, preset="small", pretrained_weights=None, initial_policy="policies/shipped/small",
            num_threads=1, env__backend="minestudio", env__image_px=64, env__action_repeat_ticks=4,
            tasks__bands__near=1.0, tasks__num_train_tasks=12, tasks__num_val_tasks=1, tasks__num_eval_tasks=1,
            **skills, **bands,
            ppo__num_iterations=5, ppo__fragments_per_batch=4, ppo__minibatch_sequences=4, ppo__fragment_steps=24,
            rollout__num_workers=2, rollout__envs_per_worker=2, rollout__worker_threads=1, rollout__learner_threads=1,
        ),
    )  # fmt: skip
    try:
        wait_for_iteration(process, run_dir, 1)
        games = list(launched_games(game))
        assert len(games) >= 4
        os.kill(games[-1], signal.SIGKILL)  # of a worker: those were started last
        while not launched_games(game).keys() - set(games):
            assert process.poll() is None, process.stdout.read()
            time.sleep(0.2)
        assert len(ppo_rows(run_dir)) < 5  # a new game for the worker, and not one for the judge at the end
        output, _ = process.communicate(timeout=_LONGEST_S)
        deadline_s = time.monotonic() + 30
        while launched_games(game) and time.monotonic() < deadline_s:
            time.sleep(0.2)
        assert not launched_games(game)  # none outlives the run
    finally:
        process.kill()
        for pid in processes_with(game):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    assert process.returncode == 0, output
    rows = ppo_rows(run_dir)
    assert [row["step"] for row in rows] == [1, 2, 3, 4, 5]
    assert rows[-1]["worker_restarts"] == 0  # the game was started again, not its worker
    state = json.loads((run_dir / "checkpoints" / "final" / "state.json").read_text())
    assert (state["iteration"], state["version"]) == (5, 5)
    sources = {json.loads(line)["world"]["source"] for line in (run_dir / "tasks_train.jsonl").open()}
    assert sources == {"minecraft:1.16.5"}
