"""A policy sharded over the ranks of a learner by torch's FSDP2."""

from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

from policies.interface import Policy

# What callers call in place of `forward`: FSDP2 gathers the weights around these.
_FORWARD_METHODS = ("encode_goals", "act", "evaluate", "value", "look")


def shard_policy(policy: Policy, mesh: DeviceMesh) -> None:
    """Shard the parameters of `policy` over a one-dimensional mesh, in place: they become DTensors, Shard(0).

    Every layer of a stack is gathered when it is its turn, the rest with the policy's first call. Make the optimizer
    afterwards. Gradients are averaged over the ranks, so each rank's loss is a mean over its own part of the batch.
    """
    for module in policy.modules():
        if isinstance(module, nn.ModuleList):
            for layer in module:
                fully_shard(layer, mesh=mesh)
    fully_shard(policy, mesh=mesh)
    for method in _FORWARD_METHODS:
        register_fsdp_forward_method(policy, method)
