"""Pictures of the train tasks' scenes, by which a policy learns to see beside demonstrations."""

from mcrl.learning.glimpse_pairs import NEAR_BLOCKS, GlimpsePairs
from mcrl.learning.imitation import Pairs
from mcrl.learning.pairs import PairDraws
from mcrl.run import Run
from mcrl.seeding import derive_seed
from mcrl.stages.shown import progress_of
from policies.interface import Policy
from task_synthesis.task import TaskSpec
from task_synthesis.views.sightings import DISTANCE_BLOCKS, photograph
from worlds.adapters.catalogue import BUILT_IN


def draw_pairs(run: Run, policy: Policy, train_tasks: list[TaskSpec]) -> Pairs | None:
    """Return pairs of the scenes of the train tasks to learn to see by; None where there are to be none."""
    num_pairs = run.config.imitation.pair_goals
    tasks = [task for task in train_tasks if task.world.source == "generated"]
    why = _why_not(run, policy, tasks)
    if why and (num_pairs or policy.looks_closely):
        run.progress.say(f"no pairs of pictures (imitation.pair_goals): {why}")
    if why or not num_pairs:
        return None
    with run.progress.bar("pictures of scenes", len(tasks)) as bar:
        sightings = photograph(
            tasks,
            image_px=run.config.env.image_px,
            seed=derive_seed(run.config.seed, "pairs"),
            distance_blocks=NEAR_BLOCKS if policy.looks_closely else DISTANCE_BLOCKS,
            num_threads=run.config.num_threads,
            on_progress=progress_of(run, bar, len(tasks)),
        )
    return GlimpsePairs(sightings, num_pairs) if policy.looks_closely else PairDraws(sightings, num_pairs)


def _why_not(run: Run, policy: Policy, tasks: list[TaskSpec]) -> str:
    """Return why there are to be no pairs, "" where nothing is against them."""
    if run.config.env.backend != BUILT_IN or not tasks:
        return "they show worlds of the built-in engine alone"
    if run.config.env.goal_form != "cross_view":
        return "env.goal_form shows goals in another way"
    if not policy.says_where:
        return "this policy has no cells to find a target in"
    if policy.looks_closely and not any(task.difficulty.num_same_kind for task in tasks):
        return "to look closely is learned from scenes with several of a kind, which tasks.num_same_kind leaves out"
    if policy.looks_closely and not run.config.imitation.pair_goals:
        return "this policy learns by these alone to look closely; --imitation.pair-goals 96 gives it some"
    return ""
