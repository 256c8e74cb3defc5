"""Weights whose every value says their version, a pusher that never pauses, and a watcher that acts with them."""

import time
from dataclasses import dataclass

import torch
from torch import nn

from mcrl.dataflow.delayed_update import DelayedUpdate
from mcrl.dataflow.param_store import ParamStore
from mcrl.dataflow.params import ParamLayout, ParamSnapshot


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


def push(store: ParamStore, seconds: float, first_version: int = 0) -> int:
    """Publish as fast as the store takes it; return the last version."""
    end_s, version = time.monotonic() + seconds, first_version
    while time.monotonic() < end_s:
        store.publish(snapshot(version))
        version += 1
    return version - 1


@dataclass
class Watched:
    num_swaps: int
    num_ticks: int
    num_torn: int  # ticks whose weights were not those of the swapped version from begin to end
    num_backwards: int  # swaps to a version that is not newer
    last_version: int


def watch(net: nn.Module, update: DelayedUpdate, last_version: int | None, timeout_s: float) -> Watched:
    """Act in ticks until the weights say `last_version` (None: until the time is up), looking twice in every tick."""
    watched = Watched(num_swaps=0, num_ticks=0, num_torn=0, num_backwards=0, last_version=-1)
    end_s = time.monotonic() + timeout_s
    while time.monotonic() < end_s and watched.last_version != last_version:
        update.wait(0.0 if watched.num_swaps else 1.0)  # the nets of these tests begin with no version
        header = update.swap()
        if header is not None:
            watched.num_swaps += 1
            watched.num_backwards += header.version <= watched.last_version
            watched.last_version = header.version
        if watched.last_version < 0:
            continue
        expected = {float(watched.last_version)}
        is_torn = versions_in(net) != expected
        time.sleep(0.001)  # a tick; meanwhile newer weights arrive
        watched.num_torn += is_torn or versions_in(net) != expected
        watched.num_ticks += 1
    return watched
