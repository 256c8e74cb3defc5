"""Workers that raise, hang, die or hand over more than was announced, each made by a factory as sources ask for it."""

import os
import time

from tests.mcrl.dataflow.corridor_source import ENVS, STEPS
from tests.mcrl.fragments import make_fragment


def broken_factory(worker_id, first_sequence):
    return _Broken()


class _Broken:
    num_envs = ENVS

    def load(self, snapshot):
        pass

    def collect(self):
        raise ValueError("no such block")


def hanging_once_factory(folder, worker_id, first_sequence):
    return _HangingOnce(folder / "has_hung", first_sequence)


class _Numbered(_Broken):
    """Hands over fragments of zeros, numbered as they should be."""

    image_px = 8

    def __init__(self, first_sequence):
        self.sequence = first_sequence
        self.version = 0

    def load(self, snapshot):
        self.version = snapshot.version

    def collect(self):
        fragments = [
            make_fragment(
                num_steps=STEPS,
                image_px=self.image_px,
                env_index=env,
                sequence=self.sequence,
                min_version=self.version,
                max_version=self.version,
            )
            for env in range(ENVS)
        ]
        self.sequence += 1
        return fragments


class _HangingOnce(_Numbered):
    def __init__(self, mark, first_sequence):
        super().__init__(first_sequence)
        self.mark = mark

    def collect(self):
        if not self.mark.exists():
            self.mark.touch()
            time.sleep(10_000)
        return super().collect()


def short_of_memory_factory(folder, num_times, worker_id, first_sequence):
    return _ShortOfMemory(folder, num_times, first_sequence)


class _ShortOfMemory(_Numbered):
    """Raises what Ray says of a worker that it has ended, the first so many times."""

    def __init__(self, folder, num_times, first_sequence):
        super().__init__(first_sequence)
        self.folder, self.num_times = folder, num_times

    def collect(self):
        from ray.exceptions import OutOfMemoryError

        num_before = len(list(self.folder.iterdir()))
        if num_before < self.num_times:
            (self.folder / str(num_before)).touch()
            raise OutOfMemoryError("1 worker(s) were killed due to the node running low on memory")
        return super().collect()


def bulky_factory(worker_id, first_sequence):
    return _Bulky(first_sequence)


class _Bulky(_Numbered):
    image_px = 936


def dying_factory(worker_id, first_sequence):
    return _Dying()


class _Dying(_Broken):
    def collect(self):
        os._exit(1)
