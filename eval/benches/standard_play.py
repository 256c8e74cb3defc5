"""Our engine on its standard scene, by turns with peers: `python -m eval.benches.standard_play SEED WIDTHxHEIGHT`."""

import sys

import numba
import numpy as np

from eval.benches.standard_scene import NUM_ENVS, SIDE_BLOCKS, play, standard_actions, standard_episodes, standard_poses
from eval.peers import turns
from worlds.voxel.backend import VoxelBackend


class StandardPlay:
    """16 worlds with 8 mobs each: a tick of everything, then RGB and instance mask."""

    def __init__(self, image_px: tuple[int, int], *, seed: int) -> None:
        """`image_px` is (height, width)."""
        size_blocks = (SIDE_BLOCKS, 64, SIDE_BLOCKS)
        self._backend = VoxelBackend(NUM_ENVS, size_blocks=size_blocks, image_px=image_px)
        self._actions = standard_actions(turns.FRAMES_PER_ITERATION // NUM_ENVS, seed=seed)

    def iterate(self, num_iterations: int) -> int:
        """Begin the episodes anew, as the peers' begin now and then, and play on; return the number of frames."""
        self._backend.reset(range(NUM_ENVS), standard_episodes())
        play(self._backend, standard_poses(self._backend), self._actions * num_iterations)
        return num_iterations * turns.FRAMES_PER_ITERATION


def main() -> None:
    """Take turns until stdin ends."""
    numba.set_num_threads(1)
    width_px, height_px = map(int, sys.argv[2].split("x"))
    standard_play = StandardPlay((height_px, width_px), seed=turns.seed())
    turns.take_turns(standard_play.iterate, {"numba": numba.__version__, "numpy": np.__version__})


if __name__ == "__main__":
    main()
