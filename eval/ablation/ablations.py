"""Which variants of a recipe an ablation holds against each other, and how a variant changes the config of a run."""

import dataclasses
import typing
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcrl.config import TrainConfig
from mcrl.settings.ppo_config import Loss
from task_synthesis.views.goal_forms import GOAL_FORMS

Setting = float | int | str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """One way to train."""

    name: str
    """As the table shows it."""
    settings: Mapping[str, Setting] = field(default_factory=dict)
    """What it changes, named as the options of `mcrl train` are: {"ppo.kl_to_reference": None}."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ablation:
    """Variants that differ in one thing. Whatever else they share, they also share one run of it for each seed."""

    name: str
    question: str
    """What the table answers."""
    variants: tuple[Variant, ...]
    """The others are compared with the first."""
    common: Mapping[str, Setting] = field(default_factory=dict)
    """What all variants change in the recipe, where options do not say otherwise."""


_NO_PPO = Variant(name="no PPO", settings={"ppo.num_iterations": 0})

# By how many updates acting may lag behind learning, for each way to correct for it.
_STALENESS = (0, 1, 2, 4)
_STALE_LOSSES = tuple(
    Variant(name=f"{loss}, staleness {staleness}", settings={"ppo.loss": loss, "rollout.max_staleness": staleness})
    for loss in typing.get_args(Loss)
    for staleness in _STALENESS
)

ABLATIONS: dict[str, Ablation] = {
    ablation.name: ablation
    for ablation in (
        Ablation(
            name="kl",
            question="Does staying close to the cloned policy help PPO?",
            variants=(
                Variant(name="beta 0.05", settings={"ppo.kl_to_reference": 0.05}),
                Variant(name="no KL", settings={"ppo.kl_to_reference": None}),
                Variant(name="beta 0.2", settings={"ppo.kl_to_reference": 0.2}),
                _NO_PPO,
            ),
        ),
        Ablation(
            name="pretraining",
            question="Does PPO need a cloned policy to start from, and what does it add to one?",
            variants=(
                Variant(name="imitation, then PPO"),
                _NO_PPO,
                Variant(
                    name="PPO from scratch",
                    settings={
                        "imitation.num_updates": 0,
                        "imitation.control_updates": 0,
                        "imitation.dagger_rounds": 0,
                        "imitation.ppo_from_dagger": False,
                        "ppo.kl_to_reference": None,
                    },
                ),
            ),
        ),
        Ablation(
            name="critic",
            question="What is it worth that a critic which is told where the target is judges the actions?",
            variants=(
                Variant(name="the policy's own value", settings={"ppo.privileged_critic": False}),
                Variant(name="privileged critic", settings={"ppo.privileged_critic": True}),
                _NO_PPO,
            ),
        ),
        Ablation(
            name="curriculum",
            question="Which order of the train tasks does PPO learn most from?",
            variants=(
                Variant(name="mixed", settings={"tasks.curriculum.order": "mixed"}),
                Variant(name="shuffled", settings={"tasks.curriculum.order": "shuffled"}),
                Variant(name="adaptive", settings={"tasks.curriculum.order": "adaptive"}),
                _NO_PPO,
            ),
            common={"tasks.bands.near": 1.0, "tasks.bands.easy": 1.0},
        ),
        Ablation(
            name="bands",
            question="Is it better to train on the farther tasks alone, on the nearer ones, or on both?",
            variants=(
                Variant(name="near and easy", settings={"tasks.bands.near": 1.0, "tasks.bands.easy": 1.0}),
                Variant(name="easy (far) alone", settings={"tasks.bands.near": 0.0, "tasks.bands.easy": 1.0}),
                Variant(name="near alone", settings={"tasks.bands.near": 1.0, "tasks.bands.easy": 0.0}),
            ),
            common={"tasks.bands.near": 1.0, "tasks.bands.easy": 1.0},
        ),
        Ablation(
            name="goal",
            question="What is a picture with a mask from another view worth, against simpler ways to name a target?",
            variants=tuple(Variant(name=form, settings={"env.goal_form": form}) for form in GOAL_FORMS),
        ),
        Ablation(
            name="staleness",
            question="What does learning from weights that are so many updates old cost, under each loss?",
            variants=_STALE_LOSSES,
            # Not at most as old but exactly, in turns with the learner: what workers do ahead depends on the machine.
            common={"rollout.placement": "inline", "rollout.exact_staleness": True},
        ),
        Ablation(
            name="asynchrony",
            question="What does acting beside the learner gain, under each loss, at equal samples and in equal time?",
            variants=_STALE_LOSSES,
            # Beside the learner also where nobody may run ahead: the same processes in every variant.
            common={"rollout.placement": "ray"},
        ),
        Ablation(
            name="auxiliary",
            question="Do the auxiliary losses (is the target in view, where?) help?",
            variants=(
                Variant(name="auxiliary 0.3", settings={"imitation.auxiliary_coef": 0.3, "ppo.auxiliary_coef": 0.3}),
                Variant(
                    name="no auxiliary losses", settings={"imitation.auxiliary_coef": 0.0, "ppo.auxiliary_coef": 0.0}
                ),
            ),
        ),
    )
}


def changed(config: TrainConfig, settings: Mapping[str, Setting]) -> TrainConfig:
    """Return the config with `settings` made, all at once, so that only the result has to be valid."""
    made = _changed(config, settings)
    assert isinstance(made, TrainConfig)
    return made


def setting_of(config: TrainConfig, name: str) -> Setting:
    """Return the value of a setting, "ppo.kl_to_reference" or "tasks.bands.near"; None for an absent share."""
    value: Any = config
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else getattr(value, part)
    return value  # type: ignore[no-any-return]  # the names are ours, and lead to settings


def _changed(config: Any, settings: Mapping[str, Setting]) -> Any:
    own: dict[str, Any] = {}
    inner: dict[str, dict[str, Setting]] = defaultdict(dict)
    for name, value in settings.items():
        head, _, rest = name.partition(".")
        if rest:
            inner[head][rest] = value
        else:
            own[head] = value
    for head, below in inner.items():
        own[head] = _changed(config[head] if isinstance(config, dict) else getattr(config, head), below)
    return config | own if isinstance(config, dict) else dataclasses.replace(config, **own)
