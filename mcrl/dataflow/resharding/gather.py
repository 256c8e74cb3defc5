"""From the training shards of a learner to the acting shards of a policy, over torch.distributed. R rows."""

from collections.abc import Mapping

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from mcrl.dataflow.resharding.plan import ReshardPlan


def acting_mesh(device_type: str, plan: ReshardPlan) -> DeviceMesh:
    """Return the ranks of the plan as a mesh of "acting_shard", who make up a policy, by "micro_dp", who share a shard.

    Collective: every rank of the default process group calls it.
    """
    names, sizes = ("acting_shard", "micro_dp"), (plan.num_acting_shards, plan.micro_dp_size)
    if plan.grouping == "naive":
        names, sizes = ("micro_dp", "acting_shard"), (plan.micro_dp_size, plan.num_acting_shards)
    return init_device_mesh(device_type, sizes, mesh_dim_names=names)


def all_gather(whole_R: Tensor, own_R: Tensor, group: dist.ProcessGroup | None) -> None:
    """Fill `whole_R` with the `own_R` of all ranks in turn; `own_R` may be this rank's place in it."""
    # Its name from 2.13 on, where the older one warns.
    gather = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor
    gather(whole_R.view(-1), own_R.view(-1), group=group)


class Reshard:
    """One rank's weights, in one buffer that holds its training shard inside its acting shard.

    Nothing is kept twice: the gather writes around the training shard, which lies where acting wants it. Tensors are
    laid out one behind the other, so every tensor of the acting shard is contiguous and used in place. An FSDP2 learner
    keeps its shards in storage of its own, one more M / t beside this buffer.
    """

    def __init__(self, plan: ReshardPlan, mesh: DeviceMesh, *, rank: int) -> None:
        """Make the buffer of `rank`; `mesh` is that of `acting_mesh`. The naive grouping gathers over all ranks."""
        self.plan = plan
        self.rank = rank
        self.num_bytes_received = 0
        """By all gathers so far, without what was here already."""
        self._group = mesh.get_group("micro_dp") if plan.grouping == "nested" else dist.group.WORLD
        num_values = plan.peak_bytes() // 4
        self._flat = torch.zeros(num_values, device=mesh.device_type)
        self._gathered: dict[str, Tensor] = {}
        start = 0
        for name in plan.shapes:
            rows = plan.gathered_rows(name, rank)
            size = len(rows) * plan.row_values(name)
            self._gathered[name] = self._flat[start : start + size].view(len(rows), *plan.shapes[name][1:])
            start += size

    @property
    def num_bytes_held(self) -> int:
        """Return the bytes of weights in this rank's buffer."""
        return self._flat.nbytes

    def take_train_shards(self, local: Mapping[str, Tensor]) -> None:
        """Copy this rank's training shards in: of a DTensor what `to_local()` gives, by the names of the parameters."""
        for name in self.plan.shapes:
            self.train_shard(name).copy_(local[name].detach())

    def gather(self) -> None:
        """Complete the acting shard. Collective; one gather a tensor, in place."""
        for name in self.plan.shapes:
            whole_R = self._gathered[name]
            own_R = self._rows(name, self.plan.train_rows(name, self.rank))
            all_gather(whole_R, own_R, self._group)
            self.num_bytes_received += whole_R.nbytes - own_R.nbytes

    def train_shard(self, name: str) -> Tensor:
        """Return the rows of this rank's training shard, without padding; a view of the buffer."""
        return self._rows(name, self.plan.train_rows(name, self.rank), is_padded=False)

    def acting_shard(self, name: str, *, is_padded: bool = False) -> Tensor:
        """Return the rows of this rank's acting shard; a view of the buffer."""
        return self._rows(name, self.plan.acting_rows(name, self.rank), is_padded=is_padded)

    def _rows(self, name: str, rows: range, *, is_padded: bool = True) -> Tensor:
        first = rows.start - self.plan.gathered_rows(name, self.rank).start
        num_rows = len(rows) if is_padded else self.plan.real_rows(name, rows)
        return self._gathered[name][first : first + num_rows]
