"""The paths among a run's settings, made absolute: a run can be continued from any folder."""

import dataclasses
from pathlib import Path

from mcrl.config import EnvConfig, TrainConfig
from worlds.adapters.catalogue import in_full, is_path


def with_full_paths(config: TrainConfig) -> TrainConfig:
    """Return the same with the paths of its engine, libraries and demonstrations in full."""
    return dataclasses.replace(
        config,
        env=_of_engine(config.env),
        tasks=dataclasses.replace(
            config.tasks, library=_full(config.tasks.library), val_library=_full(config.tasks.val_library)
        ),
        imitation=dataclasses.replace(config.imitation, demos=_full(config.imitation.demos)),
    )


def _of_engine(env: EnvConfig) -> EnvConfig:
    if is_path(env.backend):
        env = dataclasses.replace(env, backend=in_full(env.backend))
    return env if env.engine_python is None else dataclasses.replace(env, engine_python=in_full(env.engine_python))


def _full(path: str | None) -> str | None:
    return None if path is None else str(Path(path).resolve())
