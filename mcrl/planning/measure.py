"""Measures the parts of a run on this machine: what mcrl.planning.simulator predicts from."""

import copy
import dataclasses
import math
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial

from mcrl.assembly import PRODUCT, Parts, build_worker
from mcrl.config import TrainConfig
from mcrl.dataflow.weights.params import ParamLayout
from mcrl.dataflow.weights.snapshot import ParamSnapshot
from mcrl.learning.learner import Learner
from mcrl.planning.components import ComponentTimes
from mcrl.planning.core_count import measure_cores
from mcrl.planning.transport import measure_transport
from mcrl.provenance import commit, hardware
from mcrl.rollout.fragment import Fragment
from policies.agent import PolicyAgent
from policies.interface import Policy
from policies.threads import use_threads
from task_synthesis.playing.task_env import Observation
from task_synthesis.task import TaskSpec
from worlds.types import ActionBatch

_NUM_TASKS = 128
_NUM_SMALL_REPEATS = 20
# Of a larger batch this many fragments are acted and learned: the whole takes as many times longer as it has more.
_MAX_FRAGMENTS = 64


def measure(
    config: TrainConfig, *, repeats: int, on_part: Callable[[str], None], parts: Parts = PRODUCT
) -> ComponentTimes:
    """Measure every part of `config` alone, `repeats` times the long ones. `on_part` hears what comes next."""
    use_threads(config.rollout.worker_threads)
    on_part("cores")
    num_cores = measure_cores()
    on_part("tasks")
    policy = parts.make_policy(config)
    tasks = parts.make_tasks(config, "train", min(_NUM_TASKS, config.tasks.num_train_tasks), lambda num_done: None)
    snapshot = ParamLayout(policy).snapshot(policy, version=0)
    on_part("acting")
    collects, load_s, fragments = _acting(config, parts, tasks, snapshot, repeats)
    detail = _detail(config, parts, tasks, policy)
    on_part("learning")
    learns = _learning(config, policy, fragments, repeats)
    layout = ParamLayout(policy)
    copy_out_s = _median_s(lambda: layout.snapshot(policy, version=0), repeats)
    on_part("transfer")
    transport = measure_transport(fragments[0], config.rollout.envs_per_worker, snapshot.flat_P)
    return ComponentTimes(
        recipe=config.recipe,
        envs_per_worker=config.rollout.envs_per_worker,
        fragment_steps=config.ppo.fragment_steps,
        fragments_per_batch=config.ppo.fragments_per_batch,
        collect_s=statistics.median(collects),
        collect_spread=statistics.pstdev([math.log(collect_s) for collect_s in collects]),
        learn_s=statistics.median(learns),
        publish_s=copy_out_s + transport.publish_s,
        load_s=load_s,
        receive_s=transport.receive_s,
        call_s=transport.call_s,
        fragment_bytes=float(array_bytes(fragments[0])),
        weight_bytes=float(snapshot.flat_P.nbytes),
        num_cores=num_cores,
        detail=detail,
        hardware=hardware(),
        commit=commit(),
    )


def array_bytes(fragment: Fragment) -> int:
    """Return the bytes of a fragment's arrays, each goal counted once."""
    values = [getattr(fragment, f.name) for f in dataclasses.fields(fragment)]
    values += [*fragment.memory.values()]
    values += [array for goal in fragment.goals for array in (goal.image_HWC, goal.mask_HW)]
    return sum(value.nbytes for value in values if hasattr(value, "nbytes"))


def _acting(
    config: TrainConfig, parts: Parts, tasks: Sequence[TaskSpec], snapshot: ParamSnapshot, repeats: int
) -> tuple[list[float], float, list[Fragment]]:
    """Return the seconds of each collect, those of loading weights, and fragments to learn from, a batch at most."""
    num_fragments = min(config.ppo.fragments_per_batch, max(_MAX_FRAGMENTS, config.ppo.minibatch_sequences))
    reference = None if config.ppo.kl_to_reference is None else snapshot
    with closing(build_worker(config, parts, tasks, reference, 0, 0)) as worker:
        load_s = _median_s(lambda: worker.load(snapshot), repeats)
        fragments = worker.collect()  # compiles and encodes the first goals; not counted
        collects: list[float] = []
        while len(collects) < repeats or len(fragments) < num_fragments:
            collects.append(_seconds(lambda: fragments.extend(worker.collect())))
            del fragments[:-num_fragments]
    return collects, load_s, fragments


def _learning(config: TrainConfig, policy: Policy, fragments: list[Fragment], repeats: int) -> list[float]:
    """Return the seconds of each update from a whole batch, of which `fragments` may be a part."""
    # The iterations that train the value head alone skip most of the work: measure the others.
    ppo = dataclasses.replace(config.ppo, value_warmup_iterations=0, target_kl=None)
    learner = Learner(copy.deepcopy(policy), ppo, precision=config.precision, seed=config.seed)
    use_threads(config.rollout.learner_threads or config.num_threads)
    learner.update(fragments)  # allocates; not counted
    whole = config.ppo.fragments_per_batch / len(fragments)
    seconds = [whole * _seconds(lambda: learner.update(fragments)) for _ in range(repeats)]
    use_threads(config.rollout.worker_threads)
    return seconds


def _detail(config: TrainConfig, parts: Parts, tasks: Sequence[TaskSpec], policy: Policy) -> dict[str, float]:
    """Return the seconds of one step of the worker's envs, and of acting once for several numbers of envs."""
    num_envs = config.rollout.envs_per_worker
    detail = {}
    for size in sorted({1, max(1, num_envs // 4), num_envs}):
        with closing(parts.make_env(config, parts.make_sampler(config, tasks, config.seed), size)) as env:
            observation = env.reset()
            agent = PolicyAgent(policy, size, seed=config.seed, precision=config.precision)

            def act(agent: PolicyAgent = agent, observation: Observation = observation) -> None:
                agent.step(observation, agent.look(observation))

            act()  # encodes the goals; not counted
            detail[f"act_s/{size}"] = _median_s(act, _NUM_SMALL_REPEATS)
            if size == num_envs:
                step = partial(env.step, ActionBatch.noop(size))
                detail[f"env_step_s/{size}"] = _median_s(step, _NUM_SMALL_REPEATS)
    return detail


def _median_s(work: Callable[[], object], repeats: int) -> float:
    return statistics.median(_seconds(work) for _ in range(repeats))


def _seconds(work: Callable[[], object]) -> float:
    """Run `work` and return its seconds: of the processor on one thread, so that other programs do not count."""
    cpu_s, wall_s = time.process_time(), time.perf_counter()
    work()
    return min(time.process_time() - cpu_s, time.perf_counter() - wall_s)
