"""Episodes of demonstrations: what is exchanged with the world outside, and fragments made of them. T steps."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from mcrl.rollout.fragment import Fragment
from policies import action_codec
from task_synthesis.goal import CrossViewGoal


@dataclass(kw_only=True, slots=True, eq=False)
class Episode:
    """One attempt at one task, T steps; unfinished where the recording ended first."""

    task_id: str
    family: str  # "skill/kind"
    goal: CrossViewGoal
    image_THWC: np.ndarray  # uint8 [T, H, W, 3] RGB, the view before each action
    action_TA: np.ndarray  # uint8 [T, A], what was done
    expert_action_TA: np.ndarray  # uint8 [T, A], what is to be imitated
    target_T7: np.ndarray  # float32 [T, 7], see worlds.types.TARGET_LABELS
    reward_T: np.ndarray  # float32 [T]
    terminated_T: np.ndarray  # bool [T]
    truncated_T: np.ndarray  # bool [T]
    is_valid_T: np.ndarray  # bool [T], false where the engine failed
    outcome_T: np.ndarray  # int64 [T], task_synthesis.playing.task_env.Outcome after the step

    @property
    def num_steps(self) -> int:
        """Return T."""
        return len(self.action_TA)


_ARRAYS = tuple(field.name for field in fields(Episode) if "_T" in field.name)


def episodes_of(fragments: Sequence[Fragment]) -> Iterator[Episode]:
    """Yield the episodes of demonstrations, env by env in order of time."""
    streams: dict[tuple[int, int], list[Fragment]] = {}
    for fragment in fragments:
        streams.setdefault((fragment.worker_id, fragment.env_index), []).append(fragment)
    for key in sorted(streams):
        pieces: list[tuple[Fragment, slice]] = []
        for fragment in sorted(streams[key], key=lambda f: f.sequence):
            starts = [0, *(np.flatnonzero(fragment.first_T[1:]) + 1).tolist(), fragment.num_steps]
            for start, stop in zip(starts, starts[1:], strict=False):
                if fragment.first_T[start] and pieces:
                    yield _joined(pieces)
                    pieces = []
                pieces.append((fragment, slice(start, stop)))
        yield _joined(pieces)


def _joined(pieces: Sequence[tuple[Fragment, slice]]) -> Episode:
    fragment, where = pieces[0]
    assert fragment.first_T[where.start], "a recording begins with the first view of an episode"
    goal_index = int(fragment.goal_index_T[where.start])
    arrays = {name: np.concatenate([getattr(f, name)[steps] for f, steps in pieces]) for name in _ARRAYS}
    return Episode(
        task_id=fragment.task_ids[goal_index],
        family=fragment.families[goal_index],
        goal=fragment.goals[goal_index],
        **arrays,
    )


def fragments_of(episodes: Sequence[Episode], *, fragment_steps: int, memory: dict[str, np.ndarray]) -> list[Fragment]:
    """Return the episodes, one after the other, as fragments of `fragment_steps` decisions that start with `memory`.

    What `episodes_of` took apart comes together as it was. Invalid steps fill up the last fragment.
    """
    num_steps = sum(episode.num_steps for episode in episodes)
    first_step_N = np.cumsum([0, *(episode.num_steps for episode in episodes)])
    fragments: list[Fragment] = []
    for sequence, start in enumerate(range(0, num_steps, fragment_steps)):
        stop = min(num_steps, start + fragment_steps)
        first = int(np.searchsorted(first_step_N, start, side="right")) - 1
        last = int(np.searchsorted(first_step_N, stop, side="left")) - 1
        within = episodes[first : last + 1]
        offset_N = first_step_N[first : last + 1] - start
        arrays = {
            name: _filled(
                np.concatenate(
                    [
                        getattr(episode, name)[max(0, -int(offset)) : stop - start - int(offset)]
                        for episode, offset in zip(within, offset_N, strict=True)
                    ]
                ),
                fragment_steps,
            )
            for name in _ARRAYS
        }
        is_step_T = np.arange(fragment_steps) < stop - start
        arrays["is_valid_T"] = arrays["is_valid_T"] & is_step_T
        first_T = np.isin(np.arange(fragment_steps), offset_N)
        before_A = np.zeros((1, action_codec.NUM_FACTORS), np.uint8)
        if start:
            before_A = fragments[-1].action_TA[-1:]
        zeros_T = np.zeros(fragment_steps, np.float32)
        fragments.append(
            Fragment(
                goals=tuple(episode.goal for episode in within),
                task_ids=tuple(episode.task_id for episode in within),
                families=tuple(episode.family for episode in within),
                goal_index_T=np.searchsorted(offset_N, np.arange(fragment_steps), side="right") - 1,
                first_T=first_T,
                previous_action_TA=np.concatenate([before_A, arrays["action_TA"][:-1]]),
                log_prob_T=zeros_T,
                value_T=zeros_T,
                reference_logits_TL=None,
                bootstrap_value_T=zeros_T,
                memory=memory,
                min_version=0,
                max_version=0,
                worker_id=0,
                env_index=0,
                sequence=sequence,
                start_ns=0,
                end_ns=0,
                status="ok",
                has_gap=False,
                **arrays,
            )
        )
    return fragments


def _filled(array_TX: np.ndarray, num_steps: int) -> np.ndarray:
    """Return the array with its last row repeated until it has `num_steps` rows."""
    missing = num_steps - len(array_TX)
    return np.concatenate([array_TX, np.repeat(array_TX[-1:], missing, axis=0)]) if missing else array_TX
