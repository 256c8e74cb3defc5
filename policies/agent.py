"""A policy at play in E envs: its memory, its goals and its last actions. E envs, N some of them, A action factors."""

from collections.abc import Sequence
from dataclasses import fields

import numpy as np
import torch
from torch import Tensor

from policies import action_codec
from policies.decoding import AS_TRAINED, Decoding
from policies.device import CPU, copied_memory, device_of, send_array, to_numpy
from policies.interface import EncodedGoals, Policy, PolicyStep
from policies.precision import Precision, autocast
from task_synthesis.goal import CrossViewGoal
from task_synthesis.interaction import Interaction
from task_synthesis.playing.saved_state import SavedState
from task_synthesis.playing.task_env import Observation
from worlds.types import ActionBatch


class PolicyAgent:
    """An Agent for evaluation, and the acting half of a rollout worker.

    Call `step` (or `act`) once for every observation, in order. If something else than the chosen action is carried
    out, say so with `note_action` before the next step. Tensors handed out are inference tensors on the policy's
    device: good for reading, not for autograd. Actions are drawn on the CPU, so that the same numbers decide on any
    device and what was saved on one is good for the other; unless `draws_on_device`.
    """

    def __init__(
        self,
        policy: Policy,
        num_envs: int,
        *,
        seed: int,
        decoding: Decoding = AS_TRAINED,
        precision: Precision = "auto",
        draws_on_device: bool = False,
    ) -> None:
        """Log-probs are of the guided distribution at temperature 1, whatever `decoding` has; values are unguided.

        To draw on the policy's device saves a GPU 3 ms of a step with 1,024 envs.
        """
        if num_envs < 1:
            raise ValueError(f"agent.num_envs must be at least 1, got {num_envs}")
        self.policy = policy
        self.num_envs = num_envs
        self.decoding = decoding
        self.precision = precision
        self.device = device_of(policy)
        self._generator = torch.Generator(self.device if draws_on_device else CPU).manual_seed(seed)
        self._goals: EncodedGoals | None = None
        self._no_goal: EncodedGoals | None = None
        with torch.no_grad():
            self._memory = policy.initial_memory(num_envs)
            self._goalless_memory = None if decoding.guidance is None else policy.initial_memory(num_envs)
            self._env_index_E = torch.arange(num_envs, device=self.device)
            rest_A = torch.tensor(action_codec.REST_ACTION, device=self.device)
            self._previous_action_EA = rest_A.repeat(num_envs, 1)

    def act(self, observation: Observation) -> ActionBatch:
        """Choose one action for every env."""
        return action_codec.decode(*to_numpy(self.step(observation).action_EA))

    @torch.no_grad()
    def look(self, observation: Observation) -> Tensor:
        """Return what the policy's frozen part makes of the views, first dimension E; the views if it has none.

        It is on the policy's device. Hand it to `step` of this agent, and of others there whose frozen weights are the
        same: views go to the device, and through the frozen part, once then.
        """
        self._check_image(observation.image_EHWC, "observation.image_EHWC")
        with autocast(self.precision, self.device):
            return self.policy.look(send_array(observation.image_EHWC, self.device))

    @torch.no_grad()
    def step(self, observation: Observation, view_E: Tensor | None = None) -> PolicyStep:
        """Choose one action for every env, with log-probs, values and logits; encode goals where an episode began.

        `view_E` is what `look` returned for this observation; None looks now.
        """
        if view_E is None:
            view_E = self.look(observation)
        self._stop_training()
        if self._goals is None:
            self.refresh_goals(observation)
        elif observation.first_E.any():
            index_N = self._padded(np.flatnonzero(observation.first_E))
            fresh = self._encode([observation.goals[index] for index in index_N])
            self._goals.put(send_array(index_N, self.device), fresh)
        assert self._goals is not None
        first_E = send_array(observation.first_E, self.device)
        with autocast(self.precision, self.device):
            step = self.policy.act(
                view_E,
                self._goals,
                self._env_index_E,
                first_E,
                self._previous_action_EA,
                self._memory,
                generator=self._generator,
                temperature=self.decoding.temperature,
            )
        self._memory = step.memory
        if self.decoding.guidance is not None:
            step = self._guided(step, view_E, first_E, self.decoding.guidance)
        self._previous_action_EA = step.action_EA
        return step

    def note_action(self, action_EA: np.ndarray) -> None:
        """Say which int64 [E, A] actions were carried out, where they are not those of the last step."""
        if action_EA.shape != (self.num_envs, action_codec.NUM_FACTORS):
            raise ValueError(
                f"agent.note_action: got shape {action_EA.shape}, "
                f"expected {(self.num_envs, action_codec.NUM_FACTORS)}, one row of factors an env"
            )
        # A copy: the caller may reuse the array.
        self._previous_action_EA = torch.tensor(action_EA, dtype=torch.int64, device=self.device)

    @torch.no_grad()
    def bootstrap_value(self, image_EHWC: np.ndarray | Tensor, index_N: np.ndarray | Sequence[int]) -> np.ndarray:
        """Return float32 [N], the values of final views of running episodes, in the envs index_N.

        Call it after the env stepped and before the next `step`: goals, memory and previous action are then still
        those of the episode that ended. `image_EHWC` holds all envs' final views. Nothing is changed.
        """
        self._check_image(image_EHWC, "agent.bootstrap_value: image_EHWC")
        if self._goals is None:
            raise ValueError("agent.bootstrap_value: no step was taken yet, so there is no goal; call step first")
        index_N = np.asarray(index_N, np.int64)
        if not len(index_N):
            return np.zeros(0, np.float32)
        num_envs, index_N = len(index_N), self._padded(index_N)
        row_N = send_array(index_N, self.device)
        self._stop_training()
        with autocast(self.precision, self.device):
            value_N = self.policy.value(
                send_array(image_EHWC[index_N], self.device),
                self._goals.rows(row_N),
                torch.arange(len(index_N), device=self.device),
                torch.zeros(len(index_N), dtype=torch.bool, device=self.device),
                self._previous_action_EA[row_N],
                {name: tensor[row_N] for name, tensor in self._memory.items()},
            )
        return value_N[:num_envs].float().cpu().numpy()

    @torch.no_grad()
    def predictions(self, observation: Observation) -> np.ndarray:
        """Return float32 [E, 7], what the policy believes about its targets: see policies.interface.Evaluation.

        A visibility logit, then centroid x y and box left top right bottom in 0 .. 1. Call it before `step` with the
        same observation. It costs a second pass; neither memory nor the actions to come are changed.
        """
        view_E = self.look(observation)
        self._stop_training()
        if self._goals is None or observation.first_E.any():
            self.refresh_goals(observation)
        assert self._goals is not None
        with autocast(self.precision, self.device):
            seen = self.policy.evaluate(
                view_E.unsqueeze(1),
                self._goals,
                self._env_index_E.unsqueeze(1),
                send_array(observation.first_E, self.device).unsqueeze(1),
                self._previous_action_EA.unsqueeze(1),
                self._memory,
            )
        return seen.auxiliary_BT7[:, 0].float().cpu().numpy()

    @torch.no_grad()
    def refresh_goals(self, observation: Observation) -> None:
        """Encode all goals again: needed after new weights were loaded into the policy."""
        self._goals = self._encode(observation.goals)
        if self.decoding.guidance is not None:
            side_px = self.policy.image_px
            black_HWC, nowhere_HW = np.zeros((side_px, side_px, 3), np.uint8), np.zeros((side_px, side_px), bool)
            self._no_goal = self._encode([CrossViewGoal(black_HWC, nowhere_HW, Interaction.NONE)])

    def forget_weights(self) -> None:
        """Let go of casts of the weights, which have changed: needed between two steps within `casts_kept`."""
        torch.clear_autocast_cache()

    def casts_kept(self) -> torch.autocast:
        """Return a context for several steps in a row, in which the weights do not change.

        Autocast forgets its casts where it ends: within this one the weights are cast once, not every step, which saves
        a fifth of acting with 1.7 M parameters in 16 envs (3.6 to 2.8 ms a step, one core with AMX). It keeps none in
        torch's inference mode, which is why nothing here uses that mode.
        """
        return autocast(self.precision, self.device)

    @property
    def previous_action_EA(self) -> np.ndarray:
        """Return int64 [E, A], what was last done in each env; meaningless where an episode begins."""
        return self._previous_action_EA.cpu().numpy()

    def memory_numpy(self) -> dict[str, np.ndarray]:
        """Return a copy of the memory, first dimension E; row e of every array is what a fragment of env e keeps."""
        return copied_memory(self._memory)

    def memory_on_device(self) -> dict[str, Tensor]:
        """Return a copy of the memory where it is, else as `memory_numpy`."""
        return {name: tensor.clone() for name, tensor in self._memory.items()}

    def saved(self) -> SavedState:
        """Return memory, goals, last actions and the state of the generator; the weights are not in here."""
        assert self.decoding.guidance is None, "a guided agent evaluates, and is not saved"
        return SavedState(arrays={name: _as_numpy(tensor).copy() for name, tensor in self._present().items()})

    @torch.no_grad()
    def load_saved(self, state: SavedState, observation: Observation) -> None:
        """Play on as an agent with the same weights would have that said `saved` before it saw `observation`."""
        self.refresh_goals(observation)
        like = {name: _as_numpy(tensor) for name, tensor in self._present().items()}
        found = {name: state.array(name, array) for name, array in like.items()}
        for name, tensor in self._present().items():
            array = torch.from_numpy(found[name])
            tensor.copy_(array.view(tensor.dtype) if tensor.dtype == torch.bfloat16 else array)
        try:
            self._generator.set_state(torch.from_numpy(found["generator"]))
        except RuntimeError:
            raise state.misfit("generator is no state of a torch generator") from None

    def _present(self) -> dict[str, Tensor]:
        """Return all tensors that decide the next actions besides the weights."""
        assert self._goals is not None, "nothing was encoded yet"
        goals = {f"goals/{field.name}": getattr(self._goals, field.name) for field in fields(self._goals)}
        memory = {f"memory/{name}": tensor for name, tensor in self._memory.items()}
        own = {"previous_action": self._previous_action_EA, "generator": self._generator.get_state()}
        return own | goals | memory

    def _guided(self, step: PolicyStep, view_E: Tensor, first_E: Tensor, guidance: float) -> PolicyStep:
        """Return the step that guidance makes of `step`, and remember what the goalless twin saw."""
        assert self._no_goal is not None
        assert self._goalless_memory is not None
        with autocast(self.precision, self.device):
            # Temperature 0, so that the twin's action, which nobody heeds, draws no numbers.
            goalless = self.policy.act(
                view_E,
                self._no_goal,
                torch.zeros_like(self._env_index_E),
                first_E,
                self._previous_action_EA,
                self._goalless_memory,
                temperature=0.0,
            )
        self._goalless_memory = goalless.memory
        logits_EL = (1.0 + guidance) * step.logits_EL - guidance * goalless.logits_EL
        action_EA, log_prob_E = action_codec.sample_with_log_prob(logits_EL, self._generator, self.decoding.temperature)
        return PolicyStep(
            action_EA=action_EA,
            log_prob_E=log_prob_E,
            value_E=step.value_E,
            logits_EL=logits_EL,
            memory=step.memory,
        )

    def _padded(self, index_N: np.ndarray) -> np.ndarray:
        """Return the indices, on a GPU with the last one repeated until their number is a power of two.

        A convolution is planned anew for every size of batch, which takes longer than to compute some rows twice.
        """
        if self.device.type != "cuda" or not len(index_N):
            return index_N
        return np.pad(index_N, (0, (1 << (len(index_N) - 1).bit_length()) - len(index_N)), mode="edge")

    def _stop_training(self) -> None:
        # Asked first: `eval` walks through all modules, 0.1 ms of a 4.7 ms step of 16 envs.
        if self.policy.training:
            self.policy.eval()

    def _encode(self, goals: list[CrossViewGoal]) -> EncodedGoals:
        image_GHWC = np.stack([goal.image_HWC for goal in goals])
        self._check_image(image_GHWC, "observation.goals")
        mask_GHW = np.stack([goal.mask_HW for goal in goals])
        interaction_G = np.array([int(goal.interaction) for goal in goals], np.int64)
        with autocast(self.precision, self.device):
            return self.policy.encode_goals(
                *(send_array(array, self.device) for array in (image_GHWC, mask_GHW, interaction_G))
            )

    def _check_image(self, image_XHWC: np.ndarray | Tensor, where: str) -> None:
        side_px = self.policy.image_px
        if image_XHWC.shape[1:] != (side_px, side_px, 3) or image_XHWC.dtype not in (np.uint8, torch.uint8):
            raise ValueError(
                f"{where}: got {image_XHWC.dtype} pictures of shape {image_XHWC.shape[1:]}, the policy reads uint8 "
                f"{(side_px, side_px, 3)}; make the engine with image_px={side_px} or choose another preset"
            )


def _as_numpy(tensor: Tensor) -> np.ndarray:
    """Return a tensor's values, those of bfloat16 as the int16 of the same bits: numpy knows no such numbers."""
    tensor = tensor.cpu()
    return tensor.view(torch.int16).numpy() if tensor.dtype == torch.bfloat16 else tensor.numpy()
