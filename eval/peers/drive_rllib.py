"""RLlib's PPO on its new API stack, sampling and learning in the driver's process: faster here than env runners.

Its default network for images pads differently, has a layer of 512 for each head and takes no uint8, so the one that
everybody has here stands in. N frames.
"""

from typing import Any

import ray
import torch
from frame_pool_gym import FramePoolGym
from nature_trunk import WIDTH, nature_trunk
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.tune.registry import register_env
from torch import Tensor, nn
from turns import (
    CLIP_EPS,
    DISCOUNT,
    ENTROPY_COEF,
    FRAMES_PER_ITERATION,
    GAE_LAMBDA,
    LEARNING_RATE,
    MAX_GRAD_NORM,
    MINIBATCH_FRAMES,
    NUM_ACTIONS,
    NUM_ENVS,
    VALUE_COEF,
    seed,
    take_turns,
)

# It puts a row behind the end of every episode or rollout, and an iteration has at most two of them an env; with
# minibatches of 256 the few rows beyond the fourth would cost it a fifth one, filled up with frames seen before.
_MINIBATCH_ROWS = MINIBATCH_FRAMES + 2 * NUM_ENVS * MINIBATCH_FRAMES // FRAMES_PER_ITERATION


class NatureModule(TorchRLModule, ValueFunctionAPI):
    """The convolutional network of Mnih et al. 2015 with a policy head and a value head."""

    def setup(self) -> None:
        """Build it."""
        self.trunk = nature_trunk()
        self.policy, self.value = nn.Linear(WIDTH, NUM_ACTIONS), nn.Linear(WIDTH, 1)

    def compute_values(self, batch: dict[str, Any], embeddings: Tensor | None = None) -> Tensor:
        """Return values, float32 [N]."""
        hidden_ND = self._hidden(batch) if embeddings is None else embeddings
        return self.value(hidden_ND).squeeze(-1)

    def _forward(self, batch: dict[str, Any], **more: Any) -> dict[str, Tensor]:
        return {Columns.ACTION_DIST_INPUTS: self.policy(self._hidden(batch))}

    def _forward_train(self, batch: dict[str, Any], **more: Any) -> dict[str, Tensor]:
        hidden_ND = self._hidden(batch)
        return {Columns.ACTION_DIST_INPUTS: self.policy(hidden_ND), Columns.EMBEDDINGS: hidden_ND}

    def _hidden(self, batch: dict[str, Any]) -> Tensor:
        return self.trunk(batch[Columns.OBS].permute(0, 3, 1, 2).float().div_(255))


def main() -> None:
    """Drive it."""
    torch.set_num_threads(1)
    # Its start looks for an accelerator in every process otherwise, and its workers' prints would meet our answers.
    ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=2**28)
    register_env("frame_pool", lambda config: FramePoolGym(seed() + config.vector_index))
    config = (
        PPOConfig()
        .environment("frame_pool")
        .env_runners(num_env_runners=0, num_envs_per_env_runner=NUM_ENVS)
        .learners(num_learners=0)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=NatureModule))
        .training(
            train_batch_size_per_learner=FRAMES_PER_ITERATION,
            minibatch_size=_MINIBATCH_ROWS,
            num_epochs=1,
            lr=LEARNING_RATE,
            gamma=DISCOUNT,
            lambda_=GAE_LAMBDA,
            clip_param=CLIP_EPS,
            vf_loss_coeff=VALUE_COEF,
            entropy_coeff=ENTROPY_COEF,
            grad_clip=MAX_GRAD_NORM,
            use_kl_loss=False,
        )
        .debugging(seed=seed(), log_level="ERROR")
    )
    algorithm = config.build_algo()

    def iterate(num_iterations: int) -> int:
        return sum(int(algorithm.train()["env_runners"]["num_env_steps_sampled"]) for _ in range(num_iterations))

    iterate(1)
    take_turns(iterate, {"ray": ray.__version__, "torch": torch.__version__})
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
