"""Weights through Ray's object store: one put a version, read by every receiver of a machine without a copy of its own.

Ray's direct tensor transport (`@ray.method(tensor_transport=...)`) is not used: at 2.60 it is alpha, moves only what an
actor's method returns, and its CPU path is the gloo that mcrl.dataflow.weights.broadcast has without it.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import ray
from ray.exceptions import ActorUnavailableError, GetTimeoutError, ObjectLostError, RayActorError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from mcrl.dataflow.ray import object_store
from mcrl.dataflow.weights.double_buffer import DoubleBuffer
from mcrl.dataflow.weights.param_store import Arrival, check_newer
from mcrl.dataflow.weights.snapshot import ParamHeader, ParamSnapshot
from mcrl.dataflow.weights.weight_delta import encode_delta
from mcrl.dataflow.weights.weight_format import WeightFormat

_LOG = logging.getLogger(__name__)

# A receiver asks again after this long; the board answers earlier when there is news.
_POLL_S = 5.0
# Between two questions to a board that is being started again.
_RETRY_S = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class WeightNotice:
    """Where the weights of one version are."""

    header: ParamHeader
    whole_ref: Any  # ObjectRef of float32 [P]
    delta_ref: Any | None  # ObjectRef of uint8 [N], the difference to `base_version`
    base_version: int | None


class WeightBoard:
    """Knows where the newest weights are: a few hundred bytes, never the weights themselves."""

    def __init__(self) -> None:
        self._notice: WeightNotice | None = None
        self._posted = asyncio.Condition()

    async def newest_version(self) -> int | None:
        """Return the newest version that was posted."""
        return None if self._notice is None else self._notice.header.version

    async def post(self, notice: WeightNotice) -> None:
        """Take note of new weights. Posting the same ones twice is fine: Ray may repeat a call."""
        async with self._posted:
            if self._notice is not None and self._notice.header != notice.header:
                check_newer(notice.header, self._notice.header.version)
            self._notice = notice
            self._posted.notify_all()

    # Whoever asks asks again, so Ray need not: it would print so of every question open when a board is ended.
    @ray.method(max_task_retries=0)
    async def wait_newer(self, version: int | None, timeout_s: float) -> WeightNotice | None:
        """Return the newest notice once it is newer than `version`, None if none comes in `timeout_s`."""

        def is_newer() -> bool:
            return self._notice is not None and (version is None or self._notice.header.version > version)

        async with self._posted:
            try:
                await asyncio.wait_for(self._posted.wait_for(is_newer), timeout_s)
            except asyncio.TimeoutError:
                return None
            return self._notice


# Costs no CPU of the plan. When it dies Ray starts it again, empty, and the next publish fills it.
RemoteWeightBoard: Any = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=3)(WeightBoard)


class RayParamStore:
    """The learner's end. The board outlives the learner when somebody else, for instance the driver, made it."""

    def __init__(self, *, weight_format: WeightFormat = "whole", board: Any | None = None) -> None:
        """Make a board, or publish on one that is there: that of the learner before this one."""
        self.board: Any = _board_here() if board is None else board
        self._owns_board = board is None
        self._format = weight_format
        self._last: ParamSnapshot | None = None
        self._kept: WeightNotice | None = None  # readers may be at it still

    def newest_version(self) -> int | None:
        """Return the newest version on the board, or the newest of this learner if the board had to start again."""
        on_board: int | None = _ask(self.board.newest_version.remote)
        own = None if self._last is None else self._last.version
        return max((version for version in (on_board, own) if version is not None), default=None)

    def publish(self, snapshot: ParamSnapshot) -> None:
        """Put the weights into the object store of this machine and post where they are."""
        check_newer(snapshot.header, self.newest_version())
        delta_ref, base_version = None, None
        if self._format == "delta" and self._last is not None:
            delta = encode_delta(self._last.flat_P, snapshot.flat_P, base_version=self._last.version)
            delta_ref, base_version = object_store.put(delta.packed_N), delta.base_version
        notice = WeightNotice(
            header=snapshot.header,
            # Also with a delta: whoever starts late or missed a version needs them all. They stay on this machine
            # until somebody does.
            whole_ref=object_store.put(snapshot.flat_P),
            delta_ref=delta_ref,
            base_version=base_version,
        )
        _ask(lambda: self.board.post.remote(notice))
        self._last, self._kept = snapshot, notice

    def remind(self) -> None:
        """Post the newest weights again, for a board that died since, and do not wait for it."""
        if self._kept is not None:
            self.board.post.remote(self._kept)

    def close(self) -> None:
        """End the board if it was made here."""
        if self._owns_board:
            ray.kill(self.board)
            self._owns_board = False


