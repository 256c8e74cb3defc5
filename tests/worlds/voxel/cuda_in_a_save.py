"""Begins tasks with a placed block in a real save on CUDA; prints what stands there in both engines, in JSON.

CUDA is a GPU, or numba's simulator, see cuda_played.
"""

import json
import tempfile
from pathlib import Path

from tests.worlds.anvil.anvil_files import State, write_save
from worlds.anvil import open_save
from worlds.spec import Episode, Placement, WorldSpec
from worlds.types import Pose
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.cuda import staging
from worlds.voxel.cuda.backend import CudaVoxelBackend

SIZE = (32, 64, 32)
XS = (8, 9, 10)  # of the block, by env


def meadow(x: int, y: int, z: int) -> State:
    return "minecraft:stone" if y < 20 else "minecraft:air"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        save = open_save(write_save(Path(folder), meadow, "1.18", chunks=range(2), ys=range(0, 3)))
        world = WorldSpec(seed=0, source=save.source, size_blocks=SIZE)
        blocks = [Placement(kind="gold_block", position=(x, 20, 8)) for x in XS]
        episodes = [
            Episode(world=world, placements=(block,), start=Pose(n + 0.5, 20, 5.5, 0, 0), target_index=0)
            for n, block in enumerate(blocks)
        ]
        staging._MOST_ROWS = 2  # a reset of all envs takes two rounds
        found = []
        for engine in (VoxelBackend, CudaVoxelBackend):
            backend = engine(len(XS), size_blocks=SIZE, image_px=(8, 8), saves=[save])
            backend.reset(range(len(XS)), episodes[::-1])
            backend.reset(range(len(XS)), episodes)  # in the world that the first has left
            block_EXZY, feet_E3 = backend.state.terrain.block_EXZY, backend.state.bodies.position_E3
            if engine is CudaVoxelBackend:
                block_EXZY, feet_E3 = backend._memory.to_host(block_EXZY, feet_E3)
            blocks_EXY = [[[int(block_EXZY[e, x, 8, y]) for y in (19, 20, 21)] for x in XS] for e in range(len(XS))]
            found.append([blocks_EXY, feet_E3.tolist()])
    print(json.dumps(found))


if __name__ == "__main__":
    main()
