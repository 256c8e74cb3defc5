"""The command line through main(argv): what it accepts, and one sentence with exit code 2 for what it does not."""

import dataclasses
import errno
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mcrl.cli import COMMANDS, main, one_sentence
from mcrl.commands.options import option_names
from mcrl.commands.training.recipe_names import recipe_config
from mcrl.config import TrainConfig
from tests.mcrl.commands.command_line import refusal


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["trian"], "did you mean train?"),
        (["frobnicate"], "frobnicate: no such subcommand; the subcommands are train, recipes"),
        (["--verson"], "did you mean --version?"),
        (["train"], "name a recipe first; there are laptop, smoke"),
        (["train", "laptp"], "did you mean laptop?"),
        (["train", "smoke", "--ppo.clip-ep", "0.1"], "--ppo.clip-ep: no such option; did you mean --ppo.clip-eps?"),
        (["train", "smoke", "--ppo.clip-eps", "7"], "ppo.clip_eps must be in (0, 1), got 7.0"),
        (["train", "smoke", "--seed", "abc"], "--seed"),
        (["train", "smoke", "--rollout.placement", "cloud"], "Expected one of ('inline', 'ray', 'colocated', 'split')"),
        (["train", "smoke", "stray"], "'stray' is one argument too many"),
        (
            ["train", "smoke", "--eval.num-tasks", "8"],
            "--eval.num-tasks: no such option; did you mean --tasks.num-eval",
        ),
        (["train", "smoke", "--num-iterations=8"], "no such option; did you mean --ppo.num-iterations?"),
        (["play", "--key", "w*40", "--out", "x.webm"], "--key: no such option; did you mean --keys?"),
        (["play", "--no-hud", "--out", "x.webm"], "--out needs --keys"),
        (["play", "--task", "unseen_seed:1", "--policy", "small", "--out", "x.webm"], "did you mean unseen_seeds?"),
        (
            ["play", "--task", "mine/tasks.jsonl:1", "--policy", "small", "--out", "x.webm"],
            "--task mine/tasks.jsonl: no such file or folder, nor a suite",
        ),
        (["play", "--task", "real_saves:1", "--keys", "w", "--out", "x.png"], "name OUT:1 with that --save"),
        (["train", "smoke", "--recipe", "laptop"], "did you mean mcrl train laptop?"),
        (["train", "--resume", "/nonexistent"], "/nonexistent"),
        (["train", "--resume", "runs/laptop", "--plan", "p.json"], "--plan: a run that is resumed keeps its settings"),
        (["train", "--resume", "runs/laptop", "--placement=inline"], "--placement: a run that is resumed keeps its"),
        (["pretrain", "smok"], "did you mean smoke?"),
        (["train", "smoke", "--initial-policy", "/nonexistent"], "/nonexistent: no such checkpoint or run folder"),
        (
            ["ablate"],
            "name an ablation first; there are kl, pretraining, critic, curriculum, bands, goal, staleness, "
            "asynchrony, auxiliary and",
        ),
        (["ablate", "gaol"], "did you mean goal?"),
        (["ablate", "kl", "--recipe", "lapto"], "did you mean laptop?"),
        (
            ["ablate", "kl", "--seeds", "0,0"],
            "--seeds must be different whole numbers with commas between them, got '0,0'",
        ),
        (["ablate", "kl", "--seed", "1"], "--seed: an ablation sets this for each run; give --seeds"),
        (["ablate", "kl", "--report-suite", "far"], "an ablation makes a table and no reports; --suite says"),
        (["ablate", "kl", "--tasks.num-eval-tasks", "9"], "makes a table and no reports; --num-tasks says on how many"),
        (["ablate", "kl", "--ppo.kl-to-reference", "0.3"], "ablation kl decides this itself; leave it out"),
        (["ablate", "all", "--env.goal-form", "blank"], "ablation goal decides this itself; leave it out"),
        (["ablate", "kl", "--variants", "no-KL"], "kl has no such variant; did you mean no KL?"),
        (["ablate", "kl", "--suite", "nothing"], "suite 'nothing' is unknown; there are laptop, unseen_seeds"),
        (["ablate", "kl", "--num-task", "3"], "--num-task: no such option; did you mean --num-tasks?"),
        (["bench", "policy", "--presets", ","], "--presets names none; there are tiny, small"),
        (["eval"], "name a checkpoint or run folder first"),
        (["eval", ""], "the first argument is empty; give a value"),
        (["eval", "/nonexistent"], "/nonexistent: no such checkpoint or run folder"),
        (["eval", "x", "--num-tasks", "0"], "--num-tasks must be at least 1, got 0"),
        (["synth", "-n", "5"], "--out must be given"),
        (["synth", "-n", "0", "--out", "x"], "--num-tasks must be at least 1, got 0"),
        (["synth", "-n", "1", "--out", "x", "--split", "test"], "invalid choice 'test'"),
        (["synth", "-n", "1", "--out", "x", "--skills", "brake"], "there is no brake; did you mean break?"),
        (["synth", "-n", "1", "--out", "x", "--size", "32", "--bands", "hard"], "than 20; use a larger --size"),
        (["synth", "-n", "1", "--out", "x", "--skills", "x"], "--skills: there is no x; choose from approach, archery"),
        (["play", "--inventory", "qqq*1", "--keys", "w", "--out", "x.png"], "qqq: no such item; there are "),
        (["play", "--inventory", "torch*0", "--keys", "w", "--out", "x.png"], "--inventory torch*0: 1 to 64 fit in a"),
        (["play", "--agent", "foo", "--out", "x.png"], "policy: keen, small; person and expert play as well"),
        (["play", "--image", "100000", "64"], "--image must be two multiples of 4 in 16 .. 4096"),
        (["play", "--keys-file", "/", "--out", "x.png"], "/: a folder; name a file with words such as"),
        (["synth", "-n", "1", "--out", "x", "--image-px", "10"], "--image-px must be a multiple of 4 and at least 16"),
        (
            ["synth", "--check", "/nonexistent"],
            "/nonexistent: no library or file of tasks there; make some with `mcrl synth",
        ),
        (["synth", "--stats", "x", "--sample", "3"], "--sample: no such option"),
        (["synth", "--gallery", "x", "--out", "page.png"], "the file must end in .html"),
        (["synth", "-n", "1", "--out", "x", "--size", "100"], "--size must be 32, 64, 128 or 256, got 100"),
        (
            ["bench"],
            "there are sim, cuda, synth, rollout, learner, iteration, policy, eval, sync, reshard, system, peers",
        ),
        (["bench", "learner", "--against", "sb2"], "--against sb2: no such peer of bench learner; did you mean sb3?"),
        (["bench", "peers", "--peers", "minworld"], "no such peer of bench peers; did you mean miniworld?"),
        (["bench", "peers", "--peers", ","], "--peers names nobody; there are vizdoom, miniworld, craftax, sb3"),
        (["bench", "peers", "--against", "sb3"], "--against: the peers bench takes --peers instead"),
        (["bench", "sim", "--peers", "vizdoom"], "--peers: belongs to the peers bench; bench sim takes --against"),
        (["bench", "peers", "--answer-limit-s", "0"], "--answer-limit-s must be at least 1, got 0"),
        (["bench", "synth", "--against", "sb3"], "bench synth has no peers, only sim and learner have"),
        (["bench", "learner", "--against", "sb3", "--num-threads", "2"], "every process computes on one thread"),
        (["bench", "policy", "--presets", "huge"], "--presets huge: no such preset to measure; there are tiny, small"),
        (["bench", "simm"], "did you mean sim?"),
        (["bench", "sim", "--model", "resets"], "--model belongs to the bench system; leave it out"),
        (["bench", "sim", "--recipe", "nope"], "--recipe belongs to the benches synth, rollout, learner"),
        (["bench", "learner", "--presets", "tiny"], "--presets belongs to the bench policy; leave it out"),
        (["bench", "system", "--model", "reset"], "no such latency model; there are constant"),
        (["bench", "system", "--time-scale", "0"], "--time-scale must be above 0"),
        (["bench", "sim", "--repeat", "3"], "did you mean --repeats?"),
        (["doctor", "--recipe", "lapto"], "did you mean laptop?"),
        (["doctor", "--engines", "--foo"], "--foo: no such option"),
        (["doctor", "--engines", "luanti"], "'luanti' is one argument too many"),
        (["doctor", "--engines", "--recipe", "smoke"], "--engines examines nothing, and --recipe is what is examined"),
        (["worlds"], "name the folder of a Minecraft world first"),
        (["worlds", "/nonexistent"], "/nonexistent: no such folder"),
        (["worlds", "~nouser/x"], "~nouser/x: no such folder; name a Minecraft world"),
        (["worlds", "/nonexistent", "--size", "100"], "--size must be 32, 64, 128 or 256, got 100"),
        (
            ["train", "smoke", "--preset", "smal", "--print-config"],
            "--preset smal: no such preset; did you mean small?",
        ),
        (["train", "smoke", "--run-dir", ""], "--run-dir: is empty; give a value, or leave the option out"),
        (["synth", "-n", "1", "--out="], "--out: is empty; give a value, or leave the option out"),
        (["train", "smoke", "--seed", "one"], "mcrl train smoke: --seed: 'one' is no whole number"),
        (["train", "smoke", "--ppo.clip-eps", "wide"], "mcrl train smoke: --ppo.clip-eps: 'wide' is no number"),
        (
            ["train", "smoke", "--ppo.kl-to-reference", "none"],
            "mcrl train smoke: --ppo.kl-to-reference: 'none' is no number; None, with a capital letter, sets none",
        ),
        (["eval", "small", "--num-tasks", "ten"], "mcrl eval: --num-tasks: 'ten' is no whole number"),
        (["synth", "-n", "1e3", "--out", "x"], "mcrl synth: --num-tasks: '1e3' is no whole number"),
        (["eval", "small", "--rows"], "mcrl eval: --rows needs a value"),
        (["demos", "export", "laptop", "--out", __file__], "a file stands where a folder is wanted; name another"),
        (["synth", "--stats", __file__], ":1: not a line of JSON, so no task; if it was cut short"),
        (["sheet"], "--out must be given"),
        (["sheet", "--out", "x.gif"], "the file must end in .png or .jpg"),
        (["synth"], "mcrl synth: --num-tasks and --out must be given; `mcrl synth --help`"),
        (["synth", "-n", "1", "--out", str(Path(__file__).parent)], "holds other things than a library; name a new"),
        (["synth", "--check", str(Path(__file__).parent)], "no tasks there; name a library of `mcrl synth`"),
        (["worlds", "x", "--origin", "1", "2"], "mcrl worlds: --origin: needs 3 values, got 2"),
        (["train", "laptop", "--plan", "--run-dir", "x"], "--plan needs a file; `mcrl plan --out FILE` writes one"),
        (["status", __file__], "a file; name the folder of a run"),
        (["status", "x", "--json", f"{__file__}/s.json"], "test_cli.py: a file stands where a folder is wanted"),
        (["status", "x", "--prometheus", "/"], "/: a folder stands where a file is wanted; name another"),
        (["plan", "smoke", "--out", "/"], "/: a folder stands where a file is wanted; name another"),
        (["plan", "smoke", "--json", f"{__file__}/p.json"], "test_cli.py: a file stands where a folder is wanted"),
        (["plan", "--validate", "--latency-s", "inf"], "--latency-s must be positive and finite, got inf"),
        (["plan", "--network-gbit", "nan"], "--network-gbit must be positive and finite, got nan"),
        (["plan", "--validate", "--json", "/"], "/: a folder stands where a file is wanted; name another"),
        (["bench", "sim", "--json", f"{__file__}/b.json"], "test_cli.py: a file stands where a folder is wanted"),
        (["ablate", "goal", "--recipe", "smoke", "--out", __file__], "test_cli.py: a file stands where a folder is"),
        (["ship", "small", "--name", "x", "--out", __file__], "test_cli.py: a file stands where a folder is wanted"),
        (["view", "unsen_seeds:1"], "did you mean unseen_seeds?"),
        (["view", "unsen_seeds:1", "--token=c2VjcmV0a2V5MQ=="], "did you mean unseen_seeds?"),
        (["play", "--backend", "/etc/passwd", "--keys", "w", "--out", "x.png"], "is no program that can be run"),
        (["play", "--time", "24000"], "--time must be in 0 .. 23999, got 24000"),
        (["view", "nothing"], "nothing: no file or folder, nor a suite or shipped policy"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(capsys, argv, expected):
    assert expected in refusal(capsys, *argv)


def test_a_folder_that_was_named_is_not_exchanged_for_another(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "smoke").mkdir(parents=True)
    (tmp_path / "runs" / "smoke" / "config.json").touch()
    assert "runs/smoke holds a run already" in refusal(capsys, "train", "smoke", "--run-dir", "runs/smoke")


def test_a_preset_that_does_not_fit_is_refused_before_there_is_a_run(capsys, tmp_path):
    run_dir = tmp_path / "run"
    said = refusal(capsys, "train", "laptop", "--preset", "sharp", "--run-dir", str(run_dir))
    assert "env.image_px 64 does not fit preset sharp, set it to 96 (--env.image-px 96)" in said
    assert not run_dir.exists()


def test_every_skill_and_band_has_an_option():
    names = option_names(TrainConfig, recipe_config("smoke"))
    assert {"--tasks.bands.near", "--tasks.bands.easy", "--tasks.skills.break", "--ppo.clip-eps"} <= set(names)


def test_help_breaks_the_text_of_an_option_only_where_a_line_is_full(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["suites", "--help"])
    lines = [line.strip("\u2502 ") for line in capsys.readouterr().out.splitlines()]
    assert "definition and write their file. For developers: tasks" in lines
    assert "that changed are another version, see" in lines


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


def test_a_resume_of_a_mistyped_folder_is_refused_before_torch_is_loaded():
    script = (
        "import sys, mcrl.cli; code = mcrl.cli.main(['train', '--resume', '/nonexistent']);"
        "print(code, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "/nonexistent: no run to continue there, config.json is missing" in done.stderr
    assert done.stdout == "2 False\n"


def test_the_help_of_an_ablation_names_the_options_that_it_refuses(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit):
        main(["ablate", "kl", "--help"])
    said = capsys.readouterr().out
    wanted = "All options of `mcrl train` but --seed, --run-dir and --initial-policy hold for every variant."
    assert wanted in said
    listed = set(re.findall(r"(?:  |\u2502 )(--[a-z][\w.-]*)", said))
    assert listed.isdisjoint({"--seed", "--run-dir", "--initial-policy", "--report", "--report-suite"})
    assert listed.isdisjoint({"--tasks.num-eval-tasks", "--ppo.kl-to-reference"})
    assert {"--seeds", "--recipe", "--tasks.num-val-tasks", "--ppo.loss"} <= listed


def test_a_reader_that_has_seen_enough_is_no_error():
    script = "import sys, mcrl.cli; sys.exit(mcrl.cli.main(['--help']))"
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 130


def test_streams_that_the_caller_closed_are_no_error():
    command = f"{sys.executable} -m mcrl.cli"
    for closed in (">&-", "<&- >&- 2>&-"):
        assert subprocess.run(["sh", "-c", f"{command} suites {closed}"], check=False).returncode == 0
    assert subprocess.run(["sh", "-c", f"{command} suites --nosuch 2>&-"], check=False).returncode == 2


def test_what_does_not_fit_into_memory_is_one_sentence(capsys, monkeypatch):
    def hoard(args):
        raise MemoryError("Unable to allocate 43.7 PiB")

    monkeypatch.setitem(COMMANDS, "suites", dataclasses.replace(COMMANDS["suites"], run=hoard))
    assert main(["suites"]) == 1
    said = "mcrl: the memory is not enough (Unable to allocate 43.7 PiB); ask for fewer or smaller things at a time\n"
    assert capsys.readouterr().err == said


def test_an_interrupt_that_a_lock_made_another_error_of_is_one(capsys, monkeypatch):
    def wait(args):
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("release unlocked lock")

    monkeypatch.setitem(COMMANDS, "suites", dataclasses.replace(COMMANDS["suites"], run=wait))
    assert main(["suites"]) == 130
    assert capsys.readouterr().err == "mcrl: interrupted\n"


def test_version_names_the_package(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("mcrl 0.")


def test_worlds_says_what_is_in_a_save(capsys, tmp_path):
    from tests.worlds.anvil.anvil_files import write_save

    def floor(x: int, y: int, z: int) -> str:
        return "minecraft:deepslate" if y < 5 else "minecraft:air"

    save = write_save(tmp_path, floor, "1.18", chunks=range(2), ys=range(1))
    assert main(["worlds", str(save), "--size", "32"]) == 0
    said = capsys.readouterr().out
    assert "4 chunks, x 0 .. 31, z 0 .. 31" in said
    assert "saved by 1.18" in said
    assert "named in the table: 7.81%" in said  # 5 of 64 levels


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "mcrl: the disk is full; free some of it, then run the"),
        (OSError(errno.ENOSPC, "No space left on device", "a/b"), "mcrl: a/b: the disk is full; free some of it"),
    ],
)
def test_a_full_disk_is_called_so(error, sentence):
    assert one_sentence(error).startswith(sentence)
