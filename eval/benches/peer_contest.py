"""Contests with peers: ours and theirs at one setting, by turns in one run, and the ratios that come of it."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from eval.benches.throughput import Measurement, measured
from eval.benches.turn_taking import Contestant, Result, take_turns
from mcrl.doctor.side_env import SideEnvError, outside_environment, side_env
from worlds.cache_home import cache_home

DRIVER_DIR = Path(__file__).resolve().parents[1] / "peers"
REQUIREMENTS_DIR = DRIVER_DIR / "requirements"
_ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")}


@dataclass(frozen=True, kw_only=True, slots=True)
class Entrant:
    """One setting of a peer."""

    name: str
    driver: str
    """Script in eval/peers and its arguments; the seed goes before them."""
    rival: str
    """Which of ours plays at the same setting."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Contest:
    """What is measured, and beside whom."""

    part: str
    setting: str
    """What all have in common, and in what they differ, for the reader of the ratios."""
    ours: Mapping[str, str]
    """Name of each of ours to module and arguments of `python -m`; the seed goes before them."""
    peers: Mapping[str, tuple[Entrant, ...]]
    """By side environment, which is also the peer's name on the command line."""
    yardsticks: tuple[Entrant, ...] = ()
    """What our own interpreter runs, whichever peers there are."""
    iterations_per_turn: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How long a peer may take, so that no bench hangs."""

    install_s: float
    """To build its side environment."""
    answer_s: float
    """To start, or for one turn."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Watcher:
    """Who hears how far a contest is."""

    on_build: Callable[[str], None]
    """Hears a sentence before a side environment is built."""
    on_turn: Callable[[int, int], None]
    """Hears how many turns are over, and of how many."""


def hold(
    contest: Contest, against: Sequence[str], *, repeats: int, seed: int, limits: Limits, watcher: Watcher
) -> tuple[list[Measurement], dict[str, str]]:
    """Measure frames per CPU-second of ours and of peers, and ours over each; and why some could not be measured.

    CPU time counts all processes of a contestant; its start-up and its first turn do not count. Names in `against` of
    which the contest knows nothing are passed over.

    Raises:
        RuntimeError: ours failed.
    """
    entrants: list[tuple[Entrant, Path]] = [(yardstick, Path(sys.executable)) for yardstick in contest.yardsticks]
    skipped: dict[str, str] = {}
    for peer in against:
        if peer not in contest.peers:
            continue
        try:
            python = _side_python(peer, limits, watcher)
        except SideEnvError as error:
            skipped[peer] = str(error)
            continue
        entrants += [(entrant, python) for entrant in contest.peers[peer]]
    contestants = []
    for name in dict.fromkeys(entrant.rival for entrant, _ in entrants):
        contestants.append(_ours(name, contest.ours[name], seed))
        contestants += [
            _driven(entrant, python, seed, limits.answer_s) for entrant, python in entrants if entrant.rival == name
        ]
    results, failures = take_turns(
        contestants,
        num_turns=repeats,
        iterations_per_turn=contest.iterations_per_turn,
        on_turn=watcher.on_turn,
    )
    for entrant, _ in entrants:
        if entrant.rival not in results:
            raise RuntimeError(failures[entrant.rival])
    rivals = {entrant.name: entrant.rival for entrant, _ in entrants if entrant.name in results}
    return measurements_of(contest.part, results, rivals, seed=seed), skipped | failures


def _side_python(peer: str, limits: Limits, watcher: Watcher) -> Path:
    return side_env(
        peer,
        requirements=REQUIREMENTS_DIR / f"{peer}.txt",
        root=cache_home("peers"),
        on_build=watcher.on_build,
        limit_s=limits.install_s,
    )


def measurements_of(
    part: str, results: Mapping[str, Result], rivals: Mapping[str, str], *, seed: int
) -> list[Measurement]:
    """Return a row of speed for each contestant, then one of ours over each peer, turn by turn.

    `rivals` has, by the name of each peer, the name of ours that it is measured against.
    """
    rows = []
    for name, result in results.items():
        fields: dict[str, str | int | float] = {
            "part": part,
            "contestant": name,
            "frames_per_turn": result.turns[0].num_frames,
            # Contended wall time says little; it is here to show how contended.
            "frames_per_s": round(median(turn.num_frames / turn.wall_s for turn in result.turns), 1),
            "seed": seed,
            "versions": ", ".join(f"{package} {version}" for package, version in result.about["versions"].items()),
        }
        speeds = [turn.frames_per_cpu_s for turn in result.turns]
        rows.append(measured("frames_per_cpu_s", "frames/CPU-s", speeds, fields))
    for name, rival in rivals.items():
        # Turns that are neighbours in time, so that a machine that slows down slows both.
        pairs = zip(results[rival].turns, results[name].turns, strict=True)
        ratios = [ours.frames_per_cpu_s / theirs.frames_per_cpu_s for ours, theirs in pairs]
        rows.append(
            measured(f"ratio_to_{name}", "ratio", ratios, {"part": part, "contestant": rival, "seed": seed})
        )  # fmt: skip
    return rows


def _ours(name: str, module: str, seed: int) -> Contestant:
    first, *arguments = module.split()
    command = (sys.executable, "-m", first, str(seed), *arguments)
    return Contestant(name=name, command=command, environment={**os.environ, **_ONE_THREAD})


def _driven(entrant: Entrant, python: Path, seed: int, answer_limit_s: float) -> Contestant:
    script, *arguments = entrant.driver.split()
    command = (str(python), str(DRIVER_DIR / script), str(seed), *arguments)
    return Contestant(
        name=entrant.name,
        command=command,
        environment=outside_environment() | _ONE_THREAD,
        answer_limit_s=answer_limit_s,
    )
