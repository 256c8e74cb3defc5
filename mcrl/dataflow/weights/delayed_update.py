"""Acting with the old weights until the new ones are complete (AsyncFlow's delayed parameter update)."""

import threading
import time
from collections.abc import Callable

from torch import nn

from mcrl.dataflow.weights.double_buffer import DoubleBuffer
from mcrl.dataflow.weights.param_store import ParamReader
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.dataflow.weights.snapshot import ParamHeader

# How long a receiving thread listens before it looks whether it is to end.
_LISTEN_S = 0.1


class WeightsLateError(RuntimeError):
    """Weights that were announced did not arrive; whoever acts can be started again and follow anew."""


class DelayedUpdate:
    """Receives weights on a thread of its own; `swap`, at a tick border, is all that the acting thread ever does.

    The policy's travelling parameters become views of the front half of a double buffer, so that a swap costs
    microseconds whatever the size; a policy on another device is copied to. Memory that the policy keeps between ticks
    is left as it is: it was made by the older weights, as in every asynchronous learner with recurrent policies.
    """

    def __init__(
        self,
        policy: nn.Module,
        reader: ParamReader,
        *,
        on_swap: Callable[[ParamHeader], None] | None = None,
        patience_s: float = 1.0,
    ) -> None:
        """Begin to receive; `on_swap` hears of every swap, on the acting thread.

        A whole version waits up to `patience_s` for a swap before a newer one may replace it.
        """
        self._policy = policy
        self._on_swap = on_swap
        self._version: int | None = None
        self._reader = reader
        self._patience_s = patience_s
        self._layout = ParamLayout(policy)
        self.buffer = DoubleBuffer(self._layout)
        self._is_closed = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._receive, name="weights", daemon=True)
        self._thread.start()

    def swap(self) -> ParamHeader | None:
        """Act with the newest whole weights from now on and say which; None if there are none newer. Never waits.

        Raises:
            ValueError: weights of another policy arrived.
            RuntimeError: the transport broke; the old weights are as good as before.
        """
        header = self.buffer.swap()
        if header is not None:
            self._layout.bind(self._policy, self.buffer.front())
            self._version = header.version
            if self._on_swap is not None:
                self._on_swap(header)
        elif self._error is not None:
            error, self._error = self._error, None
            raise error
        return header

    def wait(self, timeout_s: float) -> bool:
        """Wait until there are weights to swap to, at most `timeout_s`; return whether there are."""
        return self.buffer.wait_whole(timeout_s)

    def catch_up(self, version: int, *, timeout_s: float) -> None:
        """Act with weights as new as `version` at least, which are on their way; errors as in `swap`.

        Raises:
            WeightsLateError: they did not arrive within `timeout_s`.
        """
        end_s = time.monotonic() + timeout_s
        while self.swap() is not None or self._version is None or self._version < version:
            if self._version is None or self._version < version:
                left_s = end_s - time.monotonic()
                if left_s <= 0:
                    raise WeightsLateError(
                        f"weights version {version} did not arrive within {timeout_s:g} s, {self._version} act; look "
                        "at the process of the learner"
                    )
                # Not for longer than the receiving thread may take to notice that the transport broke.
                self.wait(min(left_s, _LISTEN_S))

    def close(self) -> None:
        """Stop receiving. The policy keeps its weights."""
        self._is_closed.set()
        self._thread.join()
        self._reader.close()

    def _receive(self) -> None:
        try:
            while not self._is_closed.is_set():
                if self._reader.receive(self.buffer, timeout_s=_LISTEN_S) is not None:
                    self._let_swap()
        except (ValueError, RuntimeError) as error:
            self._error = error  # told to the acting thread, which is the one that can do something about it

    def _let_swap(self) -> None:
        end_s = time.monotonic() + self._patience_s
        while not self._is_closed.is_set() and (left_s := end_s - time.monotonic()) > 0:
            if self.buffer.wait_swapped(min(left_s, _LISTEN_S)):
                return
