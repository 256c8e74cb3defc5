"""`mcrl policies`: the trained policies that come along, where each comes from and how well it does."""

from collections.abc import Sequence
from dataclasses import dataclass

from mcrl.commands.options import read_options
from mcrl.policy_card import PolicyCard, read_card
from policies.shipped import CARD_FILE, FOLDER, shipped_names


@dataclass(frozen=True, kw_only=True)
class PoliciesOptions:
    """No options: the policies are listed."""


def policies_command(args: Sequence[str]) -> int:
    """Print what the card of every shipped policy says."""
    read_options(PoliciesOptions, args, prog="mcrl policies", description="List the policies that come with mcrl.")
    for name in shipped_names():
        _show(read_card(FOLDER / name / CARD_FILE))
    print(
        "rows: rl is the policy as shipped, imitation and dagger what its training made on the way, before or shipped "
        "before the one that it replaced, small the other one; all on the same tasks. The intervals are of a mean over "
        "skills, each with its own tasks; those of all tasks together, as the tables of a report, are 0.1 points wider"
    )
    print("watch one: `mcrl play --policy NAME`; judge it: `mcrl eval NAME --suite laptop`; add one: `mcrl ship`")
    return 0


def _show(card: PolicyCard) -> None:
    from mcrl.commands.table import print_table

    print(
        f"{card.name}: preset {card.preset}, {card.image_px} px, {card.num_parameters:,} parameters, "
        f"{card.weights_bytes / 1e6:.1f} MB; `{card.command}` (commit {card.commit}), {card.stage} after "
        f"{card.iteration} iterations, shipped {card.date}"
    )
    suites = [score.suite or "fresh tasks, no suite" for score in card.scores]
    # "unseen_seeds.v1 (these skills; these bands)": said once where it is the same for all.
    kinds = {kind for _, _, kind in (suite.partition(" ") for suite in suites)}
    if len(kinds) == 1:
        print(f"on held-out tasks {kinds.pop()}".rstrip())
        suites = [suite.partition(" ")[0] for suite in suites]
    rows = [
        [
            suite,
            str(score.num_tasks),
            score.row,
            f"{100 * score.success:.1f} [{100 * score.low_95:.1f}, {100 * score.high_95:.1f}]",
        ]
        for suite, score in zip(suites, card.scores, strict=True)
    ]
    if rows:
        print_table(f"{card.name} on held-out tasks", ["suite", "tasks", "row", "success %, mean over skills"], rows)
