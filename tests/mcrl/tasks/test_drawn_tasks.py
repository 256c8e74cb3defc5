"""A run's tasks: bare and full worlds in the shares that its config asks for."""

import dataclasses

from hypothesis import given
from hypothesis import strategies as st

from mcrl.config import TaskConfig, TrainConfig
from mcrl.tasks.drawn_tasks import spread, synthesise_tasks
from task_synthesis.task import TaskSpec
from tests.mcrl.corridor import make_task


def tasks_with(num_tasks: int, **settings: object) -> list[TaskSpec]:
    config = TrainConfig(
        recipe="test",
        tasks=TaskConfig(skills={"approach": 1.0}, biomes=("plains",), side_blocks=64, **settings),  # type: ignore[arg-type]
    )
    return synthesise_tasks(config, "train", num_tasks, seed=3, num_threads=1, on_progress=lambda _: None)


def test_full_worlds_take_their_share_and_leave_the_bare_ones_as_they_are_without_them() -> None:
    bare, mixed = tasks_with(12), tasks_with(24, full_share=0.5, num_same_kind=(1, 3))
    assert {task.world.detail for task in bare} == {"plain"}
    assert [task.world.detail for task in mixed] == ["plain", "full"] * 12
    assert {task.difficulty.num_same_kind for task in mixed} <= {1, 2, 3}
    assert len(tasks_with(2, num_same_kind=(0, 10))) == 2  # as many as fit where nothing stands beside them
    half = tasks_with(24, full_share=0.5)
    assert [task for task in half if task.world.detail == "plain"] == bare


@given(counts=st.lists(st.integers(0, 40), min_size=1, max_size=3))
def test_every_stretch_of_the_list_has_each_part_in_its_order_and_share(counts: list[int]) -> None:
    parts = [
        [dataclasses.replace(make_task(0), task_id="", episode_seed=1000 * part + index) for index in range(count)]
        for part, count in enumerate(counts)
    ]
    together = spread(parts)
    for part, tasks in enumerate(parts):
        places = [place for place, task in enumerate(together) if task.episode_seed // 1000 == part]
        assert [together[place] for place in places] == tasks
        for num_seen, place in enumerate(places):
            assert abs(num_seen / len(tasks) - place / len(together)) <= 2 / len(tasks)


def test_companions_stand_in_their_share_of_bare_and_full_worlds_alike() -> None:
    tasks = tasks_with(24, full_share=0.5, companion_share=0.5, num_same_kind=(1, 1))
    # The target, one other of its kind and one to three more; with companions two blocks besides.
    num_placed = {
        detail: [len(t.placements) for t in tasks if t.world.detail == detail] for detail in ("plain", "full")
    }
    alone = [task for task in tasks_with(12, full_share=0.5, num_same_kind=(1, 1)) if task in tasks]
    assert {detail: len(placed) for detail, placed in num_placed.items()} == {"plain": 12, "full": 12}
    assert len(alone) == 12, "those without companions are what they are without the others"
    assert all(max(placed) > 5 for placed in num_placed.values())
