import dataclasses
from pathlib import Path

import pytest

from mcrl.assembly import make_policy
from mcrl.cli import main
from mcrl.doctor import machine
from mcrl.fragment_size import fragment_bytes
from mcrl.recipes import RECIPES


@pytest.fixture
def smoke():
    return RECIPES["smoke"]()


def _finding(config, what: str) -> machine.Finding:
    return next(finding for finding in machine.examine(config, Path(config.run_dir)) if finding.what == what)


def test_the_table_has_a_line_for_everything_a_run_needs(smoke):
    named = {finding.what for finding in machine.examine(smoke, Path("runs/x"))}
    assert named >= {
        "python",
        "torch",
        "numba",
        "scipy",
        "ray",
        "engine device",
        "opencv",
        "wandb",
        "cores",
        "memory",
        "bf16",
        "disk",
        "object store",
    }


def test_an_engine_that_must_be_on_a_gpu_and_cannot_is_found_with_what_to_do(smoke):
    on_cpu = dataclasses.replace(smoke, device="cpu")
    assert _finding(on_cpu, "engine device").status == "ok"
    rollout = dataclasses.replace(on_cpu.rollout, engine_device="cuda", placement="inline")
    finding = _finding(dataclasses.replace(on_cpu, rollout=rollout), "engine device")
    assert (finding.status, finding.found) == ("bad", "rollout.engine_device cuda: the policy is on the CPU")
    assert "set device to cuda" in finding.remedy


def test_an_object_store_in_which_the_run_would_not_begin_is_refused_with_a_command(smoke, monkeypatch):
    rollout = dataclasses.replace(smoke.rollout, placement="ray", num_workers=1, envs_per_worker=4, max_staleness=2)
    smoke = dataclasses.replace(smoke, rollout=rollout)
    # What the learner holds, what waits for it, and what is in the making.
    num_fragments = (1 + 2 + 1) * smoke.ppo.fragments_per_batch + 4
    needed = num_fragments * fragment_bytes(smoke, make_policy(smoke))
    monkeypatch.setattr(machine, "object_store_bytes", lambda: int(needed / 0.61))
    finding = _finding(smoke, "object store")
    assert finding.status == "bad"
    assert finding.remedy.startswith("mcrl train smoke --rollout.envs-per-worker")
    monkeypatch.setattr(machine, "object_store_bytes", lambda: int(needed / 0.59))
    assert _finding(smoke, "object store").status == "ok"


def test_missing_system_libraries_name_the_apt_command(smoke, monkeypatch):
    def fail(name):
        raise ImportError("libGL.so.1: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(machine.importlib, "import_module", fail)
    finding = _finding(smoke, "opencv")
    assert (finding.status, finding.remedy) == ("bad", "apt-get install -y libgl1 libglib2.0-0")


@pytest.mark.parametrize(
    ("mode", "key", "status", "found"),
    [
        ("disabled", "", "ok", "goes by WANDB_MODE=disabled"),
        ("offline", "", "ok", "goes by WANDB_MODE=offline"),
        ("online", "secret", "ok", "logged in by WANDB_API_KEY"),
        ("online", "", "note", "not logged in, as WANDB_MODE=online wants: runs are not logged there"),
        ("ofline", "secret", "note", "WANDB_MODE=ofline is none of its modes"),
        ("auto", "", "note", "not logged in: runs are logged offline"),
    ],
)
def test_wandb_is_what_its_own_variable_says(smoke, monkeypatch, tmp_path, mode, key, status, found):
    pytest.importorskip("wandb", reason="what is not installed is bad whatever the variable says")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("WANDB_MODE", mode)
    monkeypatch.setenv("WANDB_API_KEY", key)
    finding = _finding(smoke, "wandb")
    assert finding.status == status
    assert found in finding.found


def test_the_engines_are_listed_and_nothing_is_examined(capsys, monkeypatch):
    monkeypatch.setattr(machine, "examine", None)
    assert main(["doctor", "--engines"]) == 0
    assert "luanti" in capsys.readouterr().out


def test_exit_code_1_when_something_must_be_mended(monkeypatch, capsys):
    monkeypatch.setattr(machine, "object_store_bytes", lambda: 1)
    assert main(["doctor", "--recipe", "laptop"]) == 1
    assert "object store: mcrl train laptop" in capsys.readouterr().out


def test_a_gpu_that_emulates_bf16_is_said_to_have_none_and_a_recipe_on_the_cpu_is_told_of_the_cpu(smoke, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.current_device", lambda: 0)
    monkeypatch.setattr("torch.cuda.is_bf16_supported", lambda including_emulation=True: including_emulation)
    finding = machine._bf16(dataclasses.replace(smoke, device="cuda"))
    assert (finding.status, finding.found) == ("note", "not in hardware, cuda:0; precision auto computes in fp32 here")
    assert ", cpu" in machine._bf16(dataclasses.replace(smoke, device="cpu")).found


def test_a_recipe_that_acts_and_learns_in_one_process_needs_no_object_store(smoke, monkeypatch):
    monkeypatch.setattr(machine, "object_store_bytes", lambda: 1)
    assert smoke.rollout.placement == "inline"
    assert _finding(smoke, "object store").status == "ok"
