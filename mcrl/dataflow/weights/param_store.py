"""The way of the weights from learner to receivers, as a contract, and its twin inside one process."""

import threading
from dataclasses import dataclass
from typing import Protocol

from mcrl.dataflow.weights.double_buffer import DoubleBuffer
from mcrl.dataflow.weights.snapshot import ParamHeader, ParamSnapshot


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrival:
    """A version that is in a receiver's buffer, whole."""

    version: int
    num_bytes: int  # of weights that went to this receiver for it


class ParamStore(Protocol):
    """The learner's end. Every store passes the same conformance tests."""

    def newest_version(self) -> int | None:
        """Return the newest version anyone ever published here: a learner that starts again goes on above it."""
        ...

    def publish(self, snapshot: ParamSnapshot) -> None:
        """Offer new weights to the receivers.

        Raises:
            ValueError: the version is not newer than `newest_version`.
            RuntimeError: the transport broke; the message says what to start again.
        """
        ...

    def close(self) -> None:
        """Let go of what the store holds. Closing twice is fine."""
        ...


class ParamReader(Protocol):
    """The end of one receiver, in the receiver's process. For one thread."""

    def receive(self, buffer: DoubleBuffer, *, timeout_s: float) -> Arrival | None:
        """Write the newest version into the idle half if the buffer has not had it; wait for one up to `timeout_s`.

        Return what arrived, None if nothing did or it was torn on the way (the buffer counts those).

        Raises:
            ValueError: the weights are of another policy.
            RuntimeError: the transport broke.
        """
        ...

    def close(self) -> None:
        """Let go of the connection. Closing twice is fine."""
        ...


class LocalParamStore:
    """Learner and receivers in one process: weights are handed over by reference, each receiver copies them once."""

    def __init__(self) -> None:
        self._latest: ParamSnapshot | None = None
        self._published = threading.Condition()

    def newest_version(self) -> int | None:
        """Return the newest version that was published."""
        return None if self._latest is None else self._latest.version

    def publish(self, snapshot: ParamSnapshot) -> None:
        """Offer new weights."""
        with self._published:
            check_newer(snapshot.header, self.newest_version())
            self._latest = snapshot
            self._published.notify_all()

    def wait_newer(self, version: int | None, timeout_s: float) -> ParamSnapshot | None:
        """Return the newest weights once they are newer than `version`, None if they are not within `timeout_s`."""

        def is_newer() -> bool:
            return self._latest is not None and (version is None or self._latest.version > version)

        with self._published:
            return self._latest if self._published.wait_for(is_newer, timeout_s) else None

    def reader(self) -> "LocalParamReader":
        """Return the end of one more receiver."""
        return LocalParamReader(self)

    def close(self) -> None:
        """Nothing is held that Python would not let go of."""


class LocalParamReader:
    """A receiver in the learner's process."""

    def __init__(self, store: LocalParamStore) -> None:
        self._store = store

    def receive(self, buffer: DoubleBuffer, *, timeout_s: float) -> Arrival | None:
        """Copy the newest version into the idle half."""
        snapshot = self._store.wait_newer(buffer.newest_version, timeout_s)
        if snapshot is None or not buffer.write_whole(snapshot):
            return None
        return Arrival(version=snapshot.version, num_bytes=snapshot.flat_P.nbytes)

    def close(self) -> None:
        """Nothing to let go of."""


def check_newer(header: ParamHeader, newest_version: int | None) -> None:
    """Raise ValueError when `header` is not newer than the newest version a store has had."""
    if newest_version is not None and header.version <= newest_version:
        raise ValueError(
            f"weights version {header.version} is not newer than version {newest_version}, published before; a learner "
            f"that starts again goes on at {newest_version + 1} or above"
        )