class RayParamReader:
    """The end of one receiver: any process of the Ray cluster that was given the board."""

    def __init__(self, board: Any) -> None:
        self._board = board
        self._lost_version: int | None = None
        self._asked: Any = None  # the question to the board that is still open

    def receive(self, buffer: DoubleBuffer, *, timeout_s: float) -> Arrival | None:
        """Read the newest version into the idle half."""
        had = [version for version in (buffer.newest_version, self._lost_version) if version is not None]
        notice = self._wait_newer(max(had, default=None), timeout_s)
        if notice is None:
            return None
        is_delta = notice.delta_ref is not None and notice.base_version == buffer.held_version()
        try:
            weights: np.ndarray = _ask(lambda: notice.delta_ref if is_delta else notice.whole_ref)
        except ObjectLostError as error:
            # The learner that put them is gone. What is acted with stays good, and its successor publishes anew.
            _LOG.warning("weights version %d are lost with their learner: %s", notice.header.version, type(error))
            self._lost_version = notice.header.version
            return None
        if is_delta:
            is_whole = buffer.write_delta(notice.header, weights)
        else:
            is_whole = buffer.write_whole(_snapshot(notice.header, weights))
        if not is_whole:
            return None
        return Arrival(version=notice.header.version, num_bytes=weights.nbytes)

    def close(self) -> None:
        """Ask no more."""
        self._asked = None

    def _wait_newer(self, version: int | None, timeout_s: float) -> WeightNotice | None:
        """Return the notice of newer weights, if there is one within `timeout_s`.

        One question is open at a time and outlives a call that it brought nothing: asking anew each time would cost
        the board a task a receiver and call.
        """
        if self._asked is None:
            self._asked = self._board.wait_newer.remote(version, _POLL_S)
        done, _ = ray.wait([self._asked], timeout=timeout_s)
        if not done:
            return None
        self._asked = None
        try:
            notice: WeightNotice | None = ray.get(done[0], timeout=object_store.LIMIT_S)
        except ActorUnavailableError:
            return None  # a board that is being started again is asked again
        except (RayActorError, GetTimeoutError) as error:
            raise _no_answer(error) from None
        return notice


def _board_here() -> Any:
    """Return a new board, on the learner's machine while that can be had: it is to die with no other."""
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
    return RemoteWeightBoard.options(scheduling_strategy=here).remote()


def _ask(question: Callable[[], Any]) -> Any:
    """Return what the ref that `question` returns stands for; ask anew while the board is being started again.

    Raises:
        RuntimeError: board or object store do not answer in time.
    """
    deadline_s = time.monotonic() + object_store.LIMIT_S
    while True:
        try:
            return ray.get(question(), timeout=max(0.0, deadline_s - time.monotonic()))
        except ActorUnavailableError as error:
            if time.monotonic() + _RETRY_S >= deadline_s:
                raise _no_answer(error) from None
            time.sleep(_RETRY_S)
        except (RayActorError, GetTimeoutError) as error:
            raise _no_answer(error) from None


def _no_answer(error: Exception) -> RuntimeError:
    return RuntimeError(f"weights through Ray: no answer ({str(error).splitlines()[0]}); start the run again")


def _snapshot(header: ParamHeader, flat_P: np.ndarray) -> ParamSnapshot:
    return ParamSnapshot(
        version=header.version,
        flat_P=flat_P,
        checksum=header.checksum,
        frozen_checksum=header.frozen_checksum,
        task_statistics=header.task_statistics,
    )
