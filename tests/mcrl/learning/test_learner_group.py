"""Several learners do what one does, and outlive each other. Here they are threads: the processes are drilled apart."""

import dataclasses
import os
import threading
import time
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.distributed as dist
from hypothesis import given
from hypothesis import strategies as st

from mcrl.config import LearnerConfig
from mcrl.learning.group import LearnerGroup, LearnerLostError, Message
from mcrl.learning.helper_processes import _loopback_store
from mcrl.learning.lead import Helper
from mcrl.learning.learner import NonFiniteLossError
from mcrl.learning.lesson import split_evenly
from mcrl.settings.ppo_config import Loss
from tests.mcrl.corridor_policy import CorridorPolicy
from tests.mcrl.learning.corridor_learner import CONFIG, make_learner, make_worker

LOSSES = typing.get_args(Loss)
NUM_FRAGMENTS, NUM_UPDATES, TIMEOUT_S = 7, 8, 60.0

# Everything that has a mean over the batch or a memory of batches before, and minibatches of 3, 3 and 1 fragments.
CROWDED = dataclasses.replace(
    CONFIG,
    fragments_per_batch=NUM_FRAGMENTS,
    minibatch_sequences=3,
    num_epochs=2,
    learning_rate=3e-3,
    value_warmup_iterations=1,
    value_normalisation=True,
    duration_weighting="linear",
    kl_target=0.01,
    max_grad_norm=0.1,
)


@pytest.fixture(scope="module")
def batches():
    """Fragments of an older policy; in some no step is valid, in most a few are not."""
    rng = np.random.default_rng(0)
    worker = make_worker(CorridorPolicy(), num_envs=NUM_FRAGMENTS, reference=CorridorPolicy(3))
    batches = [worker.collect() for _ in range(NUM_UPDATES)]
    for fragments in batches:
        for index, fragment in enumerate(fragments):
            fragment.is_valid_T[:] &= (rng.random(8) < 0.8) & (index != 2)
            fragment.step_s_G = np.full(len(fragment.goals), 0.1 * (1 + index), np.float32)
    return batches


def serving(config, helpers, learner=None) -> Callable[[LearnerGroup], None]:
    def serve(group: LearnerGroup) -> None:
        # Other weights than the leader's: it must take over those.
        policy = CorridorPolicy(17)
        helpers.append(policy)
        Helper(policy, config, learner or LearnerConfig(), group, precision="fp32").serve()

    return serve


@contextmanager
def led(*members: Callable[[LearnerGroup], None], timeout_s: float = TIMEOUT_S) -> Iterator[LearnerGroup]:
    """A leader's end of a group; the other ends do what `members` say, and then close."""
    store, size = dist.HashStore(), 1 + len(members)

    def run(rank: int) -> None:
        group = LearnerGroup(store, rank=rank, size=size, timeout_s=TIMEOUT_S)
        with suppress(LearnerLostError):
            members[rank - 1](group)
        group.close()

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(1, size)]
    for thread in threads:
        thread.start()
    group = LearnerGroup(store, rank=0, size=size, timeout_s=timeout_s)
    try:
        yield group
    finally:
        group.close()
        for thread in threads:
            thread.join(TIMEOUT_S)
            assert not thread.is_alive(), "a helper outlived its leader"


def trace_of(learner, batches):
    return [learner.update(fragments) for fragments in batches]


def assert_equal_traces(got, wanted):
    assert [row.keys() for row in got] == [row.keys() for row in wanted]
    for row, wanted_row in zip(got, wanted, strict=True):
        assert row == pytest.approx(wanted_row, rel=1e-4, abs=2e-6)


@pytest.mark.parametrize(
    ("loss", "size"),
    [
        *((loss, 2) for loss in LOSSES),
        *(pytest.param(loss, 3, marks=pytest.mark.slow) for loss in ("ppo_clip", "vtrace")),
    ],
)
def test_any_number_of_learners_gives_the_trace_of_one(loss, size, batches):
    config = dataclasses.replace(CROWDED, loss=loss)
    if loss == "vtrace":
        # With the fragments' own weights every ratio is 1 up to rounding, and the share that is cut at 1 is noise.
        config = dataclasses.replace(config, vtrace_rho_bar=1.2)
    alone = make_learner(CorridorPolicy(), config)
    wanted = trace_of(alone, batches)
    helpers: list[CorridorPolicy] = []
    learner = make_learner(CorridorPolicy(), config)
    with led(*[serving(config, helpers)] * (size - 1)) as group:
        learner.lead(group)
        got = trace_of(learner, batches)
        assert learner.num_processes == size
    assert_equal_traces(got, wanted)
    assert wanted[-1]["loss"] != pytest.approx(wanted[1]["loss"], rel=1e-2)  # there was something to follow
    for helper in helpers:
        for name, tensor in learner.policy.state_dict().items():
            assert torch.equal(tensor, helper.state_dict()[name]), f"{name} drifted apart"


