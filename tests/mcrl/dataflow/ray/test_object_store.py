"""Claims about Ray's object store as we ask it: whoever puts or fetches gets an answer in bounded time."""

import time

import numpy as np
import pytest

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("ray_session")]

FRAGMENT = np.zeros(2**20, np.uint8)  # large enough that it is not sent along with a message


class Owner:
    """Makes an object that goes down with it, and one that takes its time."""

    def own(self):
        import ray

        return [ray.put(FRAGMENT)]

    def sleep(self, duration_s):
        time.sleep(duration_s)

    def find_no_room(self):
        from ray.exceptions import OutOfDiskError

        raise OutOfDiskError


@pytest.fixture
def owner():
    import ray

    owner = ray.remote(num_cpus=0)(Owner).remote()
    yield owner
    ray.kill(owner)


def test_a_put_that_is_not_done_in_time_is_one_sentence():
    from mcrl.dataflow.ray import object_store

    assert object_store.fetch([object_store.put(1)]) == [1]
    with pytest.raises(RuntimeError, match=r"took nothing for 0 s; .*`mcrl train --resume`"):
        object_store.put(np.zeros(2**25, np.uint8), limit_s=0.0)


def test_what_went_down_with_its_owner_is_missing_and_the_others_are_there(owner):
    import ray

    from mcrl.dataflow.ray import object_store

    (lost,) = ray.get(owner.own.remote(), timeout=120)
    kept = object_store.put(FRAGMENT)
    ray.kill(owner)
    deadline_s = time.monotonic() + 60
    while object_store.fetch([lost], limit_s=5.0)[0] is not None:  # the news of a death takes a moment
        assert time.monotonic() < deadline_s
    found = object_store.fetch([kept, lost, kept])
    assert [None if one is None else len(one) for one in found] == [len(FRAGMENT), None, len(FRAGMENT)]


def test_a_result_that_the_store_had_no_room_for_is_missing_and_the_others_are_there(owner):
    from mcrl.dataflow.ray import object_store

    kept = object_store.put(1)
    # Ray tells it in the same way: the error of the task, as a child of the store's.
    assert object_store.fetch([kept, owner.find_no_room.remote(), kept]) == [1, None, 1]


def test_what_does_not_come_in_time_is_missing_and_the_others_are_there(owner):
    from mcrl.dataflow.ray import object_store

    kept, late = object_store.put(1), owner.sleep.remote(60.0)
    begin_s = time.monotonic()
    assert object_store.fetch([kept, late], limit_s=0.5) == [1, None]
    assert time.monotonic() - begin_s < 10.0
