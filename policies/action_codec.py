"""MineRL actions as factors that a policy can choose, and as the tokens of VPT. E envs, A factors, L logits, X any.

The factors are VPT's own groups, so every sampled action exists. What VPT does, and so do we:
- `inventory` is exclusive: with it no other key and no turn exists, so no other factor counts.
- The camera bins count only when `camera_meta` is on. Turns beyond 10 degrees a tick are clipped, and turns that round
  to the middle bin (below about 0.27 degrees) vanish.
- Forward with back, and left with right, cancel; sneak beats sprint; of several hotbar keys the last one counts.
- `camera_meta` on with both bins in the middle is a second name for "do not turn": it can be sampled, `encode` never
  makes it. VPT's camera token is pitch * 11 + yaw, though its code calls the first axis camera_x.
One quirk is not copied: VPT decodes inventory together with whatever turn its camera head drew; here it turns nothing.
"""

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from policies import vpt_heads
from worlds.types import BUTTON_INDEX, BUTTONS, ActionBatch

FACTORS: tuple[tuple[str, int], ...] = (
    ("hotbar", 10),
    ("forward_back", 3),
    ("left_right", 3),
    ("sprint_sneak", 3),
    ("use", 2),
    ("drop", 2),
    ("attack", 2),
    ("jump", 2),
    ("camera_meta", 2),
    ("inventory", 2),
    ("camera_pitch", 11),
    ("camera_yaw", 11),
)
FACTOR_SIZES: tuple[int, ...] = tuple(size for _, size in FACTORS)
NUM_FACTORS = len(FACTORS)
NUM_LOGITS = sum(FACTOR_SIZES)
FACTOR_INDEX: dict[str, int] = {name: index for index, (name, _) in enumerate(FACTORS)}

# VPT's camera: 11 bins of 2 on a mu-law scale (mu 10) up to 10 degrees a tick.
CAMERA_MAX_DEG, CAMERA_BIN, CAMERA_MU = 10.0, 2.0, 10.0
NUM_CAMERA_BINS = 11
CAMERA_NULL_BIN = NUM_CAMERA_BINS // 2

_META, _INVENTORY = FACTOR_INDEX["camera_meta"], FACTOR_INDEX["inventory"]
_PITCH, _YAW = FACTOR_INDEX["camera_pitch"], FACTOR_INDEX["camera_yaw"]
# Two keys a factor: class 1 presses the first, class 2 the second.
_PAIRS: dict[str, tuple[str, str]] = {
    "forward_back": ("forward", "back"),
    "left_right": ("left", "right"),
    "sprint_sneak": ("sprint", "sneak"),
}
_SINGLES = ("use", "drop", "attack", "jump", "inventory")
_HOTBAR = slice(BUTTON_INDEX["hotbar.1"], BUTTON_INDEX["hotbar.9"] + 1)
VPT_INVENTORY_TOKEN = vpt_heads.INVENTORY_TOKEN


def _camera_turns_deg() -> np.ndarray:
    level_K = (np.arange(NUM_CAMERA_BINS) * CAMERA_BIN - CAMERA_MAX_DEG) / CAMERA_MAX_DEG
    return np.sign(level_K) * ((1.0 + CAMERA_MU) ** np.abs(level_K) - 1.0) / CAMERA_MU * CAMERA_MAX_DEG


LOGIT_OFFSETS: tuple[int, ...] = tuple(int(start) for start in np.cumsum((0, *FACTOR_SIZES))[:-1])
"""Where each factor's logits begin among the 53."""
REST_ACTION: tuple[int, ...] = tuple(
    CAMERA_NULL_BIN if name in ("camera_pitch", "camera_yaw") else 0 for name, _ in FACTORS
)
"""The action that presses nothing and turns nowhere."""

CAMERA_TURNS_DEG: np.ndarray = _camera_turns_deg()
"""float64 [11], degrees a tick that each camera bin turns: 0, 0.62, 1.6, 3.2, 5.8 and 10 either way."""


