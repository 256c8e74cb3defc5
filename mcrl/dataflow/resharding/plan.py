"""Which rows of which tensors every rank holds in training and in acting, and how many bytes the change moves.

The 3D-HybridEngine of HybridFlow (Sheng et al. 2025, section 5): t training shards become t_g acting shards. With
pipeline stages, t stands for t p and t_g for t_g p_g. M is the bytes of all tensors, their rows padded to a multiple
of t. A rank receives

    nested:  (t - t_g) / (t_g t) M    its acting shard less the training shard inside it
    naive:   (t - 1) / t M            every other training shard, of which it keeps its acting shard ("HybridFlow-V")
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

_VALUE_BYTES = 4  # float32

# "nested" gives neighbours the same acting shard, so that every training shard lies in the acting shard of its rank;
# "naive" deals the acting shards out in turn, as training does with its own.
Grouping = Literal["nested", "naive"]


@dataclass(frozen=True, kw_only=True)
class ReshardPlan:
    """t training shards, t_g acting shards, both along the first dimension of every tensor."""

    shapes: Mapping[str, tuple[int, ...]]
    num_train_shards: int
    """t: ranks that hold one training shard each."""
    num_acting_shards: int
    """t_g, a divisor of t; 1 gives every rank the whole policy."""
    grouping: Grouping = "nested"

    def __post_init__(self) -> None:
        if not 1 <= self.num_acting_shards <= self.num_train_shards or self.num_train_shards % self.num_acting_shards:
            raise ValueError(
                f"reshard: {self.num_acting_shards} acting shards must divide {self.num_train_shards} training shards"
            )

    @property
    def micro_dp_size(self) -> int:
        """Return t / t_g, how many ranks hold the same acting shard."""
        return self.num_train_shards // self.num_acting_shards

    def acting_shard(self, rank: int) -> int:
        """Return which acting shard a rank holds."""
        return rank // self.micro_dp_size if self.grouping == "nested" else rank % self.num_acting_shards

    def gather_ranks(self, rank: int) -> range:
        """Return the ranks whose training shards come together at `rank`, itself included."""
        if self.grouping == "naive":
            return range(self.num_train_shards)
        first = self.acting_shard(rank) * self.micro_dp_size
        return range(first, first + self.micro_dp_size)

    def chunk_rows(self, name: str) -> int:
        """Return the rows of a training shard of that tensor, padding included; what DTensor's Shard(0) gives too."""
        return -(-_num_rows(self.shapes[name]) // self.num_train_shards)

    def train_rows(self, name: str, rank: int) -> range:
        """Return the padded rows of a rank's training shard."""
        return range(rank * self.chunk_rows(name), (rank + 1) * self.chunk_rows(name))

    def acting_rows(self, name: str, rank: int) -> range:
        """Return the padded rows of a rank's acting shard."""
        size = self.micro_dp_size * self.chunk_rows(name)
        return range(self.acting_shard(rank) * size, (self.acting_shard(rank) + 1) * size)

    def gathered_rows(self, name: str, rank: int) -> range:
        """Return the padded rows that come together at a rank, its own among them."""
        ranks = self.gather_ranks(rank)
        return range(ranks.start * self.chunk_rows(name), ranks.stop * self.chunk_rows(name))

    def real_rows(self, name: str, rows: range) -> int:
        """Return how many of padded `rows` are rows of the tensor; they come first."""
        return max(0, min(rows.stop, _num_rows(self.shapes[name])) - rows.start)

    def row_values(self, name: str) -> int:
        """Return the values of one row."""
        return math.prod(self.shapes[name][1:])

    def padded_bytes(self) -> int:
        """Return M."""
        shard_values = sum(self.chunk_rows(name) * self.row_values(name) for name in self.shapes)
        return self.num_train_shards * shard_values * _VALUE_BYTES

    def received_bytes(self) -> int:
        """Return what every rank receives, by the formula of its grouping."""
        shard_bytes = self.padded_bytes() // self.num_train_shards
        return (len(self.gather_ranks(0)) - 1) * shard_bytes

    def peak_bytes(self) -> int:
        """Return the weights a rank holds at most while it goes over: M / t_g nested, M naive."""
        return len(self.gather_ranks(0)) * self.padded_bytes() // self.num_train_shards


def _num_rows(shape: tuple[int, ...]) -> int:
    return shape[0] if shape else 1
