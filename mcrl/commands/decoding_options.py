"""Options that say how policies draw their actions: the same for every command that lets them play."""

from dataclasses import dataclass

from policies.decoding import Decoding


@dataclass(frozen=True, kw_only=True)
class DecodingOptions:
    """How actions are drawn from a policy's logits."""

    temperature: float = 1.0
    """Policies draw their actions at this temperature: 1 as in training, below it likely actions more often, 0 the
    likeliest always. Choose it on val tasks."""
    guidance: float | None = None
    """Strength w of classifier-free guidance of policies: they act by (1 + w) times their logits minus w times those
    without a goal, at twice the cost. ROCKET-2 shows 1.5. It helps only policies that met dropped goals in training;
    None plays without."""

    def decoding(self) -> Decoding:
        """Return what the options say; ValueError names the one that cannot be."""
        try:
            return Decoding(temperature=self.temperature, guidance=self.guidance)
        except ValueError as error:
            raise ValueError(f"--{error}") from None
