"""DAgger after the first stage of a run: the learner plays, the expert says what it should have done.

Algorithm 3.1 of Ross, Gordon and Bagnell (2011, arXiv 1011.0686), with three deviations: a round goes on from the
weights of the last one instead of starting again, which minutes of training need; the aggregate begins with the noisy
demonstrations that made the clone; and it is thinned where `imitation.dagger_keep_steps` says so. As there, the best
policy on validation is returned, here that of the round with the highest success in val worlds.

The result is checkpoints/dagger, and the row "dagger" of reports. To compare it with PPO at equal frames leave
`imitation.dagger_steps` None: the rounds together then take exactly as many decisions in train worlds as PPO, if its
decisions divide into rounds of whole recordings (num_envs x fragment_steps), else up to one recording a round more.
For laptop, 368,640 decisions: `mcrl train laptop --imitation.dagger-rounds 4 --imitation.dagger-steps None`. Labels of
the val worlds and episodes played for validation are not counted, neither here nor for PPO. The expert's labels are
what DAgger has beyond PPO.
"""

import dataclasses
import time
from contextlib import closing
from itertools import groupby

import numpy as np
from torch import Tensor

from mcrl import checkpoint
from mcrl.config import TrainConfig
from mcrl.learning.demonstrations import collect_corrections
from mcrl.rollout.fragment import Fragment
from mcrl.run import Run
from mcrl.seeding import derive_seed
from mcrl.stages.dagger_rounds import DAGGER, DaggerRounds
from mcrl.stages.imitation_stage import IMITATION, forget, keep, learn
from mcrl.stages.picture_pairs import draw_pairs
from mcrl.stages.shown import ShownBefore, progress_of, recording_env, show
from mcrl.telemetry.metrics import rollout_metrics
from policies.agent import PolicyAgent
from policies.interface import Policy
from task_synthesis.playing.saved_state import SavedState
from task_synthesis.task import TaskSpec
from worlds.spec import Split


def imitate_by_dagger(run: Run, train_tasks: list[TaskSpec], val_tasks: list[TaskSpec], before: ShownBefore) -> None:
    """Leave the clone, corrected in the config's rounds, as checkpoints/dagger.

    It begins with what cloning has left in `before`; where that is nothing, after a resume, the expert shows the same
    again. A stage that was stopped or killed goes on in its round from the last validation or from the stop.
    """
    if (run.checkpoint_dir / DAGGER).is_dir():
        return
    rounds = DaggerRounds(run)
    start = _resumed(run, rounds)
    config = run.config.imitation
    policy = run.parts.make_policy(run.config).to(run.device)
    clone_folder = run.checkpoint_dir / IMITATION
    checkpoint.load_into(policy, checkpoint.load(clone_folder).model, where=clone_folder)
    # Where the last success check alone is left, nothing is played again.
    is_played = rounds.num_kept < config.dagger_rounds
    train, val = _shown(run, policy, train_tasks, val_tasks, before) if is_played else ([], [])
    pairs = draw_pairs(run, policy, train_tasks) if is_played else None
    num_steps = steps_per_round(run.config)
    a_round = dataclasses.replace(config, num_updates=config.dagger_updates, learning_rate=config.learning_rate / 2)
    rng = np.random.default_rng(derive_seed(run.config.seed, DAGGER, "kept"))
    best_success, best_weights = -1.0, dict[str, Tensor]()
    num_updates, num_decisions = 0, 0
    for number in range(1, config.dagger_rounds + 1):
        if is_played:
            begun_s = time.monotonic()
            if config.dagger_keep_steps is not None:
                train = thinned(train, config.dagger_keep_steps - num_steps, rng)
            played = _corrections(run, policy, "train", train_tasks, num_steps, number)
            num_decisions += sum(fragment.num_steps for fragment in played)
            train += played
            val += _corrections(run, policy, "val", val_tasks, config.num_val_demo_steps, number)
        if number <= rounds.num_kept:
            num_updates = rounds.load(number, policy)
        else:
            if start is None:
                metrics = {
                    "round": float(number),
                    "decisions": float(num_decisions),
                    "expert_share": config.dagger_beta**number,
                    "play_s": time.monotonic() - begun_s,
                }
                run.log(DAGGER, num_updates, metrics | rollout_metrics(played))
            num_updates = learn(
                run,
                policy,
                train,
                val,
                a_round,
                DAGGER,
                seed=derive_seed(run.config.seed, DAGGER, number),
                first_update=num_updates,
                start=start,
                folder=rounds.progress_folder(number),
                pairs=pairs,
            )
            start = None
            rounds.keep(number, policy, num_updates)
        success = rounds.success(num_updates)
        if success is None:
            success = run.validate(policy, val_tasks, DAGGER, num_updates)
        if success >= best_success:
            best_success = success
            best_weights = {name: tensor.clone() for name, tensor in policy.state_dict().items()}
    policy.load_state_dict(best_weights)
    keep(run, policy, DAGGER)
    rounds.clear()


