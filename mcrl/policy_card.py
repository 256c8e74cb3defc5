"""The card of a shipped policy: how it was made and how well it does, as card.json beside its weights."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

from task_synthesis.json_text import parse_json
from task_synthesis.libraries.library import write_whole


@dataclass(frozen=True, kw_only=True, slots=True)
class CardScore:
    """How one row of an evaluation did, in the words of that evaluation's own report."""

    suite: str
    """Name and version, "unseen_seeds.v1"."""
    num_tasks: int
    row: str
    """Row of the report: the policy itself, or what it is held against."""
    success: float
    """Mean over skills of the share of tasks solved, 0 .. 1."""
    low_95: float
    high_95: float
    command: str
    """Command line of the evaluation."""
    commit: str
    """Of the code that judged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyCard:
    """Where a shipped policy comes from, and what it can do."""

    name: str
    recipe: str
    command: str
    """Command line of the training."""
    commit: str
    """Of the code that trained."""
    date: str
    """On which it was shipped."""
    preset: str
    image_px: int
    num_parameters: int
    stage: str
    """Stage of training that the weights come from."""
    iteration: int
    """PPO iterations they took."""
    weights_bytes: int
    weights_sha256: str
    """Of model.safetensors: the same as in the plans of its evaluations."""
    scores: tuple[CardScore, ...] = ()


def write_card(card: PolicyCard, path: Path) -> None:
    """Write the card as indented JSON; it appears whole or not at all."""
    write_whole(path, json.dumps(dataclasses.asdict(card), indent=2) + "\n")


def read_card(path: Path) -> PolicyCard:
    """Read a card back. Raise ValueError, naming the file, for anything but a full one."""
    try:
        fields = parse_json(path.read_text(encoding="ascii"))
        return PolicyCard(**(fields | {"scores": tuple(CardScore(**score) for score in fields["scores"])}))
    except OSError:
        raise ValueError(f"{path}: no such file; name a folder that `mcrl ship` wrote") from None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path}: not the card of a policy ({error}); ship the checkpoint again") from None
