"""Weights whose every value says their version, a pusher that never pauses, and a watcher that acts with them."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from mcrl.dataflow.weights.delayed_update import DelayedUpdate
from mcrl.dataflow.weights.param_store import ParamStore
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.dataflow.weights.snapshot import ParamSnapshot


def make_net(version: int = 0, width: int = 300) -> nn.Module:
    """A net whose trainable values are all `version`; its last layer is frozen and does not travel."""
    net = nn.Sequential(nn.Linear(width, width), nn.Linear(width, 7), nn.Linear(7, 1))
    net[2].requires_grad_(False)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.fill_(float(version) if parameter.requires_grad else 0.5)
    return net


def snapshot(version: int, width: int = 300) -> ParamSnapshot:
    net = make_net(version, width)
    return ParamLayout(net).snapshot(net, version, task_statistics={"version": version})


def versions_in(net: nn.Module) -> set[float]:
    """What the values say; one version, unless the weights are torn."""
    return {float(value) for p in net.parameters() if p.requires_grad for value in (p.detach().min(), p.detach().max())}


def push(store: ParamStore, is_over: Callable[[], bool], timeout_s: float = 60.0) -> int:
    """Publish as fast as the store takes it until it is over; return the last version."""
    end_s, version = time.monotonic() + timeout_s, -1
    while time.monotonic() < end_s and not is_over():
        version += 1
        store.publish(snapshot(version))
    return version


@dataclass
class Watched:
    num_swaps: int
    num_ticks: int
    num_torn: int  # ticks whose weights were not those of the swapped version from begin to end
    num_backwards: int  # swaps to a version that is not newer
    last_version: int


def watch(
    net: nn.Module,
    update: DelayedUpdate,
    *,
    last_version: int | None = None,
    seconds: float = 0.0,
    num_swaps: int = 0,
    timeout_s: float = 40.0,
) -> Watched:
    """Act in ticks, looking twice in each, until `last_version`, or so many swaps and seconds after the first."""
    acting_with = int(max(versions_in(net)))  # -1 where no weights came yet
    watched = Watched(num_swaps=0, num_ticks=0, num_torn=0, num_backwards=0, last_version=acting_with)
    end_s, least_s = time.monotonic() + timeout_s, float("inf")
    while time.monotonic() < end_s:
        header = update.swap()
        if header is not None:
            if watched.num_swaps == 0:
                least_s = time.monotonic() + seconds
            watched.num_swaps += 1
            watched.num_backwards += header.version <= watched.last_version
            watched.last_version = header.version
        if watched.last_version < 0:
            update.wait(0.1)
            continue
        expected = {float(watched.last_version)}
        is_torn = versions_in(net) != expected
        time.sleep(0.001)  # a tick; meanwhile newer weights arrive
        watched.num_torn += is_torn or versions_in(net) != expected
        watched.num_ticks += 1
        is_over = time.monotonic() >= least_s and watched.num_swaps >= num_swaps
        if watched.last_version == last_version or (last_version is None and is_over):
            break
    return watched
