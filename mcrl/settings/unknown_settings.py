"""What a config holds that is unknown here: skills, losses and settings taken back since, or of another branch."""

import dataclasses
import typing

from mcrl.settings.ppo_config import Loss
from task_synthesis.skills import SKILLS


def without_unused_skills(config: object) -> object:
    """Return the fields of a config without unknown skills of share 0: every config names all that there were."""
    return _with_skills(config, lambda name, share: name in SKILLS or share != 0)


def for_playing(kind: type, config: object) -> object:
    """Return the fields of a config, the dataclass `kind`, that are known here, in all its parts.

    It is enough for playing what a run has trained, though not for training on: without its loss, or its skills.
    """
    known = _known_part(kind, _with_skills(config, lambda name, share: name in SKILLS))
    match known:
        case {"ppo": {"loss": loss, **ppo}} if loss not in typing.get_args(Loss):
            known |= {"ppo": ppo}
    match known:
        case {"tasks": {"skills": dict(skills)} as tasks} if not any(skills.values()):
            known |= {"tasks": tasks | {"skills": {"approach": 1.0}}}
    return known


def _with_skills(config: object, is_kept: typing.Callable[[str, object], bool]) -> object:
    match config:
        case {"tasks": {"skills": dict(skills), **of_tasks}, **rest}:
            kept = {name: share for name, share in skills.items() if is_kept(name, share)}
            return rest | {"tasks": of_tasks | {"skills": kept}}
    return config


def _known_part(kind: type, fields: object) -> typing.Any:
    if not isinstance(fields, dict):
        return fields
    hints = typing.get_type_hints(kind)
    known = {name: value for name, value in fields.items() if name in hints}
    return {
        name: _known_part(hints[name], value) if dataclasses.is_dataclass(hints[name]) else value
        for name, value in known.items()
    }
