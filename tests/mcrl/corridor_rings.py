"""Rings in the corridor: engines that wait, crash and hang on a clock that only pretends."""

from mcrl.dataflow.inference.policy_host import PolicyHost
from mcrl.dataflow.rings.group import Backend
from mcrl.dataflow.rings.latency import LatencyEnv
from mcrl.dataflow.rings.ring import EnvRing
from mcrl.dataflow.rings.step_runner import VirtualRunner
from mcrl.seeding import derive_seed
from task_synthesis.playing.curriculum import ShuffledTasks
from tests.mcrl.corridor import CorridorEnv, make_task
from tests.mcrl.corridor_policy import CorridorPolicy

NUM_STEPS, WORKER = 8, 5
LIMIT_S = 60.0


def make_host(reference=None, policy_seed=0):
    """Draw actions as the rollout worker of the same id does."""
    return PolicyHost(
        CorridorPolicy(policy_seed), reference, seed=derive_seed(0, "rollout", WORKER, 0), precision="fp32"
    )


def corridor(num_envs, group=0, life=0, **changes):
    source = ShuffledTasks([make_task(index) for index in range(4)], split="train", seed=100 * life + group)
    return CorridorEnv(source, num_envs, **changes)


def make_ring(
    model=None, *, num_groups=4, envs_per_group=1, inference=None, runner=None, make_env=corridor, seed=0, **changes
):
    """Return a ring in virtual time whose engines have the latencies of `model`."""
    runner = runner or VirtualRunner()

    def make_backend(group, life):
        env = make_env(envs_per_group, group, life)
        if model is not None:
            first = group * envs_per_group
            env = LatencyEnv(env, model, seed=seed, first_instance=first, life=life, clock=runner)
        return Backend(env=env)

    return EnvRing(
        make_backend,
        inference or make_host(),
        num_groups=num_groups,
        envs_per_group=envs_per_group,
        fragment_steps=NUM_STEPS,
        worker_id=WORKER,
        runner=runner,
        **({"step_limit_s": LIMIT_S} | changes),
    )


def play(ring, num_fragments):
    """Keep every group at work until there are that many fragments; return them in the order of their end."""
    fragments = []
    while len(fragments) < num_fragments:
        ring.start(ring.num_idle)
        fragments += ring.poll(1e6)
    return fragments


def play_past_the_first(ring):
    """Keep every group at work until one besides the first has made a fragment."""
    fragments = play(ring, 4)
    while all(fragment.env_index == 0 for fragment in fragments):
        fragments += play(ring, 1)