def _resumed(run: Run, rounds: DaggerRounds) -> SavedState | None:
    """Return the progress of the round that goes on, None at the beginning of one, and leave no line beyond it."""
    start = rounds.progress(rounds.num_kept + 1)
    again = "what was played is not kept, and is played again"
    if start is not None:
        num_done = start.value("num_updates", int)
        run.progress.say(f"{DAGGER} goes on after update {num_done} of round {rounds.num_kept + 1}; {again}")
        run.metrics.discard_after(DAGGER, rounds.first_update + num_done)
    elif not rounds.num_kept:
        if run.metrics.has(DAGGER, 0, name="round"):
            run.progress.say(f"{DAGGER} begins again from the clone: {again}")
        forget(run, DAGGER)
    elif rounds.success(rounds.first_update) is not None:
        run.progress.say(f"{DAGGER} goes on after round {rounds.num_kept}; {again}")
        run.metrics.discard_after_last("dagger_success")
    else:
        run.progress.say(f"{DAGGER} goes on with the success check of round {rounds.num_kept}")
    return start


def _shown(
    run: Run, policy: Policy, train_tasks: list[TaskSpec], val_tasks: list[TaskSpec], before: ShownBefore
) -> tuple[list[Fragment], list[Fragment]]:
    """Return the train and val demonstrations that cloning left, or else had."""
    tasks: dict[Split, list[TaskSpec]] = {"train": train_tasks, "val": val_tasks}
    is_logged = not run.metrics.has("train_demos", 0, name="episodes")  # by the clone
    shown = before.take() or show(run, policy, tasks, stage=IMITATION, is_logged=is_logged)
    return shown.pop("train"), shown.pop("val")


def start_from_dagger(run: Run, policy: Policy) -> None:
    """Load what DAgger has left into `policy`."""
    folder = run.checkpoint_dir / DAGGER
    checkpoint.load_into(policy, checkpoint.load(folder).model, where=folder)


def steps_per_round(config: TrainConfig) -> int:
    """Return how many decisions the learner takes in a round: as asked, or PPO's decisions spread over the rounds."""
    if config.imitation.dagger_steps is not None:
        return config.imitation.dagger_steps
    ppo = config.ppo
    return -(-ppo.num_iterations * ppo.fragments_per_batch * ppo.fragment_steps // config.imitation.dagger_rounds)


def thinned(fragments: list[Fragment], num_steps: int, rng: np.random.Generator) -> list[Fragment]:
    """Return whole recordings among the fragments, drawn at random, of `num_steps` decisions at most, in their order.

    A recording is what lies in one array, of which its fragments are views: to drop some of them would free no memory.
    """
    recordings = [list(group) for _, group in groupby(fragments, key=_recording_of)]
    room = num_steps
    kept: set[int] = set()
    for index in rng.permutation(len(recordings)):
        room -= sum(fragment.num_steps for fragment in recordings[index])
        if room < 0:
            break
        kept.add(int(index))
    return [fragment for index in sorted(kept) for fragment in recordings[index]]


def _recording_of(fragment: Fragment) -> int:
    """Return the identity of what holds a fragment's views: the array itself, or what it is a view of."""
    views = fragment.image_THWC
    assert isinstance(views, np.ndarray), "an engine on a GPU records no demonstrations"
    return id(views if views.base is None else views.base)


def _corrections(
    run: Run, policy: Policy, split: Split, tasks: list[TaskSpec], num_steps: int, number: int
) -> list[Fragment]:
    """Let the policy play round `number` in a split, and return what it did with the expert's labels."""
    config = run.config.imitation
    seed = derive_seed(run.config.seed, DAGGER, number, split)
    with (
        closing(recording_env(run, tasks, split, num_steps, seed)) as env,
        run.progress.bar(f"{split} round {number}", num_steps) as bar,
    ):
        learner = PolicyAgent(policy, env.num_envs, seed=derive_seed(seed, "learner"), precision=run.config.precision)
        return collect_corrections(
            env,
            run.parts.make_expert(env),
            learner,
            expert_share=config.dagger_beta**number,
            num_steps=num_steps,
            fragment_steps=config.fragment_steps,
            seed=seed,
            on_progress=progress_of(run, bar, num_steps),
        )
