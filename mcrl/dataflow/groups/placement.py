"""The placement plan: which pool of processors each role of a run has, read from a file or picked by `mcrl plan`."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Literal, TypeVar

from mcrl.config import TrainConfig
from task_synthesis.by_hand.user_fields import Fields, read_document

PlanKind = Literal["inline", "colocated", "split"]
_ValueT = TypeVar("_ValueT")
ROLES = ("rollout", "inference", "reference", "learner", "evaluator")


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacementPlan:
    """Roles on resource pools (HybridFlow, Sheng et al. 2024): one pool is taken in turns, two work side by side."""

    placement: PlanKind
    """"inline" acts in the learner's process; "colocated" in Ray workers that share the learner's pool and take turns
    with it; "split" in Ray workers with a pool of their own, while the learner learns."""
    num_workers: int
    """Rollout workers, a processor each."""
    max_staleness: int
    """Updates by which acting may lag behind learning."""
    pools: Mapping[str, int]
    """Name to processors."""
    roles: Mapping[str, str]
    """Role to the name of its pool."""

    def __post_init__(self) -> None:
        if self.placement not in ("inline", "colocated", "split"):
            raise ValueError(f"placement must be inline, colocated or split, got {self.placement!r}")
        if self.num_workers < 1 or self.max_staleness < 0:
            raise ValueError(
                f"num_workers must be at least 1 and max_staleness not negative, got {self.num_workers} and "
                f"{self.max_staleness}"
            )
        self._check_pools()
        learner, rollout = self.roles["learner"], self.roles["rollout"]
        for role in ("inference", "reference"):
            if self.roles[role] != rollout:
                raise ValueError(f"roles.{role} runs in the processes of rollout; give it the pool {rollout!r} as well")
        if self.placement == "split" and learner == rollout:
            raise ValueError(f"a split plan has learner and rollout in pool {learner!r}; give one of them another pool")
        if self.placement != "split" and (learner != rollout or self.max_staleness):
            raise ValueError(
                f"in a plan that is {self.placement} learner and rollout take turns: they need one pool and "
                f"max_staleness 0, got pools {learner!r} and {rollout!r} and {self.max_staleness}"
            )
        if self.placement == "inline" and self.num_evaluators:
            raise ValueError(
                f"roles.evaluator is in pool {self.roles['evaluator']!r}, but an inline plan has no process there; "
                f"give it the pool {learner!r}, or make the plan colocated or split"
            )
        num_needed = self.num_workers + (self.num_evaluators if self.roles["evaluator"] == rollout else 0)
        if self.placement != "inline" and self.pools[rollout] < num_needed:
            raise ValueError(
                f"pools.{rollout} has {self.pools[rollout]} processors, its {num_needed} processes need one each; make "
                "it larger or num_workers smaller"
            )

    @property
    def num_evaluators(self) -> int:
        """Return 1 where the evaluator has a process beside the learner; in the learner's pool it has none."""
        return int(self.roles["evaluator"] != self.roles["learner"])

    def _check_pools(self) -> None:
        if set(self.roles) != set(ROLES):
            raise ValueError(f"roles must name a pool for each of {', '.join(ROLES)}, got {', '.join(self.roles)}")
        for role, pool in self.roles.items():
            if pool not in self.pools:
                raise ValueError(f"roles.{role} is in pool {pool!r}, which is not among the pools; add it there")
        for name, num_cpus in self.pools.items():
            if num_cpus < 1:
                raise ValueError(f"pools.{name} must have at least 1 processor, got {num_cpus}")
            if name not in self.roles.values():
                raise ValueError(f"pools.{name} has no role; give it one or leave it out")

    def apply(self, config: TrainConfig) -> TrainConfig:
        """Return the config under this plan. An evaluator beside a run without checks checks as often as it saves."""
        rollout = dataclasses.replace(
            config.rollout,
            placement=self.placement,
            num_workers=self.num_workers,
            max_staleness=self.max_staleness,
            num_evaluators=self.num_evaluators,
        )
        val_every = config.val_every or (config.checkpoint_every if self.num_evaluators else 0)
        return dataclasses.replace(config, rollout=rollout, val_every=val_every)


def standard_plan(placement: PlanKind, *, num_workers: int, max_staleness: int) -> PlacementPlan:
    """Return the plan with as few pools as its kind needs."""
    is_split = placement == "split"
    actors = "actors" if is_split else "main"
    pools = {"main": 1, "actors": num_workers} if is_split else {"main": max(1, num_workers)}
    roles = dict.fromkeys(("rollout", "inference", "reference"), actors) | {"learner": "main", "evaluator": "main"}
    return PlacementPlan(
        placement=placement, num_workers=num_workers, max_staleness=max_staleness, pools=pools, roles=roles
    )


def measured_recipe(path: Path) -> str | None:
    """Return the recipe that a plan of `mcrl plan --out` was measured for; None for one written by hand."""
    measured = read_document(path)
    return measured.take("measured", dict).get("recipe") if measured.has("measured") else None


def read_plan(path: Path) -> PlacementPlan:
    """Read a plan, JSON or YAML by its suffix, or the `plan` part of what `mcrl plan --out` wrote.

    Raises:
        ValueError: one sentence that names the file and the field.
    """
    if path.exists() and not path.is_file():
        raise ValueError(f"{path}: is no file; name the one that `mcrl plan --out FILE` wrote")
    if not path.is_file():
        raise ValueError(f"{path}: no such file; write a plan with `mcrl plan --out {quote(str(path))}`")
    fields = read_document(path)
    if fields.has("plan"):
        fields = Fields(fields.take("plan", dict), f"{path}: plan")
    if not fields.has("placement"):
        raise ValueError(f"{path}: says nothing of a placement; write a plan with `mcrl plan --out FILE`")
    try:
        plan = PlacementPlan(
            placement=fields.take("placement", str),
            num_workers=fields.take("num_workers", int),
            max_staleness=fields.take("max_staleness", int),
            pools=_all_of(int, fields.take("pools", dict), f"{fields.where}.pools"),
            roles=_all_of(str, fields.take("roles", dict), f"{fields.where}.roles"),
        )
    except ValueError as error:
        text = str(error)
        raise ValueError(text if text.startswith(str(path)) else f"{fields.where}: {text}") from None
    fields.end()
    return plan


def _all_of(kind: type[_ValueT], values: Mapping[object, object], where: str) -> dict[str, _ValueT]:
    checked: dict[str, _ValueT] = {}
    for name, value in values.items():
        if not isinstance(name, str) or not isinstance(value, kind) or isinstance(value, bool):
            raise ValueError(f"{where}.{name} must be {'an integer' if kind is int else 'a text'}, got {value!r}")
        checked[name] = value
    return checked
