"""A policy small enough to learn the corridor in seconds, and the parts of a run in the corridor."""

import torch
from torch import Tensor, nn

from mcrl.assembly import Parts
from mcrl.config import TrainConfig
from mcrl.dataflow.contracts import LockstepEnv
from mcrl.learning.demonstrations import Teacher
from policies import action_codec
from policies.interface import EncodedGoals, Evaluation, Memory, Policy, PolicyStep
from task_synthesis.playing.task_env import TaskSource
from tests.mcrl.corridor import CorridorEnv, CorridorExpert, make_task

WIDTH = 32
NUM_COLUMNS = 16


class CorridorPolicy(Policy):
    """Columns of the view and the mean colour of the goal into a GRU cell."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.image_px = 16
        self.encoder = nn.Linear(NUM_COLUMNS + 3 + action_codec.NUM_LOGITS, WIDTH)
        self.cell = nn.GRUCell(WIDTH, WIDTH)
        sizes = {"action": action_codec.NUM_LOGITS, "value": 1, "auxiliary": 7}
        self.heads = nn.ModuleDict({name: nn.Linear(WIDTH, size) for name, size in sizes.items()})
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.copy_(0.2 * torch.randn(parameter.shape, generator=generator))

    def initial_memory(self, num_envs: int) -> Memory:
        return {"h": torch.zeros(num_envs, WIDTH, device=self.encoder.weight.device)}

    def encode_goals(self, image_GHWC: Tensor, mask_GHW: Tensor, interaction_G: Tensor) -> EncodedGoals:
        color_G3 = image_GHWC.float().mean((1, 2)) / 255
        return EncodedGoals(token_GKD=color_G3[:, None], vector_GD=color_G3, color_GN3=color_G3[:, None])

    def _advance(self, image: Tensor, goal_N3: Tensor, first_N: Tensor, previous: Tensor, h: Tensor) -> Tensor:
        columns = image.float().mean((-3, -1)) / 255
        one_hot = [nn.functional.one_hot(previous[..., i], size) for i, size in enumerate(action_codec.FACTOR_SIZES)]
        before = torch.cat(one_hot, -1) * ~first_N[..., None]
        features = torch.relu(self.encoder(torch.cat([columns, goal_N3, before], -1)))
        return self.cell(features, h * ~first_N[..., None])

    def _step(self, image, goals, index, first, previous, memory) -> Tensor:
        return self._advance(image, goals.vector_GD[index], first, previous, memory["h"])

    def act(
        self, image_EHWC, goals, goal_index_E, first_E, previous_action_EA, memory, *, generator=None, temperature=1.0
    ) -> PolicyStep:
        h = self._step(image_EHWC, goals, goal_index_E, first_E, previous_action_EA, memory)
        logits = self.heads["action"](h).float()
        action = action_codec.sample(logits, generator=generator, temperature=temperature)
        return PolicyStep(
            action_EA=action,
            log_prob_E=action_codec.log_prob(logits, action),
            value_E=self.heads["value"](h).float().squeeze(-1),
            logits_EL=logits,
            memory={"h": h},
        )

    def evaluate(self, image_BTHWC, goals, goal_index_BT, first_BT, previous_action_BTA, memory) -> Evaluation:
        h, states = memory["h"], []
        for t in range(first_BT.shape[1]):
            goal = goals.vector_GD[goal_index_BT[:, t]]
            h = self._advance(image_BTHWC[:, t], goal, first_BT[:, t], previous_action_BTA[:, t], h)
            states.append(h)
        states_BTD = torch.stack(states, 1)
        return Evaluation(
            logits_BTL=self.heads["action"](states_BTD),
            value_BT=self.heads["value"](states_BTD).squeeze(-1),
            auxiliary_BT7=self.heads["auxiliary"](states_BTD),
        )

    def value(self, image_EHWC, goals, goal_index_E, first_E, previous_action_EA, memory) -> Tensor:
        h = self._step(image_EHWC, goals, goal_index_E, first_E, previous_action_EA, memory)
        return self.heads["value"](h).float().squeeze(-1)


def make_tasks(config: TrainConfig, split, num_tasks, on_progress):
    on_progress(num_tasks)
    return [make_task(index, split) for index in range(num_tasks)]


def make_env(config: TrainConfig, source: TaskSource, num_envs: int) -> LockstepEnv:
    return CorridorEnv(source, num_envs)


def make_expert(env: LockstepEnv) -> Teacher:
    return CorridorExpert()


def make_policy(config: TrainConfig) -> Policy:
    return CorridorPolicy(config.seed)


CORRIDOR = Parts(make_tasks=make_tasks, make_env=make_env, make_expert=make_expert, make_policy=make_policy)
