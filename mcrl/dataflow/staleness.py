"""How much work may be started before the weights have moved on."""

from dataclasses import dataclass


@dataclass(slots=True)
class StalenessGate:
    """Admits fragments so that none is older than `max_staleness` updates when it is consumed.

    A fragment is admitted iff min(max_concurrent - running, (max_staleness + version + 1) * fragments_per_batch -
    (accepted + running)) > 0. `accepted` counts every fragment that reached the queue and was not dropped there, also
    those consumed long ago; a drop gives its place back (without that, a few drops in a hundred stop the run).
    A group of environments is admitted as one, so a place short of the group overshoots by less than a group; what
    is then too old is caught, counted and dropped at consumption.
    """

    max_concurrent: int
    """Fragments that may be in the making at once."""
    max_staleness: int
    """Updates by which acting may lag behind learning; 0 is synchronous."""
    fragments_per_batch: int
    """Fragments one update consumes."""
    version: int = 0
    """Of the newest weights."""
    accepted: int = 0
    """Fragments handed in and not dropped, since the first start of the run."""
    running: int = 0
    """Fragments in the making."""

    def capacity(self) -> int:
        """Return how many fragments may start now; not positive when none may."""
        return min(
            self.max_concurrent - self.running,
            (self.max_staleness + self.version + 1) * self.fragments_per_batch - (self.accepted + self.running),
        )

    def try_start(self, num_fragments: int) -> bool:
        """Start a group of fragments if there is room, and say whether they were."""
        if self.capacity() <= 0:
            return False
        self.running += num_fragments
        return True

    def finish(self, num_fragments: int, *, is_accepted: bool) -> None:
        """End a group: handed in, or lost (a crashed worker) without counting."""
        assert 0 < num_fragments <= self.running, f"{num_fragments} fragments ended, {self.running} were running"
        self.running -= num_fragments
        if is_accepted:
            self.accepted += num_fragments

    def drop(self, num_fragments: int) -> None:
        """Give back the places of fragments that were handed in and then thrown away."""
        assert num_fragments <= self.accepted, f"{num_fragments} fragments dropped, {self.accepted} were accepted"
        self.accepted -= num_fragments

    def advance(self, version: int) -> None:
        """Take note of new weights."""
        assert version > self.version, f"weights went from version {self.version} to {version}; versions only grow"
        self.version = version

    def restore(self, version: int, *, num_waiting: int = 0) -> None:
        """Continue a run: every version consumed a batch, and `num_waiting` fragments wait in the queue.

        Starting the count at 0 instead would allow version * fragments_per_batch fragments too many.
        """
        self.version = version
        self.accepted = version * self.fragments_per_batch + num_waiting
        self.running = 0
