"""The command line through main(argv): what it accepts, and one sentence with exit code 2 for what it does not."""

import dataclasses
import json
import subprocess
import sys
import time

import pytest

from mcrl import checkpoint
from mcrl.assembly import PRODUCT
from mcrl.cli import COMMANDS, main
from mcrl.commands.options import option_names
from mcrl.commands.recipe import recipe_config
from mcrl.config import TrainConfig
from mcrl.recipes import RECIPES
from task_synthesis.folder_lock import locked


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory):
    """A run folder with an untrained imitation checkpoint."""
    folder = tmp_path_factory.mktemp("run")
    config = RECIPES["smoke"]()
    state = checkpoint.CheckpointState(
        stage="imitation",
        iteration=0,
        version=0,
        preset=config.preset,
        image_px=config.env.image_px,
        config=dataclasses.asdict(config),
    )
    model = PRODUCT.make_policy(config).state_dict()
    checkpoint.save(folder / "checkpoints" / "imitation", checkpoint.Checkpoint(model=model, optimizer={}, state=state))
    return folder


@pytest.fixture(scope="module")
def task_dirs(tmp_path_factory):
    """Task folders of two splits, made by the command itself."""
    folders = {}
    for split in ("train", "held_out"):
        folders[split] = tmp_path_factory.mktemp(split)
        argv = ["synth", "-n", "6", "--out", str(folders[split]), "--split", split, "--size", "32", "--bands", "near"]
        assert main(argv) == 0
    return folders


