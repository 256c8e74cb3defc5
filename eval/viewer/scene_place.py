"""Places and directions between the engine's blocks and the page's 3-D scene.

Both have x east, y up, z south. The scene is smaller, because the page flies at a fixed speed, and of a world, which
has no border, one copy is shown: every place appears in that.
"""

import math
from dataclasses import dataclass

import numpy as np

from eval.viewer.mesh import CHUNK_BLOCKS
from worlds.types import Pose

UNITS_PER_BLOCK = 0.1  # the page's keys move by 2 units a second: 20 blocks
_BEHIND_BLOCKS, _ABOVE_BLOCKS = 4.5, 2.0
_HEAD_BLOCKS = 0.35  # from an eye to the outside of its head
_AHEAD_BLOCKS = 4.0  # where a camera that jumps somewhere looks at, and turns about when dragged


@dataclass(frozen=True, slots=True)
class Ground:
    """How one world lies in the scene."""

    size_blocks: tuple[int, int, int]
    corner: tuple[int, int]
    """Lowest x, z of the copy that is shown, in blocks."""

    @classmethod
    def around(cls, size_blocks: tuple[int, int, int], focus: tuple[float, float]) -> "Ground":
        """Return the copy of whole chunks in whose middle, but for half a chunk, the x and z of `focus` are."""
        x, z = (
            CHUNK_BLOCKS * round((middle - size / 2) / CHUNK_BLOCKS)
            for middle, size in zip(focus, (size_blocks[0], size_blocks[2]), strict=True)
        )
        return cls(size_blocks, (x, z))

    def scene(self, place_X3: np.ndarray) -> np.ndarray:
        """Return places of the world, in blocks, as places of the scene; float64 of the same shape."""
        place_X3 = np.array(place_X3, np.float64)
        for axis, low in ((0, self.corner[0]), (2, self.corner[1])):
            place_X3[..., axis] = (place_X3[..., axis] - low) % self.size_blocks[axis] + low
        return place_X3 * UNITS_PER_BLOCK

    def path(self, place_N3: np.ndarray) -> np.ndarray:
        """Return segments of the scene between successive places, float64 [S, 2, 3], none across the border."""
        at_N3 = self.scene(place_N3)
        segments_S23 = np.stack([at_N3[:-1], at_N3[1:]], axis=1)
        gap_S = np.abs(segments_S23[:, 0] - segments_S23[:, 1]).max(axis=1)
        return segments_S23[gap_S < UNITS_PER_BLOCK * min(self.size_blocks[0], self.size_blocks[2]) / 2]


def blocks(place_3: np.ndarray) -> tuple[float, float, float]:
    """Return a place of the scene in blocks; it may lie beyond the borders, where the world repeats itself."""
    x, y, z = (float(value) / UNITS_PER_BLOCK for value in place_3)
    return x, y, z


def direction_of(pose: Pose) -> np.ndarray:
    """Return where a pose looks, float64 [3] of length 1."""
    yaw, pitch = math.radians(pose.yaw_deg), math.radians(pose.pitch_deg)
    return np.array([-math.sin(yaw) * math.cos(pitch), -math.sin(pitch), math.cos(yaw) * math.cos(pitch)])


def behind(eye: Pose) -> Pose:
    """Return an eye that looks over the shoulder of another one."""
    away_3 = direction_of(eye._replace(pitch_deg=0.0)) * _BEHIND_BLOCKS
    return Pose(eye.x - float(away_3[0]), eye.y + _ABOVE_BLOCKS, eye.z - float(away_3[2]), eye.yaw_deg, 25.0)


def before_face(eye: Pose) -> Pose:
    """Return an agent's own eye, moved out of the head that is drawn around it."""
    ahead_3 = direction_of(eye._replace(pitch_deg=0.0)) * _HEAD_BLOCKS
    return eye._replace(x=eye.x + float(ahead_3[0]), z=eye.z + float(ahead_3[2]))


def pose_of_camera(position_3: np.ndarray, wxyz_4: np.ndarray) -> Pose:
    """Return the eye in blocks of a camera of the scene; `wxyz_4` turns +z into where it looks."""
    w, x, y, z = (float(value) for value in wxyz_4)
    ahead = (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))
    yaw_deg = math.degrees(math.atan2(-ahead[0], ahead[2])) % 360.0
    pitch_deg = -math.degrees(math.asin(min(1.0, max(-1.0, ahead[1]))))
    return Pose(*blocks(position_3), yaw_deg, pitch_deg)


def look_at_of(eye_3: np.ndarray, pose: Pose) -> np.ndarray:
    """Return what a camera of the scene at `eye_3` looks at when it looks like `pose`, float64 [3]."""
    return eye_3 + direction_of(pose) * _AHEAD_BLOCKS * UNITS_PER_BLOCK


def camera_wxyz(pose: Pose) -> tuple[float, float, float, float]:
    """Return the quaternion of a camera that looks like `pose`: its z ahead, x right, y down in the picture."""
    yaw, pitch = math.radians(pose.yaw_deg), math.radians(pose.pitch_deg)
    ahead_3 = direction_of(pose)
    right_3 = np.array([-math.cos(yaw), 0.0, -math.sin(yaw)])
    down_3 = np.array([math.sin(yaw) * math.sin(pitch), -math.cos(pitch), -math.cos(yaw) * math.sin(pitch)])
    return _quaternion(np.stack([right_3, down_3, ahead_3], axis=1))


def upright_wxyz(yaw_deg: float, *, pitch_deg: float = 0.0) -> tuple[float, float, float, float]:
    """Return the quaternion of a body whose model looks along +z, see worlds.voxel.render_entities.part_frame."""
    yaw, pitch = math.radians(yaw_deg), math.radians(pitch_deg)
    left_3 = np.array([math.cos(yaw), 0.0, math.sin(yaw)])
    up_3 = np.array([-math.sin(yaw) * math.sin(pitch), math.cos(pitch), math.cos(yaw) * math.sin(pitch)])
    ahead_3 = np.array([-math.sin(yaw) * math.cos(pitch), -math.sin(pitch), math.cos(yaw) * math.cos(pitch)])
    return _quaternion(np.stack([left_3, up_3, ahead_3], axis=1))


def _quaternion(turn_33: np.ndarray) -> tuple[float, float, float, float]:
    """Return w, x, y, z of a rotation matrix."""
    # The largest of the four is taken from the diagonal, the others from it: nothing is divided by almost 0.
    xx, yy, zz = turn_33.diagonal()
    four_4 = np.array([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz])
    a, b, c = turn_33[2, 1] - turn_33[1, 2], turn_33[0, 2] - turn_33[2, 0], turn_33[1, 0] - turn_33[0, 1]
    d, e, f = turn_33[1, 0] + turn_33[0, 1], turn_33[0, 2] + turn_33[2, 0], turn_33[2, 1] + turn_33[1, 2]
    rows = ((None, a, b, c), (a, None, d, e), (b, d, None, f), (c, e, f, None))
    largest = int(four_4.argmax())
    part = math.sqrt(four_4[largest]) / 2
    w, x, y, z = (part if value is None else float(value) / (4 * part) for value in rows[largest])
    return w, x, y, z
