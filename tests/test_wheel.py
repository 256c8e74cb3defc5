"""The package as it is installed: a wheel in an environment of its own does what a checkout does."""

import importlib.metadata
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from policies.shipped import shipped_names

ROOT = Path(__file__).parents[1]
LAYERS = ("worlds", "task_synthesis", "policies", "mcrl", "eval")
# What pyproject.toml asks for.
LEAST_SETUPTOOLS = 77
# Of what is read at run time; the sources are Python's business.
SUFFIXES = (".json", ".yaml", ".safetensors", ".gz", ".css", ".js", ".txt", ".lua", ".c", ".conf", ".typed")
LONGEST_WAIT_S = 280
GIT = ("git", "-c", "user.name=nobody", "-c", "user.email=nobody@example.invalid", "-c", "commit.gpgsign=false")

pytestmark = pytest.mark.slow


def has_setuptools() -> bool:
    try:
        return int(importlib.metadata.version("setuptools").partition(".")[0]) >= LEAST_SETUPTOOLS
    except importlib.metadata.PackageNotFoundError:
        return False


@dataclass(frozen=True, kw_only=True, slots=True)
class Installed:
    """An environment with nothing of ours but the wheel; what we depend on is lent by the environment of the tests."""

    python: Path
    site: Path

    def mcrl(self, *arguments: str | Path, cwd: Path) -> str:
        """Run the command that pip made, and return what it printed."""
        return self.run(self.python.with_name("mcrl"), *arguments, cwd=cwd).stdout

    def run(
        self, *command: str | Path, cwd: Path, code: int = 0, variables: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = outside() | (variables or {})
        done = subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            text=True,
            cwd=cwd,
            env=environment,
            timeout=LONGEST_WAIT_S,
        )
        assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
        return done