def _refusal(capsys, *argv: str) -> str:
    """Run the command line, expect exit code 2 and one line on stderr, and return it."""
    capsys.readouterr()
    assert main([str(arg) for arg in argv]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = printed.err.splitlines()
    assert len(lines) == 1, printed.err
    assert "Traceback" not in printed.err
    return lines[0]


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["trian"], "did you mean train?"),
        (["--verson"], "did you mean --version?"),
        (["train"], "name a recipe first; there are laptop, smoke"),
        (["train", "laptp"], "did you mean laptop?"),
        (["train", "smoke", "--ppo.clip-ep", "0.1"], "--ppo.clip-ep: no such option; did you mean --ppo.clip-eps?"),
        (["train", "smoke", "--ppo.clip-eps", "7"], "ppo.clip_eps must be in (0, 1), got 7.0"),
        (["train", "smoke", "--seed", "abc"], "--seed"),
        (["train", "smoke", "--rollout.placement", "cloud"], "Expected one of ('inline', 'ray')"),
        (["train", "smoke", "stray"], "'stray' is one argument too many"),
        (["train", "smoke", "--recipe", "laptop"], "did you mean mcrl train laptop?"),
        (["train", "--resume", "/nonexistent"], "/nonexistent"),
        (["pretrain", "smok"], "did you mean smoke?"),
        (["train", "smoke", "--initial-policy", "/nonexistent"], "/nonexistent: no such checkpoint or run folder"),
        (["ablate"], "name an ablation first; there are kl, pretraining, curriculum, goal, auxiliary and all"),
        (["ablate", "gaol"], "did you mean goal?"),
        (["ablate", "kl", "--recipe", "lapto"], "did you mean laptop?"),
        (
            ["ablate", "kl", "--seeds", "0,0"],
            "--seeds must be different whole numbers with commas between them, got '0,0'",
        ),
        (["ablate", "kl", "--seed", "1"], "--seed: an ablation sets this for each run; give --seeds"),
        (["ablate", "kl", "--ppo.kl-to-reference", "0.3"], "ablation kl decides this itself; leave it out"),
        (["ablate", "all", "--env.goal-form", "blank"], "ablation goal decides this itself; leave it out"),
        (["ablate", "kl", "--suite", "nothing"], "suite 'nothing' is unknown; there are laptop, unseen_seeds"),
        (["ablate", "kl", "--num-task", "3"], "--num-task: no such option; did you mean --num-tasks?"),
        (["eval"], "name a checkpoint or run folder first"),
        (["eval", "/nonexistent"], "/nonexistent: no such checkpoint or run folder"),
        (["eval", "x", "--num-tasks", "0"], "--num-tasks must be at least 1, got 0"),
        (["synth", "-n", "5"], "--out must be given"),
        (["synth", "-n", "0", "--out", "x"], "--num-tasks must be at least 1, got 0"),
        (["synth", "-n", "1", "--out", "x", "--split", "test"], "invalid choice 'test'"),
        (["synth", "-n", "1", "--out", "x", "--skills", "brake"], "choose from ['approach', 'archery', 'break'"),
        (["synth", "-n", "1", "--out", "x", "--image-px", "10"], "--image-px must be a multiple of 4 and at least 16"),
        (["synth", "--check", "/nonexistent"], "/nonexistent: no tasks there; make some with `mcrl synth"),
        (["synth", "--stats", "x", "--sample", "3"], "--sample: no such option"),
        (["synth", "--gallery", "x", "--out", "page.png"], "the file must end in .html"),
        (["synth", "-n", "1", "--out", "x", "--size", "100"], "--size must be 32, 64, 128 or 256, got 100"),
        (["bench"], "name a bench first; there are sim, cuda, synth, rollout, learner, eval, system"),
        (["bench", "simm"], "did you mean sim?"),
        (["bench", "sim", "--model", "resets"], "--model and --time-scale belong to the system bench"),
        (["bench", "system", "--model", "reset"], "no such latency model; there are constant"),
        (["bench", "system", "--time-scale", "0"], "--time-scale must be above 0"),
        (["bench", "sim", "--repeat", "3"], "did you mean --repeats?"),
        (["doctor", "--recipe", "lapto"], "did you mean laptop?"),
        (["worlds"], "name the folder of a Minecraft world first"),
        (["worlds", "/nonexistent"], "/nonexistent: no such folder"),
        (["worlds", "/nonexistent", "--size", "100"], "--size must be 32, 64, 128 or 256, got 100"),
        (["sheet"], "--out must be given"),
        (["sheet", "--out", "x.gif"], "the file must end in .png or .jpg"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(capsys, argv, expected):
    assert expected in _refusal(capsys, *argv)


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["--suite", "unseen_seed"], "--suite unseen_seed: no such suite; did you mean unseen_seeds?"),
        (["--suite", "laptop,farr"], "--suite farr: no such suite; did you mean far?"),
        (["--suite", "real_saves"], "name a Minecraft world with --save"),
        (["--suite", "laptop", "--skills", "hunt"], "--skills does nothing with --suite"),
        (["--suite", "far,real_saves"], "name a Minecraft world with --save"),
        (["--suite", ""], "--suite names none; there are all, laptop"),
        (["--suite", "all", "--num-tasks", "1020"], "suite unseen_seeds.v1 holds 1008 tasks, 1020 were asked for"),
        (["--suite", "all", "--num-tasks", "13"], "shuffled goals need at least two tasks a skill, 'place' has one"),
        (["--save", "x"], "--save does nothing without --suite real_saves"),
        (["--suite", "far", "--save", "x"], "--save does nothing without --suite real_saves"),
        (["--suite", "laptop", "--num-tasks", "100000"], "suite laptop.v1 holds 1024 tasks, 100000 were asked for"),
        (["--rows", "nop"], "--rows nop: no such row; there are noop, blank_goal"),
        (["--num-workers", "0"], "--num-workers must be at least 1, got 0"),
        (["--also", "random=RUN"], "the row 'random' is played anyway"),
    ],
)
def test_an_evaluation_that_cannot_be_played_is_refused_at_once(capsys, run_dir, argv, expected):
    argv = [arg.replace("RUN", str(run_dir)) for arg in argv]
    assert expected in _refusal(capsys, "eval", run_dir, *argv)


def test_a_folder_without_checkpoint_is_refused(capsys, tmp_path):
    assert "holds no checkpoint" in _refusal(capsys, "eval", tmp_path)


