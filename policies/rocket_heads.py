"""Heads and the previous-action token of the ROCKET network. X any leading dimensions, D width, A factors, L logits."""

import numpy as np
import torch
from torch import Tensor, nn

from policies import action_codec, vpt_heads
from worlds.types import BUTTON_INDEX

# The keys in the order of ROCKET's embedding layers. Dropping is not among them.
PREVIOUS_KEYS: tuple[str, ...] = (
    *("forward", "back", "left", "right", "inventory", "sprint", "sneak", "jump", "attack", "use"),
    *(f"hotbar.{slot}" for slot in range(1, 10)),
)


class PreviousAction(nn.Module):
    """What was done last as one token: a vector for every key, up or down, and a linear map of the turn in degrees."""

    _is_pressed_LK: Tensor
    _turn_deg_C: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.turn = nn.Linear(2, width)
        self.key_K2D = nn.Parameter(torch.randn(len(PREVIOUS_KEYS), 2, width) * 0.02)
        # Stands for an action that nobody knows: ROCKET trained with it in 3 of 4 steps, and we begin episodes with it.
        self.unknown_D = nn.Parameter(torch.randn(width) * 1e-3)
        self.register_buffer("_is_pressed_LK", _pressed_by_class(), persistent=False)
        self.register_buffer("_turn_deg_C", torch.tensor(action_codec.CAMERA_TURNS_DEG).float(), persistent=False)
        self._offsets_A = action_codec.LOGIT_OFFSETS

    def forward(self, action_XA: Tensor, is_unknown_X: Tensor) -> Tensor:
        """Return [X, D] for int64 [X, A] factors, `unknown_D` where `is_unknown_X` holds."""
        is_pressed_XK = torch.zeros((*action_XA.shape[:-1], len(PREVIOUS_KEYS)), device=action_XA.device)
        for factor, offset in enumerate(self._offsets_A):
            is_pressed_XK = is_pressed_XK + self._is_pressed_LK[action_XA[..., factor] + offset]
        pitch, yaw = (action_codec.FACTOR_INDEX[name] for name in ("camera_pitch", "camera_yaw"))
        turn_X2 = self._turn_deg_C[action_XA[..., [pitch, yaw]]]
        is_turning_X = action_XA[..., action_codec.FACTOR_INDEX["camera_meta"]] == 1
        # Up everywhere, and what pressing changes.
        key_XD = is_pressed_XK @ (self.key_K2D[:, 1] - self.key_K2D[:, 0]) + self.key_K2D[:, 0].sum(0)
        token_XD = key_XD + self.turn(torch.where(is_turning_X[..., None], turn_X2, 0.0))
        return torch.where(is_unknown_X[..., None], self.unknown_D, token_XD.float())


def _pressed_by_class() -> Tensor:
    """Return float32 [53, 19]: which of PREVIOUS_KEYS each class of each factor presses."""
    pressed_LK = torch.zeros(action_codec.NUM_LOGITS, len(PREVIOUS_KEYS))
    for (name, size), offset in zip(action_codec.FACTORS, action_codec.LOGIT_OFFSETS, strict=True):
        if name.startswith("camera"):
            continue
        action_EA = np.tile(np.array(action_codec.REST_ACTION), (size, 1))
        action_EA[:, action_codec.FACTOR_INDEX[name]] = np.arange(size)
        pressed_EK = action_codec.decode(action_EA).buttons_EB[:, [BUTTON_INDEX[key] for key in PREVIOUS_KEYS]]
        pressed_LK[offset : offset + size] = torch.from_numpy(pressed_EK).float()
    return pressed_LK


class RocketHeads(nn.Module):
    """VPT's two action heads (at first near uniform), a linear value (at first 0), predictions about the target."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.buttons = nn.Linear(width, vpt_heads.NUM_BUTTON_TOKENS)
        self.camera = nn.Linear(width, vpt_heads.NUM_CAMERA_TOKENS)
        self.value = nn.Linear(width, 1)
        self.auxiliary = nn.Linear(width, 7)
        for layer in (self.buttons, self.camera):
            nn.init.normal_(layer.weight, std=0.01)
        for layer in (self.buttons, self.camera, self.value, self.auxiliary):
            nn.init.zeros_(layer.bias)
        nn.init.zeros_(self.value.weight)

    def logits_and_value(self, hidden_XD: Tensor) -> tuple[Tensor, Tensor]:
        """Return float32 [X, L] logits, buttons then camera, and float32 [X] values."""
        logits_XL = torch.cat([self.buttons(hidden_XD), self.camera(hidden_XD)], -1)
        return logits_XL.float(), self.value(hidden_XD).float().squeeze(-1)

    def predictions(self, hidden_XD: Tensor) -> Tensor:
        """Return float32 [X, 7]: visibility logit, then centroid x y and box left top right bottom in 0 .. 1.

        ROCKET regresses places without squashing them: they are cut to the picture, with the gradient of the uncut.
        """
        auxiliary_X7 = self.auxiliary(hidden_XD).float()
        place_X6 = auxiliary_X7[..., 1:]
        place_X6 = place_X6.detach().clamp(0.0, 1.0) + (place_X6 - place_X6.detach())
        return torch.cat([auxiliary_X7[..., :1], place_X6], -1)