def outside() -> dict[str, str]:
    """Return the environment variables without what would lead back to the checkout."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> tuple[Path, str]:
    """A checkout of the sources as they are now, without history, and its commit."""
    if not has_setuptools():
        pytest.skip(f"setuptools {LEAST_SETUPTOOLS} or newer is not installed: pip install -U setuptools")
    folder = tmp_path_factory.mktemp("sources")
    for name in LAYERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "sources")):
        subprocess.run([*GIT, *arguments], cwd=folder, check=True)
    head = subprocess.run(
        [*GIT, "rev-parse", "--short=12", "HEAD"], cwd=folder, check=True, capture_output=True, text=True
    )
    return folder, head.stdout.strip()


@pytest.fixture(scope="module")
def installed(sources, tmp_path_factory) -> Installed:
    """The wheel, built and installed without network."""
    folder, wheels = tmp_path_factory.mktemp("venv"), tmp_path_factory.mktemp("wheels")
    quiet = ("--disable-pip-version-check", "-q", "--no-deps", "--no-index")
    build = ["wheel", *quiet, "--no-build-isolation", "-w", str(wheels), str(sources[0])]
    python = folder / "bin" / "python"
    install = ["--python", str(python), "install", *quiet]
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    for command in (build, [*install, "WHEEL"]):
        words = [str(next(wheels.glob("*.whl"))) if word == "WHEEL" else word for word in command]
        done = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True, env=outside())
        assert done.returncode == 0, done.stderr
    (site,) = folder.glob("lib/python*/site-packages")
    # What stands behind a .pth file is searched last, and .pth files there, as of a checkout, are not heeded.
    lent = {path for path in sys.path if path.endswith(("site-packages", "dist-packages"))}
    (site / "lent.pth").write_text("\n".join(sorted(lent)) + "\n", encoding="utf-8")
    return Installed(python=python, site=site)


def test_a_wheel_holds_every_file_that_is_read(installed):
    for name in LAYERS:
        read = [path for path in (ROOT / name).rglob("*") if path.suffix in SUFFIXES]
        assert ROOT / name / "py.typed" in read
        missing = [path for path in read if not (installed.site / path.relative_to(ROOT)).is_file()]
        assert not missing, f"not in the wheel: {missing}; add them to package-data in pyproject.toml"


def test_an_sdist_holds_what_its_wheel_needs_and_its_commit(sources, tmp_path):
    folder, commit = sources
    script = f"from setuptools.build_meta import build_sdist; build_sdist({str(tmp_path)!r})"
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, env=outside())
    assert done.returncode == 0, done.stderr
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        written = next(name for name in archive.getnames() if name.endswith("/mcrl/commit.txt"))
        assert archive.extractfile(written).read().decode() == commit + "\n"
    read = {path for name in LAYERS for path in (folder / name).rglob("*") if path.suffix in (*SUFFIXES, ".py")}
    assert not {path.relative_to(folder).as_posix() for path in read} - names


def test_an_installed_package_names_its_version_and_the_commit_it_was_built_from(installed, sources, tmp_path):
    version = installed.run(
        installed.python, "-c", "import importlib.metadata as m; print(m.version('mcrl'))", cwd=tmp_path
    ).stdout.strip()
    assert installed.mcrl("--version", cwd=tmp_path) == f"mcrl {version} (commit {sources[1]})\n"


def test_shipped_policies_and_suites_are_found_where_only_the_wheel_is(installed, tmp_path):
    script = (
        "from pathlib import Path; import mcrl; from mcrl.run_folder import checkpoint_of, config_of;"
        "from mcrl.trained import load_policy; from eval.suites.suites import load_suite;"
        f"folders = [checkpoint_of(Path(name)) for name in {shipped_names()!r}];"
        "[load_policy(folder, config_of(folder)) for folder in folders];"
        "print(Path(mcrl.__file__).parents[1], len(load_suite('unseen_seeds', 3)), *folders)"
    )
    said = installed.run(installed.python, "-c", script, cwd=tmp_path).stdout
    folders = [str(installed.site / "policies" / "shipped" / name) for name in shipped_names()]
    assert said.split() == [str(installed.site), "3", *folders]


@pytest.mark.ray
def test_the_laptop_recipe_trains_from_a_wheel_and_its_run_is_judged(installed, tmp_path):
    few_tasks = ("--tasks.num-train-tasks", "64", "--tasks.num-val-tasks", "16", "--tasks.num-eval-tasks", "16")
    few_demos = ("--imitation.num-demo-steps", "2048", "--imitation.num-val-demo-steps", "512")
    brief_dagger = ("--imitation.dagger-steps", "2048", "--imitation.dagger-updates", "10")
    short = ("--imitation.num-updates", "10", "--ppo.num-iterations", "2", "--wandb", "disabled", "--num-threads", "1")
    installed.mcrl("train", "laptop", "--run-dir", "run", *few_tasks, *few_demos, *brief_dagger, *short, cwd=tmp_path)
    assert {"report.html", "config.json", "metrics.jsonl"} <= {path.name for path in (tmp_path / "run").iterdir()}
    assert (tmp_path / "run" / "checkpoints" / "final" / "model.safetensors").is_file()


def test_the_shipped_policy_is_judged_from_a_wheel(installed, tmp_path):
    few = ("--suite", "unseen_seeds", "--num-tasks", "7", "--videos", "0", "--num-workers", "1")
    installed.mcrl("eval", "small", *few, "--out", "judged", cwd=tmp_path)
    assert (tmp_path / "judged" / "report.html").is_file()


def test_tasks_are_made_and_one_is_played_from_a_wheel(installed, tmp_path):
    installed.mcrl("synth", "-n", "8", "--out", "tasks", cwd=tmp_path)
    installed.mcrl("play", "--agent", "expert", "--task", "tasks:1", "--out", "expert.webm", cwd=tmp_path)
    assert (tmp_path / "expert.webm").stat().st_size > 1000


def test_a_bench_runs_from_a_wheel_and_names_the_commit(installed, sources, tmp_path):
    said = installed.mcrl("bench", "sim", "--num-frames", "16", "--repeats", "1", "--json", "-", cwd=tmp_path)
    assert json.loads(said)["commit"] == sources[1]


def test_the_viewers_page_is_served_from_a_wheel_until_ctrl_c(installed, tmp_path):
    if importlib.util.find_spec("viser") is None:
        pytest.skip("needs viser: pip install 'mcrl[view]'")
    process = subprocess.Popen(
        [installed.python.with_name("mcrl"), "view", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=outside(),
        # Ctrl-C is ignored by what a shell started in the background, and the ignoring is inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        address = next(word for word in process.stdout.readline().split() if word.startswith("http://127.0.0.1:"))
        with urllib.request.urlopen(address, timeout=60) as page:
            assert b"<title>mcrl view</title>" in page.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def folder_of_others(tmp_path) -> Path:
    """A working directory with somebody's eval.py and package worlds in it."""
    (tmp_path / "eval.py").write_text("SCORE = 1\n")
    (tmp_path / "worlds").mkdir()
    (tmp_path / "worlds" / "__init__.py").write_text("")
    return tmp_path