def test_a_truncated_checkpoint_is_refused(capsys, run_dir, tmp_path):
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in (run_dir / "checkpoints" / "imitation").iterdir():
        (broken / path.name).write_bytes(path.read_bytes())
    whole = (broken / "model.safetensors").read_bytes()
    (broken / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    sentence = _refusal(capsys, "eval", broken)
    assert "model.safetensors: missing, truncated" in sentence


def test_tasks_of_another_split_are_refused(capsys, run_dir, task_dirs):
    sentence = _refusal(capsys, "eval", run_dir, "--tasks", task_dirs["train"])
    assert "is in split 'train', but this is a 'held_out' set" in sentence


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"familiy": "x"}, "task.familiy is not a field"),
        ({"max_ticks": "soon"}, "task.max_ticks must be int, got 'soon'"),
        ({"world": {"seed": 2**31}}, "world.seed must be in [0, 2147483647], got 2147483648"),
        ({"band": "far"}, "'far' is unknown"),
    ],
)
def test_a_task_file_with_a_wrong_field_is_refused_with_its_line(
    capsys, run_dir, task_dirs, tmp_path, change, expected
):
    lines = (task_dirs["held_out"] / "tasks.jsonl").read_text().splitlines()
    fields = json.loads(lines[1]) | change
    del fields["task_id"]
    path = tmp_path / "tasks.jsonl"
    path.write_text("\n".join([lines[0], json.dumps(fields)]) + "\n")
    sentence = _refusal(capsys, "eval", run_dir, "--tasks", path)
    assert f"{path}:2" in sentence
    assert expected in sentence


def test_an_edited_task_is_refused(capsys, run_dir, task_dirs, tmp_path):
    fields = json.loads((task_dirs["held_out"] / "tasks.jsonl").read_text().splitlines()[0])
    path = tmp_path / "tasks.jsonl"
    path.write_text(json.dumps(fields | {"max_ticks": 7}) + "\n")
    assert "does not match its content" in _refusal(capsys, "eval", run_dir, "--tasks", path)


def test_two_evaluations_at_once_into_one_folder_are_refused(capsys, run_dir, task_dirs, tmp_path):
    with locked(tmp_path, other="evaluates into this folder"):
        sentence = _refusal(capsys, "eval", run_dir, "--tasks", task_dirs["held_out"], "--out", tmp_path)
    assert f"{tmp_path}: another process evaluates into this folder; wait for it" in sentence


def test_eval_writes_the_whole_report(capsys, run_dir, task_dirs, tmp_path):
    argv = ["eval", str(run_dir), "--tasks", str(task_dirs["held_out"]), "--out", str(tmp_path), "--videos", "1"]
    assert main([*argv, "--num-workers", "1"]) == 0
    episodes = [json.loads(line) for line in (tmp_path / "episodes.jsonl").read_text().splitlines()]
    assert {episode["row"] for episode in episodes} == {"random", "imitation", "shuffled goal", "expert"}
    assert len(episodes) == 4 * 6
    assert "mcrl eval" in (tmp_path / "report.md").read_text()
    page = (tmp_path / "report.html").read_text()
    assert page.count("<video") == 1
    assert f"report: {tmp_path / 'report.html'}" in capsys.readouterr().out


def test_synth_says_what_it_made(task_dirs):
    manifest = json.loads((task_dirs["held_out"] / "manifest.json").read_text())
    assert (manifest["num_tasks"], manifest["split"]) == (6, "held_out")
    assert isinstance(manifest["rejections"], dict)


def test_synth_does_not_make_a_complete_library_again(task_dirs, capsys):
    argv = ["synth", "-n", "6", "--out", str(task_dirs["train"]), "--size", "32", "--bands", "near"]
    assert main(argv) == 0
    assert "complete before; nothing was made" in capsys.readouterr().out