def camera_bins(turn_deg_X: np.ndarray) -> np.ndarray:
    """Return the camera bin, int64 [X], of turns in degrees a tick, rounded on the mu-law scale as VPT does."""
    share_X = np.clip(turn_deg_X, -CAMERA_MAX_DEG, CAMERA_MAX_DEG) / CAMERA_MAX_DEG
    level_X = np.sign(share_X) * np.log1p(CAMERA_MU * np.abs(share_X)) / np.log1p(CAMERA_MU) * CAMERA_MAX_DEG
    return np.rint((level_X + CAMERA_MAX_DEG) / CAMERA_BIN).astype(np.int64)


def encode(actions: ActionBatch) -> np.ndarray:
    """Return the factors, int64 [E, 12], nearest to the actions.

    Keys that VPT's groups cannot hold together are settled as in VPT (see the top); factors that do not count rest.
    """
    buttons_EB = actions.buttons_EB.astype(bool, copy=False)
    action_EA = np.zeros((len(buttons_EB), NUM_FACTORS), np.int64)
    action_EA[:, FACTOR_INDEX["hotbar"]] = (buttons_EB[:, _HOTBAR] * np.arange(1, 10)).max(axis=1)
    for name, (first, second) in _PAIRS.items():
        is_first_E, is_second_E = buttons_EB[:, BUTTON_INDEX[first]], buttons_EB[:, BUTTON_INDEX[second]]
        if name == "sprint_sneak":
            action_EA[:, FACTOR_INDEX[name]] = np.where(is_second_E, 2, is_first_E)
        else:
            action_EA[:, FACTOR_INDEX[name]] = np.where(is_first_E == is_second_E, 0, np.where(is_first_E, 1, 2))
    for name in _SINGLES:
        action_EA[:, FACTOR_INDEX[name]] = buttons_EB[:, BUTTON_INDEX[name]]
    action_EA[:, _PITCH : _YAW + 1] = camera_bins(actions.camera_deg_E2)
    action_EA[:, _META] = (action_EA[:, _PITCH : _YAW + 1] != CAMERA_NULL_BIN).any(axis=1)
    return _canonical(action_EA)


def _canonical(action_EA: np.ndarray) -> np.ndarray:
    """Return the actions with every factor that does not count at its resting class."""
    action_EA = action_EA.copy()
    is_inventory_E = action_EA[:, _INVENTORY] == 1
    action_EA[is_inventory_E] = 0
    action_EA[is_inventory_E, _INVENTORY] = 1
    is_still_E = action_EA[:, _META] == 0
    action_EA[is_still_E, _PITCH] = action_EA[is_still_E, _YAW] = CAMERA_NULL_BIN
    return action_EA


def decode(action_EA: np.ndarray) -> ActionBatch:
    """Return the keys and the camera turn of the factors; those that do not count press nothing."""
    action_EA = _canonical(np.asarray(action_EA, np.int64))
    num_envs = len(action_EA)
    buttons_EB = np.zeros((num_envs, len(BUTTONS)), bool)
    hotbar_E = action_EA[:, FACTOR_INDEX["hotbar"]]
    pressed = np.flatnonzero(hotbar_E)
    buttons_EB[pressed, _HOTBAR.start + hotbar_E[pressed] - 1] = True
    for name, keys in _PAIRS.items():
        for choice, key in enumerate(keys, 1):
            buttons_EB[:, BUTTON_INDEX[key]] = action_EA[:, FACTOR_INDEX[name]] == choice
    for name in _SINGLES:
        buttons_EB[:, BUTTON_INDEX[name]] = action_EA[:, FACTOR_INDEX[name]] == 1
    return ActionBatch(
        buttons_EB=buttons_EB, camera_deg_E2=CAMERA_TURNS_DEG[action_EA[:, _PITCH : _YAW + 1]].astype(np.float32)
    )


