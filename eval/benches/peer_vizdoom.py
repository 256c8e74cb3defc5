"""ViZDoom, the first-person peer with masks, measured beside the engine: 160 x 120 RGB with its labels buffer."""

import os
import tempfile
from pathlib import Path

import numpy as np

from eval.benches.throughput import Measurement, measured, seconds_of

_SCENARIOS = ("basic", "my_way_home")


def bench_vizdoom(*, num_frames: int, repeats: int, seed: int) -> list[Measurement]:
    """Measure tics per CPU-second with random actions, one tic a frame, as worlds of `bench_sim` are measured.

    ViZDoom runs in a child process; its CPU time is counted, and ours while we wait for it.
    """
    try:
        import vizdoom
    except ImportError:
        raise ValueError("bench sim: vizdoom is not installed; install it with `pip install vizdoom`") from None
    measurements = []
    here = Path.cwd()
    # It writes its settings and logs into the working directory.
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for scenario in _SCENARIOS:
                samples = [_frames_per_cpu_s(vizdoom, scenario, num_frames, seed) for _ in range(repeats)]
                fields: dict[str, str | int | float] = {
                    "peer": f"vizdoom {vizdoom.__version__} {scenario}",
                    "image": "160 x 120",
                    "mask": "labels buffer",
                    "frames_per_repeat": num_frames,
                }
                measurements.append(measured("frames_per_cpu_s", "frames/CPU-s", samples, fields))
        finally:
            os.chdir(here)
    return measurements


def _frames_per_cpu_s(vizdoom, scenario: str, num_frames: int, seed: int) -> float:  # type: ignore[no-untyped-def]
    game = vizdoom.DoomGame()
    game.load_config(str(Path(vizdoom.scenarios_path) / f"{scenario}.cfg"))
    game.set_screen_resolution(vizdoom.ScreenResolution.RES_160X120)
    game.set_screen_format(vizdoom.ScreenFormat.RGB24)
    game.set_labels_buffer_enabled(True)
    game.set_window_visible(False)
    game.set_mode(vizdoom.Mode.PLAYER)
    game.set_seed(seed)
    game.init()
    rng = np.random.default_rng(seed)
    num_buttons = game.get_available_buttons_size()
    actions = (rng.random((num_frames, num_buttons)) < 0.4).tolist()

    def play() -> None:
        for action in actions:
            if game.is_episode_finished():
                game.new_episode()
            game.make_action(action, 1)
            state = game.get_state()
            if state is not None:
                assert state.labels_buffer.shape == (120, 160)

    pid = _child_pid()
    start_s = _cpu_s_of(pid)
    own_s, _ = seconds_of(play)
    peer_s = _cpu_s_of(pid) - start_s
    game.close()
    return num_frames / (own_s + peer_s)


def _child_pid() -> int:
    """Return the process id of the game just started: the youngest child of this process."""
    children: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        children += [int(pid) for pid in (task / "children").read_text(encoding="ascii").split()]
    return max(children)


def _cpu_s_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