def test_synth_stats_counts_a_library(task_dirs, capsys):
    assert main(["synth", "--stats", str(task_dirs["train"])]) == 0
    printed = capsys.readouterr().out
    assert "6 tasks in" in printed
    assert "distance_blocks" in printed


def test_every_skill_and_band_has_an_option():
    names = option_names(TrainConfig, recipe_config("smoke"))
    assert {"--tasks.bands.near", "--tasks.bands.easy", "--tasks.skills.break", "--ppo.clip-eps"} <= set(names)


def test_help_names_every_subcommand_without_importing_anything_heavy():
    script = (
        "import sys, mcrl.cli; mcrl.cli.main(['--help']);"
        "print([n for n in ('torch', 'numba', 'numpy', 'tyro', 'rich', 'ray') if n in sys.modules], file=sys.stderr)"
    )
    # The best of three: the machine may be busy.
    times_s = []
    for _ in range(3):
        begin_s = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        times_s.append(time.perf_counter() - begin_s)
    assert all(f"mcrl {name}" in done.stdout for name in COMMANDS)
    assert done.stderr.strip() == "[]"
    assert min(times_s) <= 0.5


def test_version_names_the_package(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("mcrl 0.")


def test_bench_prints_one_object_on_stdout_and_nothing_else(capfd):
    assert main(["bench", "sim", "--json", "-", "--num-frames", "8", "--repeats", "1"]) == 0
    result = json.loads(capfd.readouterr().out)
    assert set(result) == {"bench", "commit", "hardware", "rows"}
    rows = [row for row in result["rows"] if row["metric"] == "frames_per_cpu_s"]
    assert [row["renderer"] for row in rows] == ["lanes", "scalar", "lanes"]
    assert all(row["scene"] == "standard_v1" for row in rows)
    assert all(row["value"] > 0 and row["repeats"] == 1 and row["min"] <= row["value"] <= row["max"] for row in rows)


def test_bench_writes_the_object_to_a_file(tmp_path, capsys):
    path = tmp_path / "new" / "sim.json"
    argv = ["bench", "sim", "--json", str(path), "--num-frames", "4", "--repeats", "1"]
    assert main(argv) == 0
    assert json.loads(path.read_text())["bench"] == "sim"


@pytest.mark.slow
def test_bench_learner_sets_the_learner_beside_a_plain_loop(capfd):
    assert main(["bench", "learner", "--recipe", "smoke", "--repeats", "1", "--json", "-"]) == 0
    rows = json.loads(capfd.readouterr().out)["rows"]
    assert {row.get("loop") for row in rows} == {"learner", "plain loop", None}


@pytest.mark.slow
def test_bench_eval_sets_evaluation_beside_rollouts(capfd):
    assert main(["bench", "eval", "--recipe", "smoke", "--repeats", "1", "--json", "-"]) == 0
    rows = json.loads(capfd.readouterr().out)["rows"]
    assert {row.get("loop") for row in rows} == {"evaluation", "rollout", "rollout without reference", None}


@pytest.mark.slow
def test_bench_rollout_counts_decisions(capfd):
    assert main(["bench", "rollout", "--recipe", "smoke", "--repeats", "1", "--json", "-"]) == 0
    rows = json.loads(capfd.readouterr().out)["rows"]
    assert {row["metric"] for row in rows} == {"decisions_per_s", "decisions_per_cpu_s"}


def test_worlds_says_what_is_in_a_save(capsys, tmp_path):
    from tests.worlds.anvil_files import write_save

    def floor(x: int, y: int, z: int) -> str:
        return "minecraft:deepslate" if y < 5 else "minecraft:air"

    save = write_save(tmp_path, floor, "1.18", chunks=range(2), ys=range(1))
    assert main(["worlds", str(save), "--size", "32"]) == 0
    said = capsys.readouterr().out
    assert "4 chunks, x 0 .. 31, z 0 .. 31" in said
    assert "saved by 1.18" in said
    assert "named in the table: 7.81%" in said  # 5 of 64 levels
