"""Claims about libraries of tasks in scanned worlds."""

from collections import Counter
from types import SimpleNamespace

from task_synthesis.foreign.foreign_tasks import _interleaved


def test_every_prefix_of_a_library_holds_about_as_many_of_each_skill():
    skills = ["break"] * 5 + ["approach"] * 3 + ["hunt"] * 5
    tasks = [SimpleNamespace(skill=skill, number=number) for number, skill in enumerate(skills)]
    ordered = _interleaved(tasks)
    assert sorted(task.number for task in ordered) == list(range(len(tasks)))
    for length in range(1, 10):  # while there are of all
        counts = Counter(task.skill for task in ordered[:length])
        assert max(counts.values()) - min(counts[skill] for skill in set(skills)) <= 1
    for skill in set(skills):  # and of one skill in the order in which they were found
        numbers = [task.number for task in ordered if task.skill == skill]
        assert numbers == sorted(numbers)
