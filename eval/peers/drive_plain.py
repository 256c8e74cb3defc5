"""PPO as one writes it in one file, channels-last and in bf16 or fp32: the yardstick of the whole training loop.

After CleanRL's ppo_atari.py (Huang et al. 2022), less the Atari wrappers. E envs, T steps, N frames of a minibatch.
"""

import sys

import numpy as np
import torch
from nature_trunk import WIDTH, nature_trunk
from torch import Tensor, nn
from turns import (
    CLIP_EPS,
    DISCOUNT,
    ENTROPY_COEF,
    FRAMES_PER_ITERATION,
    GAE_LAMBDA,
    IMAGE_PX,
    LEARNING_RATE,
    MAX_GRAD_NORM,
    MINIBATCH_FRAMES,
    NUM_ACTIONS,
    NUM_ENVS,
    ROLLOUT_STEPS,
    VALUE_COEF,
    FramePool,
    seed,
    take_turns,
)


class NatureNet(nn.Module):
    """The convolutional network of Mnih et al. 2015 with a policy head and a value head."""

    def __init__(self, kind: torch.dtype) -> None:
        """Compute in `kind`; the weights are float32."""
        super().__init__()
        self._kind = kind
        self.trunk = nature_trunk()
        self.policy, self.value = nn.Linear(WIDTH, NUM_ACTIONS), nn.Linear(WIDTH, 1)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch's stub lacks it

    def forward(self, image_NHWC: Tensor) -> tuple[Tensor, Tensor]:
        """Return float32 logits [N, 6] and values [N] of uint8 [N, H, W, 3] views."""
        # Permuted, the views are channels-last already.
        x_NCHW = image_NHWC.permute(0, 3, 1, 2).to(self._kind).div_(255)
        with torch.autocast("cpu", torch.bfloat16, enabled=self._kind == torch.bfloat16):
            hidden_ND = self.trunk(x_NCHW)
            return self.policy(hidden_ND).float(), self.value(hidden_ND).float().squeeze(-1)


class PlainLoop:
    """Sixteen envs, one network, one optimizer."""

    def __init__(self, first_seed: int, kind: torch.dtype) -> None:
        torch.manual_seed(first_seed)
        self.net = NatureNet(kind)
        self.optimizer = torch.optim.Adam(self.net.parameters(), LEARNING_RATE, eps=1e-5)
        self.envs = [FramePool(first_seed + index) for index in range(NUM_ENVS)]
        self.image_EHWC = np.stack([env.reset() for env in self.envs])
        self.done_E = torch.zeros(NUM_ENVS)
        shape = (ROLLOUT_STEPS, NUM_ENVS)
        self.image_TEHWC = torch.zeros((*shape, IMAGE_PX, IMAGE_PX, 3), dtype=torch.uint8)
        self.action_TE = torch.zeros(shape, dtype=torch.int64)
        self.log_prob_TE, self.value_TE, self.reward_TE, self.done_TE = (torch.zeros(shape) for _ in range(4))

    def iterate(self, num_iterations: int) -> int:
        """Run so many rollouts and updates."""
        for _ in range(num_iterations):
            self._collect()
            self._learn()
        return num_iterations * FRAMES_PER_ITERATION

    @torch.no_grad()
    def _collect(self) -> None:
        for t in range(ROLLOUT_STEPS):
            self.image_TEHWC[t] = torch.from_numpy(self.image_EHWC)
            self.done_TE[t] = self.done_E
            logits_EL, self.value_TE[t] = self.net(self.image_TEHWC[t])
            chances = torch.distributions.Categorical(logits=logits_EL)
            self.action_TE[t] = action_E = chances.sample()
            self.log_prob_TE[t] = chances.log_prob(action_E)
            images = []
            for index, (env, action) in enumerate(zip(self.envs, action_E.tolist(), strict=True)):
                image_HWC, self.reward_TE[t, index], is_over = env.step(action)
                self.done_E[index] = float(is_over)
                images.append(env.reset() if is_over else image_HWC)
            self.image_EHWC = np.stack(images)

    def _learn(self) -> None:
        with torch.no_grad():
            next_value_E = self.net(torch.from_numpy(self.image_EHWC))[1]
        advantage_TE, carry_E, done_E = torch.zeros_like(self.value_TE), torch.zeros(NUM_ENVS), self.done_E
        for t in reversed(range(ROLLOUT_STEPS)):
            delta_E = self.reward_TE[t] + DISCOUNT * next_value_E * (1 - done_E) - self.value_TE[t]
            advantage_TE[t] = carry_E = delta_E + DISCOUNT * GAE_LAMBDA * (1 - done_E) * carry_E
            next_value_E, done_E = self.value_TE[t], self.done_TE[t]
        return_X, advantage_X = (advantage_TE + self.value_TE).flatten(), advantage_TE.flatten()
        image_XHWC, action_X, log_prob_X = (
            x.flatten(0, 1) for x in (self.image_TEHWC, self.action_TE, self.log_prob_TE)
        )
        for row_N in torch.randperm(FRAMES_PER_ITERATION).split(MINIBATCH_FRAMES):
            logits_NL, value_N = self.net(image_XHWC[row_N])
            chances = torch.distributions.Categorical(logits=logits_NL)
            ratio_N = (chances.log_prob(action_X[row_N]) - log_prob_X[row_N]).exp()
            advantage_N = advantage_X[row_N]
            advantage_N = (advantage_N - advantage_N.mean()) / (advantage_N.std() + 1e-8)
            clipped_N = ratio_N.clamp(1 - CLIP_EPS, 1 + CLIP_EPS)
            loss = -torch.minimum(ratio_N * advantage_N, clipped_N * advantage_N).mean()
            loss = loss + VALUE_COEF * (value_N - return_X[row_N]).square().mean()
            loss = loss - ENTROPY_COEF * chances.entropy().mean()
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.net.parameters(), MAX_GRAD_NORM)
            self.optimizer.step()


def main() -> None:
    """Drive it."""
    torch.set_num_threads(1)
    kind = torch.bfloat16 if sys.argv[2] == "bf16" else torch.float32
    take_turns(PlainLoop(seed(), kind).iterate, {"torch": torch.__version__})


if __name__ == "__main__":
    main()
