"""Values that cross layers: poses, actions, ticks. E envs, H W image, C channels, V views, N events kept a step."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

TICK_S = 0.05
EYE_HEIGHT_BLOCKS = 1.62
SNEAK_EYE_HEIGHT_BLOCKS = 1.27

# The 20 keys of MineRL's action space, in the order of every buttons_EB array.
BUTTONS: tuple[str, ...] = (
    "attack",
    "back",
    "forward",
    "jump",
    "left",
    "right",
    "sneak",
    "sprint",
    "use",
    "drop",
    "inventory",
    *(f"hotbar.{slot}" for slot in range(1, 10)),
)
BUTTON_INDEX: dict[str, int] = {name: index for index, name in enumerate(BUTTONS)}

# Faces of a block, named by where they look; the order of every array of faces. North is -z.
FACES: tuple[str, ...] = ("west", "east", "down", "up", "north", "south")
FACE_WEST, FACE_EAST, FACE_DOWN, FACE_UP, FACE_NORTH, FACE_SOUTH = range(6)

# What an agent did or suffered: int32 rows (kind, subject, amount, cell). `slot` is an object slot + 1, 0 for terrain
# and ambient mobs; `cell` is flat, (x * Z + z) * Y + y.
MAX_EVENTS = 8
EVENT_NONE = 0
EVENT_BLOCK_BROKEN = 1  # block state, slot, cell
EVENT_DAMAGE = 2  # DAMAGE_*, half hearts lost by the agent, 0
EVENT_DEATH = 3  # DAMAGE_*, 0, 0: the agent died
EVENT_BLOCK_PLACED = 4  # block state, 0, cell
EVENT_BLOCK_USED = 5  # block state before, slot, cell: door, lever, chest ... opened, closed, pressed
EVENT_MOB_STRUCK = 6  # mob kind, slot, half hearts: by the agent's hand
EVENT_MOB_SHOT = 7  # mob kind, slot, half hearts: by the agent's arrow
EVENT_MOB_KILLED = 8  # mob kind, slot, EVENT_MOB_STRUCK or EVENT_MOB_SHOT: by the agent
EVENT_ITEM_PICKED = 9  # item id, count, slot of a placed item
EVENT_ARROW_SHOT = 10  # item id, charge in percent, 0
EVENT_ITEM_DROPPED = 11  # item id, count, 0
DAMAGE_FALL, DAMAGE_MOB, DAMAGE_ARROW, DAMAGE_BLOCK, DAMAGE_DROWNING, DAMAGE_VOID = range(6)

# Instance ids of a rendered mask: the sky, plain terrain, then one id for each placed object.
INSTANCE_SKY, INSTANCE_TERRAIN, INSTANCE_FIRST_OBJECT = 0, 1, 2


class Pose(NamedTuple):
    """A place and a direction: feet of an agent, or eye of a camera (the holder says which).

    Axes as in Minecraft: +x east, +y up, +z south, in blocks; yaw 0 faces +z and grows clockwise seen from above;
    pitch +90 looks straight down.
    """

    x: float
    y: float
    z: float
    yaw_deg: float
    pitch_deg: float


@dataclass(kw_only=True, slots=True)
class ActionBatch:
    """What every agent does in one tick."""

    buttons_EB: np.ndarray  # bool [E, 20], in the order of BUTTONS
    camera_deg_E2: np.ndarray  # float32 [E, 2], change of (pitch, yaw) in degrees a tick

    @classmethod
    def noop(cls, num_envs: int) -> "ActionBatch":
        """Return the action that presses nothing and turns nowhere."""
        return cls(
            buttons_EB=np.zeros((num_envs, len(BUTTONS)), bool), camera_deg_E2=np.zeros((num_envs, 2), np.float32)
        )


@dataclass(kw_only=True, slots=True)
class ViewBatch:
    """What V cameras see."""

    image_VHWC: np.ndarray  # uint8 [V, H, W, 3] RGB, row 0 is the top
    instance_VHW: np.ndarray  # int32 [V, H, W], 0 sky, 1 terrain, 2 + i the i-th placed object
    depth_VHW: np.ndarray | None  # float32 [V, H, W], blocks along the ray, the view range where nothing is hit
    target_V7: np.ndarray  # float32 [V, 7], see TARGET_LABELS; zeros when the target is not visible


# Columns of target_V7 and target_E7: share of the picture's pixels, then centroid and box, all in [0, 1].
TARGET_LABELS: tuple[str, ...] = ("area", "center_x", "center_y", "left", "top", "right", "bottom")


# Fields of a TickBatch that hold a picture an env; depth may be None.
PICTURES = frozenset(("image_EHWC", "instance_EHW", "depth_EHW"))


@dataclass(kw_only=True, slots=True)
class TickBatch:
    """The state of E envs after a step, as far as anyone outside the engine may see it.

    Arrays belong to the backend and are overwritten by its next step: copy what must live longer.
    """

    image_EHWC: np.ndarray  # uint8 [E, H, W, 3] RGB, row 0 is the top
    instance_EHW: np.ndarray  # int32 [E, H, W], 0 sky, 1 terrain, 2 + i the i-th placed object
    depth_EHW: np.ndarray | None  # float32 [E, H, W] blocks, or None when the backend was made without depth
    target_E7: np.ndarray  # float32 [E, 7], see TARGET_LABELS; zeros when the target is not visible
    pose_E5: np.ndarray  # float64 [E, 5], feet x, y, z in blocks, then yaw, pitch in degrees
    is_on_ground_E: np.ndarray  # bool [E]
    health_E: np.ndarray  # float32 [E], half hearts, 0 is dead
    item_ES: np.ndarray  # int32 [E, 36] item ids of the inventory, slots 0 .. 8 are the hotbar, -1 empty
    count_ES: np.ndarray  # int32 [E, 36]
    selected_E: np.ndarray  # int32 [E], slot in hand
    mob_EM6: np.ndarray  # float64 [E, M, 6] kind (-1 none), object slot + 1, feet x, y, z, health in half hearts
    event_EN4: np.ndarray  # int32 [E, 8, 4] rows (kind, subject, amount, cell), padded with kind 0
    is_fault_E: np.ndarray  # bool [E], the engine failed here: truncate and leave it out of learning

    def numbers_of(self, env_index_N: np.ndarray) -> "TickBatch":
        """Return copies of some envs' rows, without their pictures, which are those of all envs."""
        rows = {name: getattr(self, name)[env_index_N] for name in self.__slots__ if name not in PICTURES}
        return replace(self, **rows)
