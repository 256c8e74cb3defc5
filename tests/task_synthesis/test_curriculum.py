from task_synthesis.curriculum import ShuffledTasks
from tests.task_synthesis.fixtures import some_tasks


def test_what_was_announced_is_what_comes_next():
    tasks = some_tasks()
    source = ShuffledTasks(tasks, split=tasks[0].split, seed=3)
    source(0)
    announced = source.upcoming(3)
    assert len(announced) == min(3, len(tasks) - 1)
    assert [source(0) for _ in announced] == announced


def test_asking_what_comes_changes_nothing():
    tasks = some_tasks()
    quiet, curious = (ShuffledTasks(tasks, split=tasks[0].split, seed=3) for _ in range(2))
    order = []
    for _ in range(2 * len(tasks)):
        curious.upcoming(5)
        order.append((quiet(0).task_id, curious(0).task_id))
    assert all(one == other for one, other in order)
