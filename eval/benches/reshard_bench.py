"""From training shards to acting shards on real gloo processes: bytes, memory, time, and the formulas beside them."""

import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor

from eval.benches.throughput import Measurement, measured
from mcrl.dataflow.resharding.acting_shards import act_with_shards
from mcrl.dataflow.resharding.gather import Reshard, acting_mesh
from mcrl.dataflow.resharding.plan import Grouping, ReshardPlan
from mcrl.learning.fsdp import shard_policy
from policies import action_codec
from policies.interface import Policy
from policies.presets import PRESETS, build_policy
from policies.threads import use_threads

NUM_RANKS = 4
CASES: tuple[tuple[int, Grouping], ...] = ((2, "nested"), (2, "naive"), (1, "nested"))


@dataclass(frozen=True, kw_only=True, slots=True)
class ReshardSample:
    """One change of shards, as one rank saw it."""

    padded_bytes: int
    received_bytes: int
    held_bytes: int
    resident_bytes: int  # by how much the process grew at most, the transport's own copies included
    extra_bytes: int  # received for what does not stay split
    gather_s: float
    logit_difference: float  # the largest, acting shards against the whole policy
    is_round_trip_exact: bool


class ReshardRank:
    """One of the processes."""

    def __init__(self, rank: int, num_ranks: int, port: int) -> None:
        use_threads(1)
        self._rank = rank
        store = dist.TCPStore("127.0.0.1", port, None, False, timedelta(seconds=120))
        dist.init_process_group("gloo", store=store, rank=rank, world_size=num_ranks)

    def measure(self, preset: str, num_acting_shards: int, grouping: Grouping, seed: int) -> ReshardSample:
        """Shard the preset's policy as FSDP2's learners do, gather its acting shards and act with them."""
        policy = build_policy(PRESETS[preset](), seed).eval()
        shapes = {name: tuple(parameter.shape) for name, parameter in policy.named_parameters()}
        plan = ReshardPlan(
            shapes=shapes,
            num_train_shards=dist.get_world_size(),
            num_acting_shards=num_acting_shards,
            grouping=grouping,
        )
        mesh = acting_mesh("cpu", plan)
        train_mesh = mesh._flatten("train")
        with torch.no_grad():
            before = _logits(policy)
            shard_policy(policy, train_mesh)
            local = {name: _local(parameter) for name, parameter in policy.named_parameters()}
            dist.barrier()
            resident_bytes = _reset_peak()
            reshard = Reshard(plan, mesh, rank=self._rank)
            reshard.take_train_shards(local)
            begin_s = time.perf_counter()
            reshard.gather()
            gather_s = time.perf_counter() - begin_s
            resident_bytes = _status_bytes("VmHWM") - resident_bytes
            acting = build_policy(PRESETS[preset](), seed + 1).eval()
            extra_bytes = act_with_shards(acting, reshard, mesh)
            difference = float((_logits(acting) - before).abs().max())
        return ReshardSample(
            padded_bytes=plan.padded_bytes(),
            received_bytes=reshard.num_bytes_received,
            held_bytes=reshard.num_bytes_held,
            resident_bytes=resident_bytes,
            extra_bytes=extra_bytes,
            gather_s=gather_s,
            logit_difference=difference,
            is_round_trip_exact=all(torch.equal(reshard.train_shard(name), shard) for name, shard in local.items()),
        )


def _local(parameter: torch.Tensor) -> torch.Tensor:
    assert isinstance(parameter, DTensor)
    return parameter.to_local().detach()


def bench_reshard(*, repeats: int, seed: int, presets: tuple[str, ...] = ("small", "base")) -> list[Measurement]:
    """Measure what every rank receives and holds over `NUM_RANKS` processes, all cases in turns."""
    from mcrl.dataflow.ray import runtime
    from mcrl.dataflow.ray.remote_object import RemoteObject

    samples: dict[tuple[str, int, Grouping], list[list[ReshardSample]]] = {}
    with ExitStack() as stack:
        if runtime.start(num_workers=1, object_store_bytes=0):
            stack.callback(runtime.stop)
        server = dist.TCPStore("127.0.0.1", 0, None, True, timedelta(seconds=120), wait_for_workers=False)
        ranks = [RemoteObject(ReshardRank, rank, NUM_RANKS, server.port) for rank in range(NUM_RANKS)]
        for process in ranks:
            stack.callback(process.close)
        for _ in range(repeats):
            for preset in presets:
                for case in CASES:
                    waiting: list[Callable[[], Any]] = [
                        process.call("measure", preset, *case, seed) for process in ranks
                    ]
                    samples.setdefault((preset, *case), []).append([wait() for wait in waiting])
    return [_measurement(*case, runs) for case, runs in samples.items()]


def _measurement(
    preset: str, num_acting_shards: int, grouping: Grouping, runs: list[list[ReshardSample]]
) -> Measurement:
    all_samples = [sample for run in runs for sample in run]
    padded_bytes, t, t_g = all_samples[0].padded_bytes, NUM_RANKS, num_acting_shards
    formula = (t - t_g) / (t_g * t) if grouping == "nested" else (t - 1) / t
    fields: dict[str, str | int | float] = {
        "preset": preset,
        "t": t,
        "t_g": t_g,
        "grouping": grouping,
        "formula": formula,
        "padded_mb": round(padded_bytes / 1e6, 3),
        "held": max(sample.held_bytes for sample in all_samples) / padded_bytes,
        "held_formula": 1 / t_g if grouping == "nested" else 1.0,
        "resident_growth": round(statistics.median(s.resident_bytes for s in all_samples) / padded_bytes, 2),
        "extra": round(max(sample.extra_bytes for sample in all_samples) / padded_bytes, 4),
        "gather_ms": round(1000 * statistics.median(max(s.gather_s for s in run) for run in runs), 1),
        "logit_difference": max(sample.logit_difference for sample in all_samples),
        "round_trip": "exact" if all(sample.is_round_trip_exact for sample in all_samples) else "NOT EXACT",
    }
    received = [sample.received_bytes / padded_bytes for sample in all_samples]
    return measured("received_over_padded", "M", received, fields)


def _logits(policy: Policy) -> torch.Tensor:
    """Return the logits of made-up steps."""
    generator, side_px = torch.Generator().manual_seed(0), policy.image_px
    image_BTHWC = torch.randint(0, 256, (2, 4, side_px, side_px, 3), generator=generator, dtype=torch.uint8)
    mask_GHW = torch.zeros(2, side_px, side_px, dtype=torch.bool)
    mask_GHW[:, side_px // 4 : side_px // 2, side_px // 4 : side_px // 2] = True
    first_BT = torch.zeros(2, 4, dtype=torch.bool)
    first_BT[:, 0] = True
    return policy.evaluate(
        image_BTHWC,
        policy.encode_goals(image_BTHWC[:, 0], mask_GHW, torch.tensor([2, 6])),
        torch.arange(2).unsqueeze(1).expand(2, 4),
        first_BT,
        torch.zeros(2, 4, len(action_codec.FACTORS), dtype=torch.int64),
        policy.initial_memory(2),
    ).logits_BTL


def _reset_peak() -> int:
    """Let the kernel measure this process's peak anew and return its resident bytes now."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _status_bytes("VmRSS")


def _status_bytes(field: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))
