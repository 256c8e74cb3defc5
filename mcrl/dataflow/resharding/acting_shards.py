"""A policy that acts with the shards of mcrl.dataflow.resharding.gather: whole, or with its linear layers split."""

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.nn import functional as F

from mcrl.dataflow.resharding.gather import Reshard, all_gather


class ColumnSplitLinear(nn.Module):
    """An nn.Linear of which every rank of a group computes its share of the outputs; each gets all of them."""

    def __init__(self, weight: Tensor, bias: Tensor | None, group: dist.ProcessGroup) -> None:
        """`weight` holds this rank's rows; all ranks of `group` have as many."""
        super().__init__()
        self.weight = nn.Parameter(weight, requires_grad=False)
        self.bias = None if bias is None else nn.Parameter(bias, requires_grad=False)
        self._group = group

    def forward(self, x: Tensor) -> Tensor:
        """Return what the whole layer would, [..., outputs], on every rank. Collective."""
        part = F.linear(x, self.weight, self.bias).contiguous()
        parts = [torch.empty_like(part) for _ in range(self._group.size())]
        dist.all_gather(parts, part, group=self._group)
        return torch.cat(parts, -1)


def act_with_shards(policy: nn.Module, reshard: Reshard, mesh: DeviceMesh) -> int:
    """Give `policy` the weights gathered by `reshard`; return the bytes this rank received beyond those.

    With one acting shard the parameters become views of the buffer and nothing more is received. With several, linear
    layers whose rows divide stay split and are computed together (without gradients, all ranks of a copy of the policy
    on the same inputs); convolutions, norms, embeddings and the like, a small part of the bytes, are made whole.
    """
    if reshard.plan.num_acting_shards == 1:
        for name, parameter in policy.named_parameters():
            parameter.data = reshard.acting_shard(name).view(parameter.shape)
        return 0
    group = mesh.get_group("acting_shard")
    split = {name for name, module in policy.named_modules() if _can_split(module, reshard.plan.num_train_shards)}
    num_extra_bytes = 0
    for name, parameter in policy.named_parameters():
        if name.rpartition(".")[0] in split:
            continue
        part_R = reshard.acting_shard(name, is_padded=True)
        whole_R = part_R.new_empty((group.size() * len(part_R), *part_R.shape[1:]))
        all_gather(whole_R, part_R, group)
        num_extra_bytes += whole_R.nbytes - part_R.nbytes
        parameter.data = whole_R[: len(parameter)] if parameter.dim() else whole_R[0]
    for name in split:
        parent, _, child = name.rpartition(".")
        bias = reshard.acting_shard(f"{name}.bias") if policy.get_submodule(name).bias is not None else None
        layer = ColumnSplitLinear(reshard.acting_shard(f"{name}.weight"), bias, group)
        setattr(policy.get_submodule(parent), child, layer)
    return num_extra_bytes


def _can_split(module: nn.Module, num_train_shards: int) -> bool:
    """Return whether the module is a linear layer whose shards are of one size and free of padding."""
    return isinstance(module, nn.Linear) and module.out_features % num_train_shards == 0
