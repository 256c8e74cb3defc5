"""Why an episode was no success, from what happened in the world: one of eval.records.CAUSES."""

from task_synthesis.success import APPROACH_RADIUS_BLOCKS

# The nearest targets are 5 blocks away and reach is at most 4.5: who walked less than that difference and a bit of
# milling about never set out.
STUCK_BLOCKS = 2.0

# From the feet to the centre of the target's floor, so that being so near leaves only the deed to do.
REACH_BLOCKS: dict[str, float] = {
    "approach": APPROACH_RADIUS_BLOCKS,
    # Hands reach 4.5 blocks from the eye to the surface of a block: from the feet the same, since what the eye is
    # higher than the centre of a block costs as much as its half width gains.
    "break": 4.5,
    "interact": 4.5,
    "place": 4.5,
    # A sword reaches 3 blocks from the eye to the animal's hide, which is about half a block before its centre.
    "hunt": 3.5,
    # Items come to who walks over them: boxes 1 block wider than the body's 0.3 meet.
    "pick_up": 1.5,
    # Farther away an animal that walks has turned before the arrow is there; it is where the expert shoots from.
    "archery": 20.0,
}

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
    is_in_reach = closest_blocks <= REACH_BLOCKS[skill]
    if walked_blocks < STUCK_BLOCKS and not (is_in_reach and first_seen_ticks is not None):
        return "stuck"
    if is_in_reach and (skill != "archery" or first_seen_ticks is not None):
        return "not_done"
    if first_seen_ticks is None or last_seen_ticks is None:
        return "never_seen"
    return "lost" if last_seen_ticks <= LOST_SHARE * ticks else "not_reached"
