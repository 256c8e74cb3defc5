"""Why an episode was no success, from what happened in the world: one of eval.episodes.records.CAUSES."""

from task_synthesis.skills import SKILLS

# The nearest targets are 5 blocks away and reach is at most 4.5: who walked less than that difference and a bit of
# milling about never set out.
STUCK_BLOCKS = 2.0

# Out of view for the last half of the episode counts as lost: nobody turns round for that long.
LOST_SHARE = 0.5


def cause_of(
    *,
    skill: str,
    outcome: str,
    ticks: int,
    walked_blocks: float,
    closest_blocks: float,
    first_seen_ticks: int | None,
    last_seen_ticks: int | None,
) -> str:
    """Return the cause of an episode: its outcome, or for a time limit the first of CAUSES that holds.

    An archer is in reach of most targets from the start; there only one who saw the target left the deed undone.
    """
    if outcome != "time_limit":
        return outcome
    is_in_reach = closest_blocks <= SKILLS[skill].reach_from_feet_blocks
    if walked_blocks < STUCK_BLOCKS and not (is_in_reach and first_seen_ticks is not None):
        return "stuck"
    if is_in_reach and (skill != "archery" or first_seen_ticks is not None):
        return "not_done"
    if first_seen_ticks is None or last_seen_ticks is None:
        return "never_seen"
    return "lost" if last_seen_ticks <= LOST_SHARE * ticks else "not_reached"
