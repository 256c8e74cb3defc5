import dataclasses
import signal

import numpy as np
import pytest
import torch

from mcrl import checkpoint
from mcrl.config import EnvConfig, PPOConfig, RolloutConfig, from_json
from mcrl.run_folder import sibling_rows
from mcrl.telemetry.metrics import read_metrics
from mcrl.train import resume, train
from tests.mcrl.corridor_policy import CORRIDOR, make_tasks
from tests.mcrl.corridor_run import ROLLOUT, TRAIN_DEMOS, StopIn, make_config, weights


def test_a_run_leaves_everything_it_promises(tmp_path):
    config = make_config(tmp_path)
    result = train(config, parts=CORRIDOR)
    assert result.exit_code == 0
    assert result.checkpoint == tmp_path / "run" / "checkpoints" / "final"
    assert from_json((tmp_path / "run" / "config.json").read_text(), where="x") == config
    names = sorted(path.name for path in (tmp_path / "run" / "checkpoints").iterdir())
    assert names == ["final", "imitation", "iteration_000004", "iteration_000006"]
    state = checkpoint.load_state(result.checkpoint)
    assert (state.stage, state.iteration, state.version, state.preset) == ("ppo", 6, 6, config.preset)
    lines = read_metrics(tmp_path / "run" / "metrics.jsonl")
    assert [line["step"] for line in lines if line["stage"] == "ppo"] == [1, 2, 3, 4, 5, 6]
    assert [line["stage"] for line in lines if line["stage"] == "val"] == ["val", "val"]


def test_a_run_whose_tasks_cannot_be_made_leaves_its_folder_to_the_mended_command(tmp_path):
    config = make_config(tmp_path)

    def refuse_val(config, split, num_tasks, on_progress):
        if split == "val":
            raise ValueError("no room for tasks")
        return make_tasks(config, split, num_tasks, on_progress)

    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine")
    (tmp_path / "run" / "commands.jsonl").write_text("")
    with pytest.raises(ValueError, match="no room for tasks"):
        train(config, parts=dataclasses.replace(CORRIDOR, make_tasks=refuse_val), command="mcrl train x")
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"lock", "notes.txt", "commands.jsonl"}
    assert train(config, parts=CORRIDOR).exit_code == 0


def test_a_checkpoint_says_the_precision_that_was_asked_for_and_who_plays_it_decides_anew(tmp_path):
    beside = RolloutConfig(placement="ray", num_workers=1, envs_per_worker=4)
    config = make_config(tmp_path, ppo=PPOConfig(num_iterations=0), rollout=beside, precision="auto")
    result = train(config, parts=CORRIDOR)
    assert checkpoint.load_state(result.checkpoint).config["precision"] == "auto"


def test_two_runs_with_one_seed_give_the_same_weights(tmp_path):
    one = train(make_config(tmp_path / "a"), parts=CORRIDOR)
    two = train(make_config(tmp_path / "b"), parts=CORRIDOR)
    for name, tensor in weights(one.checkpoint).items():
        assert torch.equal(tensor, weights(two.checkpoint)[name])


