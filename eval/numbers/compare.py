"""Several evaluations of one suite side by side: their judged rows on the tasks that all of them played."""

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path
from shlex import quote

from eval.episodes.records import JudgedEpisode
from eval.judging.judged_folder import TASKS_FILE, JudgedFolder
from eval.judging.plan_file import weights_of
from eval.judging.row_names import BASELINES, ROW_EXPERT, ROW_NOOP, ROW_RANDOM, main_row
from eval.reports.report import Summary, summarise
from eval.reports.suite_names import parts_of

# Rows that no checkpoint takes part in: shown once where every folder has the same outcomes of them.
_WITHOUT_CHECKPOINT = (ROW_RANDOM, ROW_NOOP, ROW_EXPERT)

# More names of a path are a heading that no table has room for.
_MAX_LABEL_NAMES = 2


def labels_of(paths: Sequence[Path]) -> list[str]:
    """Return a short name for each folder: what is left of its path without what all of them share.

    A name is never that of a baseline: reports would take the folder for it.

    Raises:
        ValueError: a folder is named twice.
    """
    parts = [path.resolve().parts for path in paths]
    for path, one in zip(paths, parts, strict=True):
        if parts.count(one) > 1:
            raise ValueError(f"mcrl report: {path} is named twice; name each folder once")
    shortest = min(len(one) for one in parts)
    start = next((index for index in range(shortest) if len({one[index] for one in parts}) > 1), shortest)
    end = next((index for index in range(shortest) if len({one[-1 - index] for one in parts}) > 1), shortest)
    labels = ["/".join(one[start : len(one) - end]) for one in parts]
    if len(set(labels)) < len(labels) or not all(labels):
        labels = ["/".join(one[start:]) or one[-1] for one in parts]
    labels = _shortened(labels)
    # Of x and x/x both would be x.
    while len(set(labels)) < len(labels) or not set(labels).isdisjoint(BASELINES):
        start -= 1
        labels = [str(Path(*one[start:])) for one in parts]
    return labels


def _shortened(labels: list[str]) -> list[str]:
    """Return the last names of each, as few as tell all apart: of folders far from each other all is a long path."""
    parts = [label.split("/") for label in labels]
    for num_names in range(_MAX_LABEL_NAMES, max(len(one) for one in parts)):
        short = ["/".join(one[-num_names:]) for one in parts]
        if len(set(short)) == len(short):
            return short
    return labels


def suite_of(folder: JudgedFolder) -> str:
    """Return the name of what was played; tasks of no frozen suite are named after how they were drawn."""
    origin = folder.origin
    sources = {task.world.source.partition(":")[0] for task in folder.task_of.values()} - {"generated"}
    engine = f" in {', '.join(sorted(sources))}" if sources else ""
    return origin.suite or f"{origin.split} tasks of seed {origin.suite_seed}{engine}"


def cut_differently(suites: Iterable[str]) -> str:
    """Return a sentence on the suites of which several selections were judged; "" where there are none.

    `suites` are names as `suite_of` gives them, a selection's with what it selects behind: "unseen_seeds.v1" and
    "unseen_seeds.v1 (approach; near)".
    """
    selections: dict[str, list[str]] = {}
    for suite in suites:
        selections.setdefault(parts_of(suite)[0], []).append(suite)
    told = [" and ".join(names) for names in selections.values() if len(names) > 1]
    if not told:
        return ""
    return (
        f"{'; '.join(told)}: other selections of tasks, so they are shown side by side and not compared; judge with "
        "the same --skills and --bands for a comparison"
    )


