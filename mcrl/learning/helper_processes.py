"""Helper processes of a learner on its own machine: started, watched and ended."""

import logging
import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from multiprocessing.process import BaseProcess

import torch.distributed as dist

from mcrl.config import PPOConfig
from mcrl.determinism import use_deterministic_algorithms
from mcrl.learning.group import LOOPBACK, LearnerGroup, LearnerLostError
from mcrl.learning.lead import Helper
from mcrl.learning.learner import Learner
from mcrl.settings.learner_config import LearnerConfig
from policies.interface import Policy
from policies.precision import Precision
from policies.threads import use_threads

_LOG = logging.getLogger(__name__)

# A helper imports torch and builds the policy, 5 s here alone, more where the machine is busy.
START_TIMEOUT_S = 300.0
_POLL_S = 0.1
# Helpers that are lost this often without a whole update are not unlucky.
MAX_LOSSES_IN_A_ROW = 3


class HelperProcesses:
    """N - 1 processes beside this one; one that is lost is replaced by starting all of them anew."""

    def __init__(
        self,
        make_policy: Callable[[], Policy],
        config: PPOConfig,
        learner: LearnerConfig,
        *,
        precision: Precision,
        num_threads: int,
        is_deterministic: bool = False,
    ) -> None:
        """`make_policy` is sent to the helpers, which use `num_threads` threads each."""
        self._arguments = (make_policy, config, learner, precision, num_threads, is_deterministic)
        self._size, self._timeout_s = learner.num_processes, learner.timeout_s
        self._processes: list[BaseProcess] = []
        self._group: LearnerGroup | None = None
        self._num_restarts = 0
        self._num_losses_in_a_row = 0

    def assist(self, learner: Learner) -> None:
        """Let the helpers share the learner's next update; start them where there are none, or one was lost.

        Raises:
            RuntimeError: helpers were lost MAX_LOSSES_IN_A_ROW times without a whole update in between.
        """
        if self._size == 1:
            return
        if learner.num_processes == self._size:
            self._num_losses_in_a_row = 0
            return
        if self._processes:
            self._num_losses_in_a_row += 1
            self._num_restarts += 1
        while True:
            if self._num_losses_in_a_row >= MAX_LOSSES_IN_A_ROW:
                raise RuntimeError(
                    f"learner processes were lost {MAX_LOSSES_IN_A_ROW} times without an update in between; look at "
                    "memory and at what was printed, or learn with learner.num_processes 1"
                )
            try:
                learner.lead(self.start())
                return
            except LearnerLostError as error:
                _LOG.warning("%s; starting the helpers anew", error)
                self._num_losses_in_a_row += 1
                self._num_restarts += 1

    def metrics(self) -> dict[str, float]:
        """Return what to log where there are helpers."""
        return {} if self._size == 1 else {"learner_restarts": float(self._num_restarts)}

    def start(self) -> LearnerGroup:
        """Start the helpers and return this process's end of the group.

        Raises:
            LearnerLostError: a helper ended while it was built, or was not ready within START_TIMEOUT_S.
        """
        self.close()
        store = _loopback_store()
        # Spawned and not forked: torch's threads and the engine's do not survive a fork.
        context = multiprocessing.get_context("spawn")
        for rank in range(1, self._size):
            process = context.Process(
                target=_help, args=(rank, self._size, store.port, *self._arguments), name=f"learner-{rank}", daemon=True
            )
            process.start()
            self._processes.append(process)
        self._wait_until_ready(store)
        self._group = LearnerGroup(store, rank=0, size=self._size, timeout_s=self._timeout_s)
        return self._group

    def close(self) -> None:
        """End all helpers; nothing is lost with them. Closing twice is fine."""
        # Killed before the connections close, or they would say that they lost their leader.
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.join()
        self._processes = []
        if self._group is not None:
            self._group.close()
            self._group = None

    def _wait_until_ready(self, store: dist.Store) -> None:
        """Wait for every helper's word, looking after those that can no longer give it."""
        deadline_s = time.monotonic() + START_TIMEOUT_S
        for rank, process in enumerate(self._processes, start=1):
            while not store.check([_ready(rank)]):
                if not process.is_alive():
                    raise LearnerLostError(f"learner {rank} of {self._size} ended with {process.exitcode} at its start")
                if time.monotonic() > deadline_s:
                    raise LearnerLostError(f"learner {rank} of {self._size} was not ready within {START_TIMEOUT_S:g} s")
                time.sleep(_POLL_S)


def _loopback_store() -> dist.TCPStore:
    """Return a store that this machine alone can reach: one that TCPStore binds itself listens everywhere."""
    listener = socket.create_server((LOOPBACK, 0))
    port = listener.getsockname()[1]
    return dist.TCPStore(
        LOOPBACK,
        port,
        is_master=True,
        wait_for_workers=False,
        timeout=timedelta(seconds=START_TIMEOUT_S),
        master_listen_fd=listener.detach(),
    )


def _ready(rank: int) -> str:
    return f"ready/{rank}"


def _help(
    rank: int,
    size: int,
    port: int,
    make_policy: Callable[[], Policy],
    config: PPOConfig,
    learner: LearnerConfig,
    precision: Precision,
    num_threads: int,
    is_deterministic: bool,
) -> None:
    """Be one helper, from start to end."""
    # Ctrl-C reaches every process of the terminal: only the leader heeds it, and tells.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    use_threads(num_threads)
    if is_deterministic:
        use_deterministic_algorithms()
    policy = make_policy()
    store = dist.TCPStore(LOOPBACK, port, is_master=False, timeout=timedelta(seconds=START_TIMEOUT_S))
    store.set(_ready(rank), "")
    try:
        group = LearnerGroup(store, rank=rank, size=size, timeout_s=learner.timeout_s)
        # A scheduler may ask any process to end: the whole group stops together, after an update, and saves.
        signal.signal(signal.SIGTERM, lambda number, frame: group.wish_stop())
        Helper(policy, config, learner, group, precision=precision).serve()
    except LearnerLostError as error:
        print(f"{error}; ending", file=sys.stderr, flush=True)
        # Not by way of the interpreter's end: torch's threads may still hang on the lost connection.
        os._exit(1)