def to_vpt(action_EA: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return VPT's tokens: buttons int64 [E] in 0 .. 8640 and camera int64 [E] in 0 .. 120 (60 is still)."""
    action_EA = _canonical(np.asarray(action_EA, np.int64))
    button_E = np.zeros(len(action_EA), np.int64)
    for factor, radix in enumerate(vpt_heads.BUTTON_RADIX):
        button_E = button_E * radix + action_EA[:, factor]
    button_E[action_EA[:, _INVENTORY] == 1] = VPT_INVENTORY_TOKEN
    return button_E, action_EA[:, _PITCH] * NUM_CAMERA_BINS + action_EA[:, _YAW]


def from_vpt(button_E: np.ndarray, camera_E: np.ndarray) -> np.ndarray:
    """Return the factors, int64 [E, 12], of VPT's tokens; the camera token is read only where the meta bit is on."""
    button_E, camera_E = np.asarray(button_E, np.int64), np.asarray(camera_E, np.int64)
    action_EA = np.zeros((len(button_E), NUM_FACTORS), np.int64)
    rest_E = np.where(button_E == VPT_INVENTORY_TOKEN, 0, button_E)
    for factor in reversed(range(len(vpt_heads.BUTTON_RADIX))):
        rest_E, action_EA[:, factor] = np.divmod(rest_E, vpt_heads.BUTTON_RADIX[factor])
    action_EA[:, _INVENTORY] = button_E == VPT_INVENTORY_TOKEN
    action_EA[:, _PITCH], action_EA[:, _YAW] = np.divmod(camera_E, NUM_CAMERA_BINS)
    return _canonical(action_EA)


# The distribution over these factors. Everything is computed in float32. How many logits there are tells which heads
# made them: 53 one softmax a factor, 8762 those of VPT, whose twins are in policies.vpt_heads.

_MAX_CLASSES = max(FACTOR_SIZES)
# Finite, so that 0 * log(0) is 0 and not NaN.
_ABSENT = -1e9


def _class_index() -> list[int]:
    """Return where class k of factor a stands among the logits, row by row; NUM_LOGITS where there is none."""
    index, start = [], 0
    for size in FACTOR_SIZES:
        index += [start + k if k < size else NUM_LOGITS for k in range(_MAX_CLASSES)]
        start += size
    return index


_CLASS_INDEX = torch.tensor(_class_index())
_IS_ABSENT_AK = (_CLASS_INDEX == NUM_LOGITS).view(NUM_FACTORS, _MAX_CLASSES)
_IS_CAMERA = torch.tensor([factor in (_PITCH, _YAW) for factor in range(NUM_FACTORS)])
_IS_INVENTORY = torch.tensor([factor == _INVENTORY for factor in range(NUM_FACTORS)])


def _is_vpt(logits_XL: Tensor) -> bool:
    return logits_XL.shape[-1] == vpt_heads.NUM_VPT_LOGITS


def _log_softmax(logits_XL: Tensor) -> Tensor:
    """Return log-probabilities [X, A, K] of every factor, absent classes near -1e9. One gather, one softmax."""
    padded_XL = F.pad(logits_XL.float(), (0, 1), value=_ABSENT)
    padded_XAK = padded_XL.index_select(-1, _CLASS_INDEX.to(logits_XL.device)).unflatten(-1, (NUM_FACTORS, -1))
    return F.log_softmax(padded_XAK, dim=-1)


def _counting(is_inventory_X: Tensor, is_camera_X: Tensor) -> Tensor:
    """Return how much each factor counts, [X, A], from the (probable) values of the two gates."""
    is_inventory = _IS_INVENTORY.to(is_inventory_X.device)
    is_camera = _IS_CAMERA.to(is_inventory_X.device)
    open_X1 = (1.0 - is_inventory_X)[..., None]
    gated_XA = torch.where(is_camera, open_X1 * is_camera_X[..., None], open_X1)
    return torch.where(is_inventory, torch.ones_like(gated_XA), gated_XA)


def log_prob(logits_XL: Tensor, action_XA: Tensor) -> Tensor:
    """Return float32 [X], the log-probability of the whole action: the sum over the factors that count."""
    if _is_vpt(logits_XL):
        return vpt_heads.log_prob(logits_XL, action_XA)
    return _log_prob_of(_log_softmax(logits_XL), action_XA.long())


def _log_prob_of(log_p_XAK: Tensor, action_XA: Tensor) -> Tensor:
    log_p_XA = log_p_XAK.gather(-1, action_XA[..., None]).squeeze(-1)
    return (log_p_XA * _counting(action_XA[..., _INVENTORY].float(), action_XA[..., _META].float())).sum(-1)


def entropy(logits_XL: Tensor) -> Tensor:
    """Return float32 [X], the exact entropy of the joint action."""
    if _is_vpt(logits_XL):
        return vpt_heads.entropy(logits_XL)
    return _entropy_of(_log_softmax(logits_XL))


def log_prob_and_entropy(logits_XL: Tensor, action_XA: Tensor) -> tuple[Tensor, Tensor]:
    """Return what `log_prob` and `entropy` do, float32 [X] each, by one softmax: the same to the bit."""
    if _is_vpt(logits_XL):
        return vpt_heads.log_prob(logits_XL, action_XA), vpt_heads.entropy(logits_XL)
    log_p_XAK = _log_softmax(logits_XL)
    return _log_prob_of(log_p_XAK, action_XA.long()), _entropy_of(log_p_XAK)


def _entropy_of(log_p_XAK: Tensor) -> Tensor:
    entropy_XA = -(log_p_XAK.exp() * log_p_XAK).sum(-1)
    return (entropy_XA * _counting(*_gates(log_p_XAK))).sum(-1)


def kl(logits_p_XL: Tensor, logits_q_XL: Tensor) -> Tensor:
    """Return float32 [X], the exact KL(p || q) of the joint actions."""
    if _is_vpt(logits_p_XL):
        return vpt_heads.kl(logits_p_XL, logits_q_XL)
    log_p_XAK, log_q_XAK = _log_softmax(logits_p_XL), _log_softmax(logits_q_XL)
    kl_XA = (log_p_XAK.exp() * (log_p_XAK - log_q_XAK)).sum(-1)
    return (kl_XA * _counting(*_gates(log_p_XAK))).sum(-1)


def _gates(log_p_XAK: Tensor) -> tuple[Tensor, Tensor]:
    return log_p_XAK[..., _INVENTORY, 1].exp(), log_p_XAK[..., _META, 1].exp()


def sample(logits_XL: Tensor, generator: torch.Generator | None = None, temperature: float = 1.0) -> Tensor:
    """Draw int64 [X, A]; factors that do not count rest. `temperature` 0 takes the likeliest class of every factor.

    Without a generator the draw comes from torch's default one. With one it is made where the generator is, so that one
    on the CPU draws the same whichever device computes.
    """
    if _is_vpt(logits_XL):
        return vpt_heads.sample(logits_XL, generator, temperature)
    return _drawn(_log_softmax(logits_XL.detach()), generator, temperature)


def sample_with_log_prob(
    logits_XL: Tensor, generator: torch.Generator | None = None, temperature: float = 1.0
) -> tuple[Tensor, Tensor]:
    """Return what `sample` does, int64 [X, A], and its `log_prob`, float32 [X], by one softmax: the same to the bit."""
    if _is_vpt(logits_XL):
        action_XA = vpt_heads.sample(logits_XL, generator, temperature)
        return action_XA, vpt_heads.log_prob(logits_XL, action_XA)
    log_p_XAK = _log_softmax(logits_XL.detach())
    action_XA = _drawn(log_p_XAK, generator, temperature)
    return action_XA, _log_prob_of(log_p_XAK, action_XA)


def _drawn(log_p_XAK: Tensor, generator: torch.Generator | None, temperature: float) -> Tensor:
    if temperature > 0:
        # Gumbel-max: with W ~ Exp(1), argmax(log p / T - log W) is a draw from softmax(log p / T).
        log_p_XAK = log_p_XAK / temperature - vpt_heads.waiting_like(log_p_XAK, generator).log()
        if temperature > 1:  # however hot, a class that there is none of stays impossible
            log_p_XAK.masked_fill_(_IS_ABSENT_AK.to(log_p_XAK.device), -math.inf)
    action_XA = log_p_XAK.argmax(-1)
    is_inventory_X1 = action_XA[..., _INVENTORY, None] == 1
    is_still_X1 = is_inventory_X1 | (action_XA[..., _META, None] == 0)
    action_XA[..., :_INVENTORY].masked_fill_(is_inventory_X1, 0)
    action_XA[..., _PITCH:].masked_fill_(is_still_X1, CAMERA_NULL_BIN)
    return action_XA