@pytest.mark.parametrize("loss", ["ppo_clip", "vtrace"])
@pytest.mark.parametrize("num_messages", [0, 1, 2])
def test_a_learner_that_dies_costs_no_step_and_changes_no_result(loss, num_messages, batches):
    """It dies before the weights, after them, or when it has its share: the leader finishes the update alone."""
    config = dataclasses.replace(CROWDED, loss=loss)

    def dying(group: LearnerGroup) -> None:
        for _ in range(num_messages):
            group.receive()

    alone, learner = make_learner(CorridorPolicy(), config), make_learner(CorridorPolicy(), config)
    with led(dying) as group:
        try:
            learner.lead(group)
        except LearnerLostError:
            assert num_messages == 0
        got = trace_of(learner, batches[:2])
        assert learner.num_processes == 1
    assert_equal_traces(got, trace_of(alone, batches[:2]))


def test_nobody_waits_longer_than_the_time_out_for_a_silent_learner(batches):
    is_over = threading.Event()

    def silent(group: LearnerGroup) -> None:
        group.receive()
        group.receive()
        is_over.wait(TIMEOUT_S)

    learner = make_learner(CorridorPolicy(), CROWDED)
    with led(silent, timeout_s=1.0) as group:
        learner.lead(group)
        begin_s = time.monotonic()
        learner.update(batches[0])
        waited_s = time.monotonic() - begin_s
        is_over.set()
    assert learner.num_processes == 1
    assert 1.0 <= waited_s < 30.0


def test_a_learner_that_is_asked_to_stop_stops_all_after_the_same_update(batches):
    ends: list[LearnerGroup] = []
    helpers: list[CorridorPolicy] = []

    def serve(group: LearnerGroup) -> None:
        ends.append(group)
        serving(CROWDED, helpers)(group)

    learner = make_learner(CorridorPolicy(), CROWDED)
    with led(serve, serve) as group:
        learner.lead(group)
        learner.update(batches[0])
        assert not learner.is_stop_wished
        ends[0].wish_stop()
        learner.update(batches[1])
        assert learner.is_stop_wished
    assert all(end.is_stop_wished for end in ends)


def test_a_nan_loss_stops_all_learners_and_the_whole_batch_is_saved(batches, tmp_path):
    fragments = [dataclasses.replace(f, reward_T=np.full(8, np.nan, np.float32)) for f in batches[0]]
    helpers: list[CorridorPolicy] = []
    learner = make_learner(CorridorPolicy(), CROWDED, crash_dir=tmp_path)
    before = {name: tensor.clone() for name, tensor in learner.policy.state_dict().items()}
    with led(serving(CROWDED, helpers)) as group:
        learner.lead(group)
        with pytest.raises(NonFiniteLossError, match=r"iteration 1; .*nan_batch_000001.npz"):
            learner.update(fragments)
    with np.load(tmp_path / "nan_batch_000001.npz") as saved:
        assert saved["reward_BT"].shape == (3, 8)
    for policy in (learner.policy, *helpers):
        assert all(torch.equal(tensor, before[name]) for name, tensor in policy.state_dict().items())


def test_a_message_arrives_as_it_was_sent():
    tensors = {
        "scalar": torch.tensor(3.5),
        "bits": torch.tensor([[True, False]]),
        "nothing": torch.zeros(0, 4, dtype=torch.int64),
        "half": torch.randn(3, 2).to(torch.bfloat16),
        "turned": torch.arange(6).reshape(2, 3).T,
    }
    sent = Message(kind="echo", numbers={"a": 0.1, "b": [1, 2], "c": True}, tensors=tensors)

    def echo(group: LearnerGroup) -> None:
        group.send(group.receive(), to=0)

    with led(echo) as group:
        group.send(sent, to=1)
        got = group.receive(sender=1)
    assert (got.kind, got.numbers) == (sent.kind, sent.numbers)
    for name, tensor in tensors.items():
        assert got.tensors[name].dtype == tensor.dtype
        assert torch.equal(got.tensors[name], tensor)


@given(num_rows=st.integers(0, 200), num_parts=st.integers(1, 20))
def test_rows_are_split_without_gap_or_overlap_and_evenly(num_rows, num_parts):
    parts = split_evenly(num_rows, num_parts)
    assert [row for part in parts for row in part] == list(range(num_rows))
    lengths = [len(part) for part in parts]
    assert len(parts) == num_parts
    assert max(lengths) - min(lengths) <= 1


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux tells who listens where")
def test_nobody_on_another_machine_can_reach_a_group():
    before = listening()
    store = _loopback_store()
    with led(lambda group: group.receive()) as group:
        opened = listening() - before
        group.send(Message(kind="enough"), to=1)
    assert len(opened) == 3  # the store, and both ends
    assert {address.rpartition(":")[0] for address in opened} == {"0100007F"}
    assert store.port in {int(address.rpartition(":")[2], 16) for address in opened}


def listening() -> set[str]:
    """Addresses, in hexadecimal, at which this process listens."""
    links = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if _is_open(fd)]
    inodes = {link.removeprefix("socket:[")[:-1] for link in links if link.startswith("socket:[")}
    lines = [
        line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
    ]
    return {line[1] for line in lines if line[3] == "0A" and line[9] in inodes}


def _is_open(fd: str) -> bool:
    return Path(f"/proc/self/fd/{fd}").is_symlink()
