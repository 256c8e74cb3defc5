"""Which rows an evaluation has: floors, the checkpoints, the best of them without its goal, the expert."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from eval.judging.row_names import (
    ROW_BLANK,
    ROW_EXPERT,
    ROW_NOOP,
    ROW_RANDOM,
    ROW_SHUFFLED,
)
from eval.judging.suite_row import SuiteRow, weights_sha256_of
from mcrl.config import TrainConfig
from policies.decoding import AS_TRAINED, Decoding
from policies.device_name import DeviceName
from policies.shipped import shipped_name

# As options spell them.
EXTRA_ROWS: dict[str, str] = {"noop": ROW_NOOP, "blank_goal": ROW_BLANK}

_SOURCES = {
    ROW_RANDOM: "every action factor drawn evenly, hotbar, drop and inventory left alone",
    ROW_NOOP: "presses nothing and turns nowhere",
    ROW_EXPERT: "path follower that reads blocks and paths from the engine, looks for the target first",
}


def suite_rows(
    checkpoints: Mapping[str, tuple[Path, TrainConfig]],
    *,
    main_row: str,
    extra_rows: Sequence[str] = (),
    decoding: Decoding = AS_TRAINED,
    device: DeviceName = "cpu",
    with_expert: bool = True,
) -> tuple[SuiteRow, ...]:
    """Return the rows in the order in which they are played.

    Args:
        checkpoints: folder and config of the run that made it, by row name.
        main_row: of `checkpoints`; random, noop and expert see the worlds as it does, and it alone is shown other
            goals.
        extra_rows: keys of EXTRA_ROWS.
        decoding: how all policies draw their actions.
        device: where policies compute.
        with_expert: whether the expert plays, which reads the built-in engine's blocks.
    """
    for name in extra_rows:
        if name.replace("_", " ") in (ROW_RANDOM, ROW_SHUFFLED, ROW_EXPERT, main_row):
            raise ValueError(f"--rows {name}: is played anyway; more rows are {', '.join(EXTRA_ROWS)}")
        if name not in EXTRA_ROWS:
            raise ValueError(f"--rows {name}: no such row; there are {', '.join(EXTRA_ROWS)}")
    for name in checkpoints:
        if name in (*_SOURCES, ROW_SHUFFLED, ROW_BLANK):
            raise ValueError(f"--also {name}=...: the row {name!r} is played anyway; choose another name")
    config = checkpoints[main_row][1]
    rows = [SuiteRow(name=ROW_RANDOM, agent="random", source=_SOURCES[ROW_RANDOM], config=config)]
    if "noop" in extra_rows:
        rows.append(SuiteRow(name=ROW_NOOP, agent="noop", source=_SOURCES[ROW_NOOP], config=config))
    policies = {
        name: SuiteRow(
            name=name,
            agent="policy",
            source=_shown(folder) + "".join(f", {what} {value:g}" for what, value in decoding.changes().items()),
            config=its_config,
            checkpoint=folder,
            weights_sha256=weights_sha256_of(folder),
            decoding=decoding,
            device=device,
        )
        for name, (folder, its_config) in checkpoints.items()
    }
    rows += policies.values()
    # Draws are seeded by the main row's name: these rows differ from it by the goals alone.
    blind = dataclasses.replace(policies[main_row], draws_as=main_row)
    if "blank_goal" in extra_rows:
        source = f"{main_row}, shown a black picture without a mask instead of the goal view"
        rows.append(dataclasses.replace(blind, name=ROW_BLANK, goals="blank", source=source))
    source = f"{main_row}, shown the goal of another task of the same skill"
    rows.append(dataclasses.replace(blind, name=ROW_SHUFFLED, goals="shuffled", source=source))
    if with_expert:
        rows.append(SuiteRow(name=ROW_EXPERT, agent="expert", source=_SOURCES[ROW_EXPERT], config=config))
    return tuple(rows)


def _shown(folder: Path) -> str:
    """Return a checkpoint as a reader types it: by its name when it is shipped, relative below the present folder."""
    name = shipped_name(folder)
    if name is not None:
        return f"{name}, shipped with mcrl"
    cwd = Path.cwd()
    return str(folder.relative_to(cwd) if folder.is_relative_to(cwd) else folder)
