"""Craftax-Classic, a grid world seen from above, in pixels and on the CPU: 63 x 63 RGB, without a mask, random actions.

64 environments are stepped together and 8 steps compiled into one call, as it is meant to be used. T steps, E envs.
"""

import os
from importlib.metadata import version
from typing import Any

from turns import FRAMES_PER_ITERATION, keep_stdout_for_answers, seed, take_turns

# Before they are imported: Craftax talks while it makes its textures; jax computes on one thread, as everybody here.
keep_stdout_for_answers()
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax  # noqa: E402
from craftax.craftax_env import make_craftax_env_from_name  # noqa: E402

_NUM_ENVS, _STEPS_PER_CALL = 64, 8


def main() -> None:
    """Drive it."""
    env = make_craftax_env_from_name("Craftax-Classic-Pixels-v1", auto_reset=True)
    settings = env.default_params
    num_actions = env.action_space(settings).n

    def step(carry: tuple[Any, Any], _: None) -> tuple[tuple[Any, Any], Any]:
        key, state_E = carry
        key, action_key, step_key = jax.random.split(key, 3)
        action_E = jax.random.randint(action_key, (_NUM_ENVS,), 0, num_actions)
        keys_E = jax.random.split(step_key, _NUM_ENVS)
        image_EHWC, state_E, *_ = jax.vmap(env.step, in_axes=(0, 0, 0, None))(keys_E, state_E, action_E, settings)
        return (key, state_E), image_EHWC

    @jax.jit
    def play(carry: tuple[Any, Any]) -> tuple[tuple[Any, Any], Any]:
        return jax.lax.scan(step, carry, None, _STEPS_PER_CALL)

    key, reset_key = jax.random.split(jax.random.PRNGKey(seed()))
    reset = jax.jit(jax.vmap(env.reset, in_axes=(0, None)))
    carry = (key, reset(jax.random.split(reset_key, _NUM_ENVS), settings)[1])
    carry, image_TEHWC = play(carry)  # compiles
    assert image_TEHWC.shape == (_STEPS_PER_CALL, _NUM_ENVS, 63, 63, 3)

    def iterate(num_iterations: int) -> int:
        nonlocal carry
        for _ in range(num_iterations * FRAMES_PER_ITERATION // (_NUM_ENVS * _STEPS_PER_CALL)):
            carry, image_TEHWC = play(carry)
            image_TEHWC.block_until_ready()
        return num_iterations * FRAMES_PER_ITERATION

    take_turns(iterate, {"craftax": version("craftax"), "jax": jax.__version__})


if __name__ == "__main__":
    main()