def compare_folders(folders: Sequence[JudgedFolder], labels: Sequence[str], *, command: str) -> Summary:
    """Return the numbers of a comparison; every judged row is tested against the first folder's.

    Rows are named after their folder: "b" is the judged row of b, "b: imitation" another one. Folders of which one
    played more tasks of the same suite than the other are compared on the tasks of both.

    Raises:
        ValueError: the folders are of different suites, or of different versions or draws of one.
    """
    first = folders[0]
    for folder in folders[1:]:
        if suite_of(folder) != suite_of(first):
            raise ValueError(
                f"{folder.path}: is of suite {suite_of(folder)}, {first.path} of {suite_of(first)}; only rows that "
                "played the same tasks can be compared"
            )
    shared = _shared_tasks(folders)
    judged = [_judged_row(folder) for folder in folders]
    twin_of = _twins(folders, labels)
    common = _common_rows(folders, shared)
    episodes: list[JudgedEpisode] = []
    sources: dict[str, str] = {}
    for number, (folder, label, main) in enumerate(zip(folders, labels, judged, strict=True)):
        for episode in folder.episodes:
            if episode.task_id not in shared or (episode.row in common and number):
                continue
            name = episode.row if episode.row in common else label if episode.row == main else f"{label}: {episode.row}"
            episodes.append(dataclasses.replace(episode, row=name))
            if name not in sources:
                source = sources[name] = folder.origin.row_sources.get(episode.row, "")
                if episode.row not in common:
                    sources[name] = f"{source}; {folder.origin.command}; commit {folder.origin.commit}"
                if name in twin_of:
                    sources[name] += f"; the weights of {twin_of[name]}"
                if len(shared) < len(folder.task_of):
                    sources[name] += f"; {len(shared)} of its {len(folder.task_of)} tasks, those that all folders hold"
    origin = dataclasses.replace(
        first.origin,
        command=command,
        num_worlds=len({task.world for task_id, task in first.task_of.items() if task_id in shared}),
        row_sources=sources,
        row_wall_s={
            label: sum(folder.origin.row_wall_s.values()) for folder, label in zip(folders, labels, strict=True)
        },
        training_wall_s={},
        config={label: folder.origin.config for folder, label in zip(folders, labels, strict=True)},
    )
    claims = [(label, labels[0]) for label in labels[1:]]
    return summarise(episodes, origin, main=labels[0], claims=claims, curved=labels)


def same_weights(folders: Sequence[JudgedFolder], labels: Sequence[str]) -> str:
    """Return a sentence on the folders that judged the weights of an earlier one; "" where there are none."""
    told = [f"{label} has the weights of {twin}" for label, twin in _twins(folders, labels).items()]
    return f"{'; '.join(told)}: what differs is how they were played, not what was learned." if told else ""


def _twins(folders: Sequence[JudgedFolder], labels: Sequence[str]) -> dict[str, str]:
    """Return the labels of folders whose judged row has the weights of an earlier folder's, each with that one's."""
    first_with: dict[str, str] = {}
    twin_of = {}
    for folder, label in zip(folders, labels, strict=True):
        weights = weights_of(folder.path, _judged_row(folder))
        if weights and first_with.setdefault(weights, label) != label:
            twin_of[label] = first_with[weights]
    return twin_of


def _judged_row(folder: JudgedFolder) -> str:
    return main_row([episode.row for episode in folder.episodes])


def _shared_tasks(folders: Sequence[JudgedFolder]) -> set[str]:
    """Return the ids of the tasks that all folders played; one must be the beginning of the other."""
    first = folders[0]
    shared = set(first.task_of)
    for folder in folders[1:]:
        ids = set(folder.task_of)
        if not (ids <= set(first.task_of) or set(first.task_of) <= ids):
            # Tasks that no suite fixes are drawn as the policy's recipe has them.
            fix = f"with --tasks {quote(str(first.path / TASKS_FILE))} another policy plays these tasks"
            raise ValueError(
                f"{folder.path}: holds {len(ids - set(first.task_of))} tasks of {suite_of(folder)} that {first.path} "
                f"does not, and lacks others; {'judge both on one version of the suite' if first.origin.suite else fix}"
            )
        shared &= ids
    return shared


def _common_rows(folders: Sequence[JudgedFolder], shared: set[str]) -> set[str]:
    """Return the rows without a checkpoint that went the same way in every folder."""
    outcomes = [
        {
            row: {episode.task_id: episode.outcome for episode in folder.episodes if episode.row == row}
            for row in _WITHOUT_CHECKPOINT
        }
        for folder in folders
    ]
    return {
        row
        for row in _WITHOUT_CHECKPOINT
        if all(
            {id_: one[row].get(id_) for id_ in shared} == {id_: outcomes[0][row].get(id_) for id_ in shared}
            for one in outcomes
        )
        and outcomes[0][row]
    }
