"""How a source's weights reach its Ray workers: with each order for a fragment, or on their own while workers act."""

from typing import Any, Protocol

from mcrl.dataflow.ray import object_store
from mcrl.dataflow.ray.params import RayParamStore
from mcrl.dataflow.weights.snapshot import ParamSnapshot
from mcrl.dataflow.weights.weight_format import WeightFormat


class WeightSync(Protocol):
    """The learner's end; the other one is mcrl.dataflow.ray.actor."""

    board: Any
    """What a worker follows, None where weights come with the orders."""

    def publish(self, snapshot: ParamSnapshot) -> None:
        """Offer new weights."""
        ...

    def order(self) -> Any:
        """Return what a worker is told when it is to begin a fragment; None before the first weights."""
        ...

    def remind(self) -> None:
        """Say again where the newest weights are, to whoever may have missed it. Does not wait."""
        ...

    def close(self) -> None:
        """Let go of the weights. Closing twice is fine."""
        ...


class WithOrders:
    """The order is a reference to the weights: one object a version, read by every worker without a copy."""

    board: Any = None

    def __init__(self) -> None:
        self._weights_ref: Any = None

    def publish(self, snapshot: ParamSnapshot) -> None:
        """Put new weights into the object store."""
        self._weights_ref = object_store.put(snapshot)

    def order(self) -> Any:
        """Return the ObjectRef of the newest weights."""
        return self._weights_ref

    def remind(self) -> None:
        """Do nothing: an order cannot come without its weights."""

    def close(self) -> None:
        """Let go of the weights."""
        self._weights_ref = None


class AtTicks:
    """Workers fetch weights while they act, and swap them in between two ticks (delayed parameter update).

    The order is a version: what a fragment must begin with at least, so that the gate's bound on staleness holds. A
    worker that has not received it yet waits; one that is in the middle of a fragment never does.
    """

    def __init__(self, *, weight_format: WeightFormat) -> None:
        self._store = RayParamStore(weight_format=weight_format)
        self.board: Any = self._store.board
        self._version: int | None = None

    def publish(self, snapshot: ParamSnapshot) -> None:
        """Put new weights into the object store and say on the board where they are."""
        self._store.publish(snapshot)
        self._version = snapshot.version

    def order(self) -> Any:
        """Return the newest version."""
        return self._version

    def remind(self) -> None:
        """Post again: a board that died came back empty."""
        self._store.remind()

    def close(self) -> None:
        """End the board."""
        self._store.close()
