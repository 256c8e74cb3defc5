"""Small pictures of tasks, drawn when they are first looked at and kept within a number of bytes."""

from collections import OrderedDict

from eval.library.task_pictures import TaskPictures, task_pictures
from task_synthesis.task import TaskSpec
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.world_cache import WorldCache

SIDE_PX = 96
_MAX_BYTES = 8 * 2**20  # some 150 tasks
_MAX_ENGINES = 2  # one a size of world, 3 MB each at 128 x 64 x 128


class Thumbnails:
    """Draws start and goal of tasks, and remembers those looked at last."""

    def __init__(self, worlds: WorldCache, *, max_bytes: int = _MAX_BYTES) -> None:
        """Make worlds by way of `worlds`; keep at most `max_bytes` of pictures, but always the last one."""
        self._worlds, self._max_bytes = worlds, max_bytes
        self._kept: OrderedDict[str, TaskPictures] = OrderedDict()
        self._engines: OrderedDict[tuple[int, int, int], VoxelBackend] = OrderedDict()
        self.num_bytes = 0

    def get(self, task: TaskSpec) -> TaskPictures:
        """Return the pictures of a task, [SIDE_PX, SIDE_PX, 3] each. ValueError: its world cannot be made here."""
        if task.task_id not in self._kept:
            pictures = task_pictures(task, self._engine(task.world.size_blocks))
            self._kept[task.task_id] = pictures
            self.num_bytes += _num_bytes(pictures)
            while self.num_bytes > self._max_bytes and len(self._kept) > 1:
                self.num_bytes -= _num_bytes(self._kept.popitem(last=False)[1])
        self._kept.move_to_end(task.task_id)
        return self._kept[task.task_id]

    def _engine(self, size_blocks: tuple[int, int, int]) -> VoxelBackend:
        if size_blocks not in self._engines:
            while len(self._engines) >= _MAX_ENGINES:
                self._engines.popitem(last=False)
            self._engines[size_blocks] = VoxelBackend(
                1, size_blocks=size_blocks, image_px=(SIDE_PX, SIDE_PX), world_cache=self._worlds
            )
        self._engines.move_to_end(size_blocks)
        return self._engines[size_blocks]


def _num_bytes(pictures: TaskPictures) -> int:
    return pictures.start_HWC.nbytes + pictures.goal_HWC.nbytes
