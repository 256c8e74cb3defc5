"""Claims about how a process is told which cluster of Ray to use."""

import dataclasses
import os

import pytest

from mcrl.config import RolloutConfig
from mcrl.dataflow.ray.address import ADDRESS_VARIABLE, choose_cluster, cluster_of, token_file
from mcrl.recipes import smoke


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for name in (ADDRESS_VARIABLE, "RAY_AUTH_MODE"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))


def test_a_cluster_is_shown_the_token_where_there_is_one():
    token_file().parent.mkdir()
    token_file().write_text("secret")
    choose_cluster("192.0.2.1:6379")
    assert (os.environ[ADDRESS_VARIABLE], os.environ["RAY_AUTH_MODE"]) == ("192.0.2.1:6379", "token")


def test_an_address_without_a_port_is_refused_and_the_words_of_ray_are_not():
    with pytest.raises(ValueError, match=r"192\.0\.2\.1: no port; give HOST:PORT"):
        choose_cluster("192.0.2.1")
    choose_cluster("auto")


def test_a_run_is_on_the_cluster_of_the_environment_only_where_it_has_workers_there(monkeypatch):
    acts_here = smoke()
    acts_there = dataclasses.replace(acts_here, rollout=RolloutConfig(placement="ray", envs_per_worker=16))
    clones_only = dataclasses.replace(acts_there, ppo=dataclasses.replace(acts_there.ppo, num_iterations=0))
    assert cluster_of(acts_there) == ""
    monkeypatch.setenv(ADDRESS_VARIABLE, "192.0.2.1:6379")
    assert [cluster_of(config) for config in (acts_there, acts_here, clones_only)] == ["192.0.2.1:6379", "", ""]


def test_a_token_that_was_cut_to_nothing_is_refused():
    token_file().parent.mkdir()
    token_file().write_text("\n")
    with pytest.raises(ValueError, match="auth_token: is empty; copy the file of the cluster's head here again"):
        choose_cluster("192.0.2.1:6379")


def test_what_the_user_has_set_stays(monkeypatch):
    token_file().parent.mkdir()
    token_file().write_text("secret")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    choose_cluster("192.0.2.1:6379")
    assert os.environ["RAY_AUTH_MODE"] == "disabled"


def test_without_a_token_ray_is_left_alone():
    choose_cluster("192.0.2.1:6379")
    assert "RAY_AUTH_MODE" not in os.environ
