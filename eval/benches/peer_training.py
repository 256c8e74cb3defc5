"""Training loops side by side at one setting: ours, one plain file of PPO, and the peers, by turns in one run."""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from eval.benches.side_env import SideEnvError, outside_environment, side_env
from eval.benches.throughput import Measurement, measured
from eval.benches.turn_taking import Contestant, Result, take_turns
from eval.peers import turns
from policies.precision import uses_bf16

OURS, PLAIN = "mcrl", "plain_loop"
PEERS: dict[str, tuple[tuple[str, str], ...]] = {
    "sb3": (("sb3", "drive_sb3.py"),),
    "sample_factory": (
        ("sample_factory", "drive_sample_factory.py async"),
        ("sample_factory_serial", "drive_sample_factory.py serial"),
    ),
}
"""Names of `--against`, which are those of side environments: each contestant's name with its driver and arguments."""
ITERATIONS_PER_TURN = 4
SETTING = (
    f"{turns.IMAGE_PX} x {turns.IMAGE_PX} px, {turns.NUM_ENVS} envs, rollout {turns.ROLLOUT_STEPS}, minibatch "
    f"{turns.MINIBATCH_FRAMES}, 1 epoch, Nature CNN, 1 thread a process"
)
_DRIVER_DIR = Path(__file__).resolve().parents[1] / "peers"
_ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")}


def bench_training(
    against: Sequence[str],
    *,
    repeats: int,
    seed: int,
    on_build: Callable[[str], None],
    on_turn: Callable[[int, int], None],
) -> tuple[list[Measurement], dict[str, str]]:
    """Measure frames per CPU-second of whole training loops, and ours over each; and why some could not be measured.

    CPU time counts all processes of a system; its start-up and its first iterations do not count. Peers run as they
    ship, in fp32; the plain loop and ours compute in bf16 where the CPU multiplies it natively.
    """
    contestants, skipped = contestants_of(against, seed=seed, on_build=on_build)
    results, failures = take_turns(
        contestants, num_turns=repeats, iterations_per_turn=ITERATIONS_PER_TURN, on_turn=on_turn
    )
    if OURS not in results:
        raise RuntimeError(failures[OURS])
    return measurements_of(results, seed=seed), skipped | failures


def contestants_of(
    against: Sequence[str], *, seed: int, on_build: Callable[[str], None]
) -> tuple[list[Contestant], dict[str, str]]:
    """Return ours, the plain loop and the peers, and why peers that were asked for are not among them."""
    ours = Contestant(
        name=OURS,
        command=(sys.executable, "-m", "eval.benches.nature_training", str(seed)),
        environment={**os.environ, **_ONE_THREAD},
    )
    skipped: dict[str, str] = {}
    number_format = "bf16" if uses_bf16("auto", "cpu") else "fp32"
    contestants = [ours, _driven(PLAIN, Path(sys.executable), f"drive_plain.py {number_format}", seed)]
    for peer in against:
        try:
            python = side_env(peer, on_build=on_build)
        except SideEnvError as error:
            skipped[peer] = str(error)
            continue
        contestants += [_driven(name, python, driver, seed) for name, driver in PEERS[peer]]
    return contestants, skipped


def measurements_of(results: dict[str, Result], *, seed: int) -> list[Measurement]:
    """Return a row of speed for each contestant, then one of ours over each, turn by turn."""
    rows = []
    for name, result in results.items():
        fields: dict[str, str | int | float] = {
            "loop": name,
            "frames_per_turn": result.turns[0].num_frames,
            # Contended wall time says little; it is here to show how contended.
            "frames_per_s": round(median(turn.num_frames / turn.wall_s for turn in result.turns), 1),
            "seed": seed,
            "versions": ", ".join(f"{package} {version}" for package, version in result.about["versions"].items()),
        }
        speeds = [turn.frames_per_cpu_s for turn in result.turns]
        rows.append(measured("frames_per_cpu_s", "frames/CPU-s", speeds, fields))
    ours = results[OURS].turns
    for name, result in results.items():
        if name != OURS:
            # Turns that are neighbours in time, so that a machine that slows down slows both.
            pairs = zip(ours, result.turns, strict=True)
            ratios = [mine.frames_per_cpu_s / theirs.frames_per_cpu_s for mine, theirs in pairs]
            rows.append(measured(f"ratio_to_{name}", "ratio", ratios, {"loop": OURS, "seed": seed}))
    return rows


def _driven(name: str, python: Path, driver: str, seed: int) -> Contestant:
    script, *arguments = driver.split()
    return Contestant(
        name=name,
        command=(str(python), str(_DRIVER_DIR / script), str(seed), *arguments),
        environment=outside_environment() | _ONE_THREAD,
    )
