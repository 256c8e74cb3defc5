"""Inference somewhere else: requests that name their group, wait so long, and may be sent again."""

import dataclasses
import logging
import secrets
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from mcrl.dataflow.inference.server import InferenceServer
from mcrl.dataflow.inference.stream import ActReply, ActRequest, GroupKey, HostStateLostError, ValueRequest
from mcrl.dataflow.weights.snapshot import ParamSnapshot

_LOG = logging.getLogger(__name__)
_AnswerT = TypeVar("_AnswerT")

# A request that found no answer so often will find none.
_MAX_TRIES = 5


class InferenceTransport(Protocol):
    """The way to one replica of the policy, an InferenceServer at the other end."""

    def call(self, method: str, *args: Any, **named: Any) -> Any:
        """Begin a call of the server's method and return what `wait` takes."""
        ...

    def wait(self, pending: Any, timeout_s: float) -> Any:
        """Return the call's answer.

        Raises:
            TimeoutError: there was none in time; the call may have been carried out.
            ConnectionError: the replica is gone.
            HostStateLostError: as the server said.
        """
        ...

    def revive(self) -> None:
        """Find or start the replica again after it was gone."""
        ...

    def close(self) -> None:
        """Let go of the replica."""
        ...


class LocalTransport:
    """The way to a server in this process, which several workers may share."""

    def __init__(self, make_server: Callable[[], InferenceServer]) -> None:
        self._make_server = make_server
        self._server = make_server()

    def call(self, method: str, *args: Any, **named: Any) -> Any:
        """Call the server; it waits."""
        return getattr(self._server, method)(*args, **named)

    def wait(self, pending: Any, timeout_s: float) -> Any:
        """Return the answer, which is there."""
        return pending

    def revive(self) -> None:
        """Start another server."""
        self._server = self._make_server()

    def close(self) -> None:
        """Close the server. Closing twice is fine."""
        self._server.close()


class RemoteInference:
    """An InferenceStream whose policy acts in replicas that other workers use as well.

    A group always goes to the same replica, since its memory lives there; only new goals travel. A replica that gives
    no answer is asked again, and remembers what it answered; one that is gone is started again, gets the newest
    weights and all goals, and its groups go on with an empty memory (ActReply.is_memory_lost).
    """

    def __init__(self, replicas: Sequence[InferenceTransport], *, time_limit_s: float = 60.0) -> None:
        """Give up a replica's answer after `time_limit_s`, the start of the replica included."""
        self.num_retries = 0
        self._replicas = replicas
        self._time_limit_s = time_limit_s
        # Another client's groups of the same name, those of a worker that died, are not ours.
        self._session = secrets.randbits(62)
        self._snapshot: ParamSnapshot | None = None
        self._last: dict[GroupKey, ActRequest] = {}

    def load(self, snapshot: ParamSnapshot) -> None:
        """Act with these weights from the next request on. Each travels once to each replica, whoever sends it."""
        self._snapshot = snapshot
        for replica in self._replicas:
            self._until_answered(replica, partial(self._bring_up_to_date, replica))

    def act(self, requests: Sequence[ActRequest]) -> list[ActReply]:
        """Choose the actions of these groups; those of one replica travel together."""
        for request in requests:
            self._last[request.group] = dataclasses.replace(request, session=self._session)
        replies: dict[GroupKey, ActReply] = {}
        for replica, members in self._by_replica([request.group for request in requests]):
            of_replica = [self._last[group] for group in members]
            brief = [_only_new(request) for request in of_replica]
            answers = self._until_answered(replica, partial(self._act, replica, brief))
            if answers is None:
                answers = self._recover(replica, of_replica)
            replies |= dict(zip(members, answers, strict=True))
        return [replies[request.group] for request in requests]

    def values(self, requests: Sequence[ValueRequest]) -> list[np.ndarray | None]:
        """Return float32 [N] for each request; None where the replica that knew the group is gone."""
        values: dict[GroupKey, np.ndarray | None] = {}
        for replica, members in self._by_replica([request.group for request in requests]):
            of_replica = [request for request in requests if request.group in members]
            answers: list[np.ndarray] | None = self._until_answered(
                replica, partial(self._wait, replica, "values", of_replica)
            )
            for index, group in enumerate(members):
                values[group] = None if answers is None else answers[index]
        return [values[request.group] for request in requests]

    def close(self) -> None:
        """Let go of the replicas. Closing twice is fine."""
        for replica in self._replicas:
            replica.close()

    def _by_replica(self, groups: Sequence[GroupKey]) -> list[tuple[InferenceTransport, list[GroupKey]]]:
        """Return the groups of each replica that has any: always the same one for a group."""
        members: list[list[GroupKey]] = [[] for _ in self._replicas]
        for group in groups:
            members[sum(group) % len(self._replicas)].append(group)
        return [(replica, of_it) for replica, of_it in zip(self._replicas, members, strict=True) if of_it]

    def _until_answered(self, replica: InferenceTransport, ask: Callable[[], _AnswerT]) -> _AnswerT | None:
        """Ask until there is an answer; None where the replica has forgotten what it must know to give one."""
        for left in reversed(range(_MAX_TRIES)):
            try:
                return ask()
            except HostStateLostError:
                return None
            except (TimeoutError, ConnectionError) as error:
                self.num_retries += 1
                if not left:
                    raise
                _LOG.warning("inference: %s; asking again", str(error) or type(error).__name__)
                if isinstance(error, ConnectionError):
                    replica.revive()
        raise AssertionError("unreachable")

    def _recover(self, replica: InferenceTransport, requests: Sequence[ActRequest]) -> list[ActReply]:
        """Tell a replica that began afresh all it must know, and ask again."""

        def tell() -> list[ActReply]:
            self._bring_up_to_date(replica)
            return self._act(replica, requests)

        answers = self._until_answered(replica, tell)
        if answers is None:
            raise ConnectionError("inference: a replica forgets what it is told; look at its log")
        return answers

    def _bring_up_to_date(self, replica: InferenceTransport) -> None:
        snapshot = self._snapshot
        if snapshot is not None and self._wait(replica, "version") < snapshot.version:
            self._wait(replica, "load", snapshot)

    def _act(self, replica: InferenceTransport, requests: Sequence[ActRequest]) -> list[ActReply]:
        min_version = 0 if self._snapshot is None else self._snapshot.version
        answers: list[ActReply] = self._wait(replica, "act", requests, min_version=min_version)
        return answers

    def _wait(self, replica: InferenceTransport, method: str, *args: Any, **named: Any) -> Any:
        return replica.wait(replica.call(method, *args, **named), self._time_limit_s)


def _only_new(request: ActRequest) -> ActRequest:
    """Return the request without the goals that the replica knows."""
    if request.request_id == 0:
        return request
    goals = [goal if is_first else None for goal, is_first in zip(request.goals, request.first_E, strict=True)]
    return dataclasses.replace(request, goals=goals)
