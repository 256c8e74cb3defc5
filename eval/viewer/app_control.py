"""How controls of the panel reach the session: what a person does with one is done in the booth's thread, in order."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import viser

Callback = Callable[["viser.GuiEvent[Any]"], None]


class Forward:
    """Makes callbacks of controls, which do nothing where the control was only set by us."""

    def __init__(self, do: Callable[[Callable[[], None]], None]) -> None:
        """`do` is the booth's: it takes what is to be done in its thread."""
        self._do = do

    def __call__(self, deed: Callable[[], object]) -> Callback:
        """Return a callback that has the booth do something."""
        return self.valued(lambda value: deed())

    def valued(self, deed: Callable[[Any], object]) -> Callback:
        """Return a callback that does so with the value that the control has now: it may have another by then."""
        return self._callback(deed, lambda event: (getattr(event.target, "value", None),))

    def reading(self, deed: Callable[..., object], *controls: Any) -> Callback:
        """Return a callback that does so with the values that these controls have when it is asked for."""
        return self._callback(deed, lambda event: tuple(control.value for control in controls))

    def _callback(
        self, deed: Callable[..., object], values_of: Callable[["viser.GuiEvent[Any]"], tuple[Any, ...]]
    ) -> Callback:
        def callback(event: "viser.GuiEvent[Any]") -> None:
            if event.client is None:
                return
            values = values_of(event)

            def deed_with_values() -> None:
                deed(*values)

            self._do(deed_with_values)

        return callback


class Choice:
    """A control of a value that the session has: a person chooses another, and the session too may change it.

    What a person chose stands until the session has heard of it. Only what the session changed itself is shown anew.
    """

    def __init__(
        self, forward: Forward, control: Any, *, read: Callable[[], Any], write: Callable[[Any], object]
    ) -> None:
        """`read` and `write` are called in the booth's thread; `control` shows what `read` returns now."""
        self._control, self._read, self._write = control, read, write
        self._shown = control.value
        control.on_update(forward.valued(self._put))

    def update(self) -> None:
        """Show what the session has changed."""
        value = self._read()
        if value != self._shown:
            self._shown = value
            if self._control.value != value:
                self._control.value = value

    def _put(self, chosen: Any) -> None:
        try:
            self._write(chosen)
        finally:
            # Where it was refused, or made something else of, that is shown; not over what was chosen since.
            self._shown = self._read()
            if self._control.value == chosen != self._shown:
                self._control.value = self._shown
