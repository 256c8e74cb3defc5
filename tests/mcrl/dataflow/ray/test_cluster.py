"""Claims about a run on a Ray cluster that runs already, and about the files that describe one."""

import dataclasses
import json
import re
from pathlib import Path

import pytest
import yaml

from tests.mcrl.training.training_runs import LONGEST_WAIT_S, run_command

CLUSTER_FILES = Path(__file__).parents[4] / "mcrl" / "cluster"


def test_the_cluster_file_is_one_that_ray_accepts():
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema, which Ray checks with, is not installed")
    ray_schema = Path(pytest.importorskip("ray").__file__).parent / "autoscaler" / "ray-schema.json"
    config = yaml.safe_load((CLUSTER_FILES / "on_premise.yaml").read_text())
    problems = jsonschema.Draft7Validator(json.loads(ray_schema.read_text())).iter_errors(config)
    assert [problem.message for problem in problems] == []
    assert len(config["provider"]["worker_ips"]) == config["max_workers"]


def test_the_example_of_a_job_names_options_that_exist():
    from mcrl.commands.options import option_names
    from mcrl.commands.training.recipe_names import recipe_config
    from mcrl.config import TrainConfig

    known = {*option_names(TrainConfig, recipe_config("laptop")), "--placement", "--ray-address"}
    commands = re.findall(r"mcrl train (.*(?:\\\n#.*)?)", (CLUSTER_FILES / "on_premise.yaml").read_text())
    assert commands
    for command in commands:
        assert set(re.findall(r"--[a-z][a-z.-]*", command)) <= known


def test_the_configuration_of_prometheus_can_be_read():
    config = yaml.safe_load((CLUSTER_FILES / "prometheus.yaml").read_text())
    assert config["scrape_configs"][0]["file_sd_configs"]


class AskedError(Exception):
    """Raised in place of a start of Ray."""


def test_what_is_asked_of_a_cluster_before_hours_of_training_is_what_ppo_asks_of_it_after_them(monkeypatch):
    pytest.importorskip("ray")
    from mcrl.assembly import make_policy
    from mcrl.commands.training.before_hours import check_before_hours
    from mcrl.config import RolloutConfig
    from mcrl.dataflow.flow import FlowLimits
    from mcrl.dataflow.ray import runtime
    from mcrl.dataflow.ray.source import RaySource
    from mcrl.fragment_size import fragment_bytes
    from mcrl.recipes import smoke

    asked = []

    def start(**sizes):
        asked.append(sizes)
        raise AskedError

    monkeypatch.setattr(runtime, "start", start)
    monkeypatch.setenv("RAY_ADDRESS", "auto")  # and what it is set to ends with the test
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    config = dataclasses.replace(smoke(), rollout=RolloutConfig(placement="ray", envs_per_worker=4, max_staleness=2))
    with pytest.raises(AskedError):
        check_before_hours(config, wants_report=False, ray_address="auto")
    limits = FlowLimits(num_workers=1, envs_per_worker=4, fragments_per_batch=16, max_staleness=2)
    with pytest.raises(AskedError):
        RaySource(lambda *_: None, limits, fragment_bytes=fragment_bytes(config, make_policy(config)))
    assert asked[0] == asked[1]


@pytest.mark.ray
@pytest.mark.usefixtures("ray_session")
class TestChecks:
    """The Ray of all tests has 8 CPUs and 0.12 GiB of object store."""

    def test_a_cluster_that_is_large_enough_and_has_our_code_is_accepted(self):
        from mcrl.dataflow.ray.cluster import check_cluster

        check_cluster("here", num_workers=8, object_store_bytes=2**26)

    @pytest.mark.parametrize(
        ("num_workers", "object_store_bytes", "expected"),
        [
            (9, 2**26, "the cluster has 8 CPUs, 9 rollout workers need one each; add a node"),
            (8, 2**30, "object store has 0.12 GiB, the run needs 1.00"),
        ],
    )
    def test_what_a_cluster_lacks_is_one_sentence(self, num_workers, object_store_bytes, expected):
        from mcrl.dataflow.ray.cluster import check_cluster

        with pytest.raises(ValueError, match=expected) as caught:
            check_cluster("here", num_workers=num_workers, object_store_bytes=object_store_bytes)
        assert "--ray-address here: " in str(caught.value)


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("is_option", [True, False], ids=["--ray-address", "RAY_ADDRESS"])
def test_nobody_at_the_address_is_one_sentence_before_anything_else_is_done(tmp_path, monkeypatch, is_option):
    run_dir = tmp_path / "run"
    command = ["train", "smoke", "--run-dir", str(run_dir), "--placement", "ray"]
    if is_option:
        command += ["--ray-address", "127.0.0.1:1"]
    else:
        monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    process = run_command(*command)
    output, _ = process.communicate(timeout=LONGEST_WAIT_S)
    assert process.returncode == 2, output
    assert "no Ray cluster answers there" in output
    assert not run_dir.exists()
