"""The queue between rollout and learner: bounded, in process, with books that always balance."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from mcrl.fragment import Fragment

# An environment's address: (worker id, env index).
EnvKey = tuple[int, int]


class FragmentQueue:
    """Fragments that wait for the learner, oldest weights first.

    produced == consumed + sum(dropped) + waiting holds after every call. No fragment is consumed twice: each
    (worker, env) has a high-water mark, the sequence number of the last fragment consumed, and what is not above it
    is dropped as a duplicate. Nothing staler than `max_staleness` is ever handed out.
    """

    def __init__(
        self,
        *,
        capacity: int,
        max_staleness: int,
        high_water_marks: Mapping[EnvKey, int] | None = None,
        on_drop: Callable[[int], None] | None = None,
        on_refuse: Callable[[Sequence[Fragment]], None] | None = None,
    ) -> None:
        """`on_drop` is called with the number of fragments dropped, so that a gate can give their places back.

        `on_refuse` is called with those of them that no batch has seen: all but the duplicates.
        """
        if capacity <= 0:
            raise ValueError(f"queue capacity must be positive, got {capacity}")
        self.capacity = capacity
        self.max_staleness = max_staleness
        self.num_produced = 0
        self.num_consumed = 0
        self.num_dropped: Counter[str] = Counter()
        self._high_water_marks: dict[EnvKey, int] = dict(high_water_marks or {})
        self._waiting: list[Fragment] = []
        self._on_drop = on_drop
        self._on_refuse = on_refuse

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, fragments: Sequence[Fragment]) -> None:
        """Add fragments; duplicates are dropped, and so are the oldest ones when the queue is full."""
        self.num_produced += len(fragments)
        known = {(f.worker_id, f.env_index, f.sequence) for f in self._waiting}
        num_duplicates = 0
        for fragment in fragments:
            key = (fragment.worker_id, fragment.env_index)
            if fragment.sequence <= self._high_water_marks.get(key, -1) or (*key, fragment.sequence) in known:
                num_duplicates += 1
                continue
            known.add((*key, fragment.sequence))
            self._waiting.append(fragment)
        self._count_drop("duplicate", num_duplicates)
        # Stable: fragments of one version leave in the order in which they came.
        self._waiting.sort(key=lambda fragment: fragment.min_version)
        num_over = max(0, len(self._waiting) - self.capacity)
        over, self._waiting = self._waiting[:num_over], self._waiting[num_over:]
        self._refuse("overflow", over)

    def take(self, num_fragments: int, *, version: int) -> list[Fragment]:
        """Hand out the `num_fragments` oldest for the update of weights `version`, or none while fewer wait."""
        stale = [f for f in self._waiting if version - f.min_version > self.max_staleness]
        self._waiting = [f for f in self._waiting if version - f.min_version <= self.max_staleness]
        self._refuse("stale", stale)
        if len(self._waiting) < num_fragments:
            return []
        taken, self._waiting = self._waiting[:num_fragments], self._waiting[num_fragments:]
        for fragment in taken:
            assert 0 <= version - fragment.min_version <= self.max_staleness
            key = (fragment.worker_id, fragment.env_index)
            self._high_water_marks[key] = max(fragment.sequence, self._high_water_marks.get(key, -1))
        self.num_consumed += num_fragments
        return taken

    def drop(self, reason: str) -> int:
        """Throw everything away that waits, and return how many that were."""
        thrown, self._waiting = self._waiting, []
        self._refuse(reason, thrown)
        return len(thrown)

    def high_water_marks(self) -> dict[EnvKey, int]:
        """Return the sequence number of the last fragment consumed from each (worker, env)."""
        return dict(self._high_water_marks)

    def _refuse(self, reason: str, fragments: Sequence[Fragment]) -> None:
        self._count_drop(reason, len(fragments))
        if fragments and self._on_refuse is not None:
            self._on_refuse(fragments)

    def _count_drop(self, reason: str, num_fragments: int) -> None:
        if num_fragments:
            self.num_dropped[reason] += num_fragments
            if self._on_drop is not None:
                self._on_drop(num_fragments)
