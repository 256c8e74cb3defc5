"""Begins a task with a placed block in a real save on CUDA; prints what stands there in both engines, in JSON.

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
from worlds.voxel.cuda.backend import CudaVoxelBackend

SIZE = (32, 64, 32)


def meadow(x: int, y: int, z: int) -> State:
    return "minecraft:stone" if y < 20 else "minecraft:air"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        save = open_save(write_save(Path(folder), meadow, "1.18", chunks=range(2), ys=range(0, 3)))
        world = WorldSpec(seed=0, source=save.source, size_blocks=SIZE)
        block = Placement(kind="gold_block", position=(8, 20, 8))
        episode = Episode(world=world, placements=(block,), start=Pose(5.5, 20, 5.5, 0, 0), target_index=0)
        found = []
        for engine in (VoxelBackend, CudaVoxelBackend):
            backend = engine(1, size_blocks=SIZE, image_px=(8, 8), saves=[save])
            for _ in range(2):  # the second is of the world that the first has left
                backend.reset([0], [episode])
            block_EXZY = backend.state.terrain.block_EXZY
            if engine is CudaVoxelBackend:
                (block_EXZY,) = backend._memory.to_host(block_EXZY)
            found.append([int(block_EXZY[0, 8, 8, y]) for y in (19, 20, 21)])
    print(json.dumps(found))


if __name__ == "__main__":
    main()
