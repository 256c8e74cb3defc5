"""Which episodes a report shows: by rule and task order alone, so that nobody picks the prettiest."""

from collections import defaultdict
from collections.abc import Sequence

from eval.episodes.records import CAUSES, JudgedEpisode

# Shorter ones are over before there is anything to see; they are shown only when nothing else is left.
_MIN_SHOWN_TICKS = 16

VIDEO_RULE = (
    "Chosen by rule, not by eye: of each skill the first success and the first failure in task order, "
    "then the second of each, and so on"
)
FAILURE_RULE = (
    "Chosen by rule, not by eye: evenly over the causes, within a cause evenly over the skills, in task order"
)


def episodes_to_film(episodes: Sequence[JudgedEpisode], num_shown: int) -> list[JudgedEpisode]:
    """Return at most `num_shown` of one row's episodes: VIDEO_RULE, successes before failures."""
    by_kind: dict[tuple[bool, str], list[JudgedEpisode]] = defaultdict(list)
    for skill in dict.fromkeys(episode.skill for episode in episodes):
        of_skill = [episode for episode in episodes if episode.skill == skill and episode.outcome != "fault"]
        # A stable sort: long enough ones first, each part in task order.
        for episode in sorted(of_skill, key=lambda episode: episode.ticks < _MIN_SHOWN_TICKS):
            by_kind[not episode.success, skill].append(episode)
    kinds = sorted(by_kind, key=lambda kind: kind[0])
    chosen = _in_turn([by_kind[kind] for kind in kinds])[:num_shown]
    return sorted(chosen, key=lambda episode: not episode.success)


def failures_to_show(episodes: Sequence[JudgedEpisode], num_shown: int) -> list[JudgedEpisode]:
    """Return at most `num_shown` of one row's failures, FAILURE_RULE, causes in the order of records.CAUSES."""
    of_causes = []
    for cause in CAUSES:
        by_skill: dict[str, list[JudgedEpisode]] = defaultdict(list)
        for episode in episodes:
            if episode.cause == cause and not episode.success and episode.outcome != "fault":
                by_skill[episode.skill].append(episode)
        of_causes.append(_in_turn(list(by_skill.values())))
    chosen = _in_turn(of_causes)[:num_shown]
    return sorted(chosen, key=lambda episode: CAUSES.index(episode.cause))


def _in_turn(lists: Sequence[Sequence[JudgedEpisode]]) -> list[JudgedEpisode]:
    """Return the first of every list, then the second of every list, until all are used up."""
    longest = max((len(one) for one in lists), default=0)
    return [one[place] for place in range(longest) for one in lists if place < len(one)]
