"""How actions are drawn from a policy's logits when it is judged or shown."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Decoding:
    """What is done to the logits of a policy before an action is drawn; by default nothing, as in training."""

    temperature: float = 1.0
    """Divides the logits: below 1 likely actions become likelier, and 0 takes the likeliest class of every factor."""
    guidance: float | None = None
    """Strength w of classifier-free guidance (Ho and Salimans 2022): (1 + w) logits - w logits without the goal.

    The policy plays twice then, once with each env's goal and once with none (black picture, empty mask, no
    interaction), each with a memory of its own. ROCKET-2's demonstration has w = 1.5. It helps only policies that met
    dropped goals in training. None plays once.
    """

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < math.inf:
            raise ValueError(
                f"temperature must be 0 (the likeliest action) or above and finite, got {self.temperature}; "
                "leave it out for 1, which policies are trained with"
            )
        if self.guidance is not None and not 0 < self.guidance < math.inf:
            raise ValueError(f"guidance must be above 0 and finite, got {self.guidance}; leave it out for none")

    def changes(self) -> dict[str, float]:
        """Return what is not as in training, by name."""
        changed = {} if self.temperature == 1.0 else {"temperature": self.temperature}
        return changed if self.guidance is None else {**changed, "guidance": self.guidance}


AS_TRAINED = Decoding()