@pytest.mark.parametrize(("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_saves_itself_and_a_resume_finishes_it(tmp_path, number, exit_code):
    stopper = StopIn(ROLLOUT, num_tasks=20, number=number)
    parts = dataclasses.replace(CORRIDOR, make_env=stopper.make_env)
    stopped = train(make_config(tmp_path), parts=parts)
    assert stopped.exit_code == exit_code
    state = checkpoint.load_state(stopped.checkpoint)
    assert state.stage == "ppo"
    assert 0 < state.iteration < 6
    imitation = weights(tmp_path / "run" / "checkpoints" / "imitation")

    finished = resume(tmp_path / "run", parts=CORRIDOR)
    assert finished.exit_code == 0
    assert checkpoint.load_state(finished.checkpoint).iteration == 6
    lines = read_metrics(tmp_path / "run" / "metrics.jsonl")
    assert [line["step"] for line in lines if line["stage"] == "ppo"] == [1, 2, 3, 4, 5, 6]
    again = weights(tmp_path / "run" / "checkpoints" / "imitation")
    assert all(torch.equal(imitation[name], again[name]) for name in imitation)
    marks = {mark[2] for mark in checkpoint.load_state(finished.checkpoint).high_water_marks}
    assert marks == {5}


def test_what_the_learner_adapts_survives_a_stop(tmp_path):
    config = make_config(tmp_path)
    ppo = dataclasses.replace(config.ppo, loss="vtrace", kl_target=1e-9, value_normalisation=True)
    stopper = StopIn(ROLLOUT, num_tasks=40)
    stopped = train(
        dataclasses.replace(config, ppo=ppo), parts=dataclasses.replace(CORRIDOR, make_env=stopper.make_env)
    )
    state = checkpoint.load_state(stopped.checkpoint)
    assert 1 < state.iteration < 6
    assert state.learner["kl_coef"] > ppo.kl_to_reference
    assert any(name.startswith("value_scale/approach/") for name in state.learner)
    resume(tmp_path / "run", parts=CORRIDOR)
    lines = read_metrics(tmp_path / "run" / "metrics.jsonl")
    coefficients = [line["kl_coef"] for line in lines if line["stage"] == "ppo"]
    # It rests in the warm-up; once the policy moves, the KL is far above the target and each iteration adds 2 %.
    growth = [after / before for before, after in zip(coefficients, coefficients[1:], strict=False)]
    assert growth[2:] == pytest.approx([1.02] * 3)


def test_a_run_stopped_in_imitation_begins_the_stage_again(tmp_path):
    stopper = StopIn(TRAIN_DEMOS, num_tasks=12)
    stopped = train(make_config(tmp_path), parts=dataclasses.replace(CORRIDOR, make_env=stopper.make_env))
    assert (stopped.exit_code, stopped.checkpoint) == (130, None)
    assert resume(tmp_path / "run", parts=CORRIDOR).exit_code == 0


def test_resuming_a_finished_run_changes_nothing(tmp_path):
    result = train(make_config(tmp_path), parts=CORRIDOR)
    before = (tmp_path / "run" / "metrics.jsonl").read_bytes()
    assert resume(tmp_path / "run", parts=CORRIDOR) == result
    assert (tmp_path / "run" / "metrics.jsonl").read_bytes() == before


def test_a_resume_reads_the_tasks_and_does_not_make_them_again(tmp_path):
    train(make_config(tmp_path, ppo=PPOConfig(num_iterations=0)), parts=CORRIDOR)

    def refuse(config, split, num_tasks, on_progress):
        raise AssertionError("made again")

    (tmp_path / "run" / "checkpoints" / "final").rename(tmp_path / "elsewhere")
    resume(tmp_path / "run", parts=dataclasses.replace(CORRIDOR, make_tasks=refuse))


def test_without_ppo_the_clone_is_the_result(tmp_path):
    result = train(make_config(tmp_path, ppo=PPOConfig(num_iterations=0)), parts=CORRIDOR)
    imitation = weights(tmp_path / "run" / "checkpoints" / "imitation")
    assert all(torch.equal(tensor, imitation[name]) for name, tensor in weights(result.checkpoint).items())
    assert checkpoint.load_state(result.checkpoint).stage == "imitation"


def without_kl(config, **changes):
    return dataclasses.replace(config.ppo, kl_to_reference=None, **changes)


def test_a_run_from_a_checkpoint_skips_imitation_and_ends_as_the_run_that_made_it(tmp_path):
    whole = train(make_config(tmp_path / "a"), parts=CORRIDOR)
    clone = tmp_path / "a" / "run" / "checkpoints" / "imitation"
    config = make_config(tmp_path / "b", initial_policy=str(clone))
    # The first env is that of the success check: no demonstrations are recorded.
    stopper = StopIn(1, num_tasks=20)
    stopped = train(config, parts=dataclasses.replace(CORRIDOR, make_env=stopper.make_env))
    assert stopped.exit_code == 130
    kept = weights(tmp_path / "b" / "run" / "checkpoints" / "imitation")
    assert all(torch.equal(tensor, kept[name]) for name, tensor in weights(clone).items())
    # The copy is all that a resume needs.
    clone.rename(tmp_path / "elsewhere")
    finished = resume(tmp_path / "b" / "run", parts=CORRIDOR)
    assert list(sibling_rows(finished.checkpoint, "ppo")) == ["start", "rl"]
    assert checkpoint.load_state(finished.checkpoint).iteration == 6

    (tmp_path / "elsewhere").rename(clone)
    unstopped = train(dataclasses.replace(config, run_dir=str(tmp_path / "c")), parts=CORRIDOR)
    expected = weights(whole.checkpoint)
    assert all(torch.equal(tensor, expected[name]) for name, tensor in weights(unstopped.checkpoint).items())


def test_a_checkpoint_that_does_not_fit_is_refused_before_anything_is_written(tmp_path):
    train(make_config(tmp_path / "a", ppo=PPOConfig(num_iterations=0)), parts=CORRIDOR)
    clone = tmp_path / "a" / "run" / "checkpoints" / "imitation"
    wide = make_config(tmp_path / "b", initial_policy=str(clone), env=EnvConfig(image_px=24))
    with pytest.raises(ValueError, match=r"its env.image_px is 16, that of this run 24; give --env.image-px 16"):
        train(wide, parts=CORRIDOR)
    large = make_config(tmp_path / "b", initial_policy=str(clone), preset="base")
    with pytest.raises(ValueError, match="its preset is small, that of this run base; give --preset small"):
        train(large, parts=CORRIDOR)
    absent = make_config(tmp_path / "b", initial_policy=str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match="nothing: no such checkpoint folder"):
        train(absent, parts=CORRIDOR)
    assert not (tmp_path / "b").exists()


def test_a_loss_without_a_branch_is_refused_before_there_is_a_run(tmp_path):
    config = make_config(tmp_path)
    object.__setattr__(config.ppo, "loss", "spo")  # as if its name stood in `Loss`
    with pytest.raises(ValueError, match="ppo.loss spo has a name and no branch"):
        train(config, parts=CORRIDOR)
    assert not (tmp_path / "run").exists()


def test_ppo_without_a_first_stage_starts_from_the_first_weights(tmp_path):
    config = make_config(tmp_path)
    scratch = dataclasses.replace(
        config, imitation=dataclasses.replace(config.imitation, num_updates=0), ppo=without_kl(config, num_iterations=1)
    )
    result = train(scratch, parts=CORRIDOR)
    names = sorted(path.name for path in (tmp_path / "run" / "checkpoints").iterdir())
    assert names == ["final", "iteration_000001"]
    stages = [line["stage"] for line in read_metrics(tmp_path / "run" / "metrics.jsonl")]
    assert stages == ["ppo", "val"]
    # One iteration of value warm-up leaves what acts as it was made.
    first = CORRIDOR.make_policy(scratch).state_dict()
    same = [torch.equal(tensor, first[name]) for name, tensor in weights(result.checkpoint).items()]
    assert sum(same) > len(same) / 2


def test_a_run_folder_that_is_taken_is_refused(tmp_path):
    train(make_config(tmp_path, ppo=PPOConfig(num_iterations=0)), parts=CORRIDOR)
    with pytest.raises(ValueError, match="--resume"):
        train(make_config(tmp_path), parts=CORRIDOR)


def test_a_folder_without_a_run_cannot_be_resumed(tmp_path):
    with pytest.raises(ValueError, match=r"config.json: no such file"):
        resume(tmp_path, parts=CORRIDOR)


def test_imitation_then_ppo_beats_imitation_in_the_corridor(tmp_path):
    config = make_config(tmp_path)
    config = dataclasses.replace(
        config,
        tasks=dataclasses.replace(config.tasks, num_val_tasks=64),
        imitation=dataclasses.replace(config.imitation, num_updates=60, learning_rate=3e-3, num_demo_steps=512),
        ppo=dataclasses.replace(
            config.ppo,
            num_iterations=30,
            fragments_per_batch=32,
            minibatch_sequences=8,
            learning_rate=5e-3,
            auxiliary_coef=0.0,
        ),
        rollout=RolloutConfig(envs_per_worker=32),
        checkpoint_every=100,
    )
    train(config, parts=dataclasses.replace(CORRIDOR, make_tasks=make_tasks))
    lines = read_metrics(tmp_path / "run" / "metrics.jsonl")
    val = {name: line[name] for line in lines if line["stage"] == "val" for name in line}
    assert val["ppo_success"] > val["imitation_success"] + 0.1
    spreads = [line["ratio_spread_lag0"] for line in lines if line["stage"] == "ppo"]
    assert np.max(spreads) < 1e-4


def test_tasks_that_ppo_could_not_order_are_refused_before_the_first_stage(tmp_path):
    config = make_config(tmp_path)
    tasks = dataclasses.replace(
        config.tasks, skills={"hunt": 1.0}, curriculum=dataclasses.replace(config.tasks.curriculum, order="mixed")
    )
    with pytest.raises(ValueError, match="'hunt/near' has a share but no task"):
        train(dataclasses.replace(config, tasks=tasks), parts=CORRIDOR)
    assert not (tmp_path / "run" / "checkpoints").exists()
