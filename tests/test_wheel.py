"""The package as it is installed: a wheel holds what the checkout's commands read, and they find it outside of one."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from policies.shipped import shipped_names

ROOT = Path(__file__).parents[1]
LAYERS = ("worlds", "task_synthesis", "policies", "mcrl", "eval")
# What pyproject.toml asks for.
LEAST_SETUPTOOLS = 77


def has_setuptools() -> bool:
    try:
        return int(importlib.metadata.version("setuptools").partition(".")[0]) >= LEAST_SETUPTOOLS
    except importlib.metadata.PackageNotFoundError:
        return False


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The content of the wheel, built without network from a copy of the sources."""
    if not has_setuptools():
        pytest.skip(f"setuptools {LEAST_SETUPTOOLS} or newer is not installed: pip install -U setuptools")
    sources, wheels = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("wheels")
    for name in LAYERS:
        shutil.copytree(ROOT / name, sources / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, sources / name)
    build = [sys.executable, "-m", "pip", "wheel", str(sources), "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*build, "-q", "-w", str(wheels)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    site = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
        wheel.extractall(site)
    return site


@pytest.mark.slow
def test_a_wheel_holds_every_file_that_is_read(installed):
    for name in LAYERS:
        read = [path for path in (ROOT / name).rglob("*") if path.suffix in (".json", ".safetensors", ".gz", ".css")]
        missing = [path for path in read if not (installed / path.relative_to(ROOT)).is_file()]
        assert not missing, f"not in the wheel: {missing}; add them to package-data in pyproject.toml"


@pytest.mark.slow
def test_shipped_policies_and_suites_are_found_where_only_the_wheel_is(installed, tmp_path):
    script = (
        "from pathlib import Path; import mcrl; from mcrl.commands.training.run_folder import checkpoint_of, config_of;"
        "from eval.judging.suite_row import load_policy; from eval.suites.suites import load_suite;"
        f"folders = [checkpoint_of(Path(name)) for name in {shipped_names()!r}];"
        "[load_policy(folder, config_of(folder)) for folder in folders];"
        "print(Path(mcrl.__file__).parents[1], len(load_suite('unseen_seeds', 3)), *folders)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["PYTHONPATH"] = str(installed)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    folders = [str(installed / "policies" / "shipped" / name) for name in shipped_names()]
    assert done.stdout.split() == [str(installed), "3", *folders]