def test_the_command_finds_our_packages_whatever_the_working_directory_holds(installed, folder_of_others):
    assert "small" in installed.mcrl("policies", cwd=folder_of_others)


def test_names_that_lead_elsewhere_are_refused_in_one_sentence(installed, folder_of_others, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    as_module = (installed.python, "-m", "mcrl.cli", "policies")
    command = (installed.python.with_name("mcrl"), "policies")
    for words, cwd, variables in (
        (as_module, folder_of_others, {}),
        (command, elsewhere, {"PYTHONPATH": str(folder_of_others)}),
    ):
        said = installed.run(*words, cwd=cwd, code=2, variables=variables).stderr
        ours, theirs = installed.site / "worlds", folder_of_others / "worlds"
        assert said.startswith(f"mcrl: the package name 'worlds' leads to {theirs}, not to ours in {ours}; start from")
        assert said.count("\n") == 1


@pytest.fixture
def another_eval(installed) -> Iterator[str]:
    """A distribution with a package `eval`, installed over ours as pip does it: file by file, the last one wins."""
    init, own = installed.site / "eval" / "__init__.py", installed.site / "eval" / "scores.py"
    record = installed.site / "evil_scores-1.0.dist-info"
    kept = init.read_bytes()
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: evil-scores\nVersion: 1.0\n")
    (record / "top_level.txt").write_text("eval\n")
    init.write_text("from eval.scores import SCORE\n")
    own.write_text("SCORE = 1\n")
    yield "evil-scores"
    init.write_bytes(kept)
    own.unlink()
    shutil.rmtree(record)


def test_beside_another_distribution_called_eval_both_work_and_the_doctor_tells(installed, another_eval, tmp_path):
    assert installed.run(installed.python, "-c", "import eval; print(eval.SCORE)", cwd=tmp_path).stdout == "1\n"
    assert "unseen_seeds" in installed.mcrl("suites", cwd=tmp_path)
    script = "from mcrl.name_clash import other_owners; print(other_owners())"
    said = installed.run(installed.python, "-c", script, cwd=tmp_path).stdout
    assert said == f"{ {'eval': [another_eval]} }\n"


def test_a_type_checker_outside_sees_our_types(installed, tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed: pip install mypy")
    script = tmp_path / "script.py"
    script.write_text(
        "from eval.judging.origin import read_origin\n"
        "from mcrl.provenance import version\n"
        "from policies.shipped import shipped_names\n"
        "from task_synthesis.interaction import Interaction\n"
        "from worlds.types import Pose\n"
        "reveal_type(read_origin)\n"
        "reveal_type(version())\n"
        "reveal_type(shipped_names())\n"
        "reveal_type(Interaction.APPROACH)\n"
        "Pose(0.0, 0.0, 0.0, 0.0, 'north')\n"
    )
    command = (sys.executable, "-m", "mypy", "--python-executable", installed.python, "--cache-dir", tmp_path / "cache")
    said = installed.run(*command, script, cwd=tmp_path, code=1).stdout
    assert 'script.py:10: error: Argument 5 to "Pose" has incompatible type "str"; expected "float"' in said
    assert 'def (out_dir: pathlib.Path) -> eval.judging.origin.SuiteOrigin"' in said
    assert said.count("Revealed type") == 4
    assert '"Any"' not in said
    assert said.count("error:") == 1
