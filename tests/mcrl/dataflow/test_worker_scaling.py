"""A run's wish for more workers, or fewer, between the command that states it and the source that hears it."""

import dataclasses
import json
import logging

import pytest

from mcrl.cli import main
from mcrl.config import RolloutConfig, TrainConfig, to_json
from mcrl.dataflow.local import LocalSource
from mcrl.worker_scaling import FILE_NAME, WorkerScaling, read_request, request
from tests.mcrl.dataflow.corridor_source import limits, make_factory


class Heard(LocalSource):
    """A source that hears how many workers are wanted."""

    def __init__(self):
        super().__init__(make_factory(), limits())
        self.num_workers = []

    def set_num_workers(self, num_workers):
        if num_workers > 4:
            raise ValueError("no CPUs left")
        self.num_workers.append(num_workers)


def make_run(tmp_path, placement="ray", **rollout):
    config = dataclasses.replace(TrainConfig(recipe="laptop"), rollout=RolloutConfig(placement=placement, **rollout))
    (tmp_path / "config.json").write_text(to_json(config))
    return str(tmp_path)


def test_a_run_follows_each_request_once_and_a_continued_one_the_last(tmp_path):
    source = Heard()
    scaling = WorkerScaling(tmp_path)
    scaling.follow(source)
    assert source.num_workers == []
    request(tmp_path, 3)
    scaling.follow(source)
    scaling.follow(source)
    assert source.num_workers == [3]
    WorkerScaling(tmp_path).follow(source)
    assert source.num_workers == [3, 3]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        '{"num_workers": 0}',
        '{"num_workers": true}',
        '{"num_workers": "2"}',
        '{"workers": 2}',
        "\xff",
        "[" * 200_000,
        "9" * 5000,
    ],
    ids=lambda text: text[:20],
)
def test_a_request_that_is_none_is_said_and_the_run_goes_on(tmp_path, caplog, text):
    (tmp_path / FILE_NAME).write_text(text, encoding="latin-1")
    source = Heard()
    with caplog.at_level(logging.WARNING):
        WorkerScaling(tmp_path).follow(source)
    assert source.num_workers == []
    assert FILE_NAME in caplog.text
    with pytest.raises(ValueError, match=FILE_NAME):
        read_request(tmp_path / FILE_NAME)


def test_a_request_that_the_source_refuses_leaves_the_run_as_it_is(tmp_path, caplog):
    request(tmp_path, 5)
    WorkerScaling(tmp_path).follow(Heard())
    WorkerScaling(tmp_path).follow(LocalSource(make_factory(), limits()))
    assert "no CPUs left" in caplog.text
    assert "a LocalSource do not come and go" in caplog.text


@pytest.mark.parametrize("placement", ["ray", "split"])
def test_the_command_writes_what_the_run_reads_and_refuses_workers_that_none_could_keep_busy(
    tmp_path, capsys, placement
):
    run = make_run(tmp_path, placement, max_staleness=2)
    assert main(["scale", run, "--num-workers", "3"]) == 0
    assert json.loads((tmp_path / FILE_NAME).read_text()) == {"num_workers": 3}
    printed = capsys.readouterr().out
    assert f"3 rollout workers once `mcrl train --resume {tmp_path}` goes on" in printed  # no process trains it
    assert main(["scale", run, "--num-workers", "100000"]) == 2
    assert "--num-workers 100000: no more than 3 can be busy" in capsys.readouterr().err
    assert json.loads((tmp_path / FILE_NAME).read_text()) == {"num_workers": 3}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--num-workers", "0"], "--num-workers must be a whole number from 1"),
        (["--num-workers", "two"], "mcrl scale"),
        ([], "num-workers"),
    ],
)
def test_a_number_that_is_none_is_refused(tmp_path, capsys, args, message):
    assert main(["scale", make_run(tmp_path), *args]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / FILE_NAME).exists()


def test_a_folder_without_a_run_and_a_run_in_one_process_are_refused(tmp_path, capsys):
    assert main(["scale", str(tmp_path), "--num-workers", "2"]) == 2
    assert "config.json is missing" in capsys.readouterr().err
    assert main(["scale", make_run(tmp_path, "inline"), "--num-workers", "2"]) == 2
    assert "take turns in one process" in capsys.readouterr().err


def test_a_run_that_begins_with_workers_that_could_only_wait_says_so(tmp_path, capsys):
    more = ["train", "smoke", "--placement", "ray", "--run-dir", str(tmp_path / "run"), "--report-suite", "none"]
    for num_workers, said in ((2, True), (1, False)):
        assert main([*more, "--rollout.num-workers", str(num_workers)]) == 2  # nothing is to be trained here
        assert (f"num_workers {num_workers}: no more than 1 can be busy" in capsys.readouterr().err) == said
