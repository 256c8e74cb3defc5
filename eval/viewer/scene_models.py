"""Mobs, items, arrows and the agent as meshes: the boxes that the engine draws them with, in their skins."""

import functools
from dataclasses import dataclass

import numpy as np

from eval.viewer.mesh import MeshStyle
from eval.viewer.mesh_glb import glb_of_quads
from eval.viewer.mesh_table import FACE_LIGHT, box_corners, face_uv
from worlds.mobs.models import build_model_looks
from worlds.textures.atlas import texture_rows
from worlds.types import FACES
from worlds.voxel.scene import JOINT_FIXED, JOINT_LEG_A, JOINT_LEG_B, JOINT_WING_A, ModelLooks

_WHOLE = (0.0, 0.0, 0.0, 1.0, 1.0, 1.0)
# The agent, in 1/16 blocks about its feet, looking along +z; it has no model of its own, because nobody sees itself.
_AGENT_BOXES: tuple[tuple[tuple[float, ...], str], ...] = (
    ((-4, 0, -2, -0.1, 12, 2), "blue_wool"),
    ((0.1, 0, -2, 4, 12, 2), "blue_wool"),
    ((-4, 12, -2, 4, 23, 2), "cyan_wool"),
    ((-7, 12, -2, -4, 23, 2), "cyan_wool"),
    ((4, 12, -2, 7, 23, 2), "cyan_wool"),
    ((-3.5, 23, -3.5, 3.5, 29, 3.5), "pink_terracotta"),
    ((-3.6, 28, -3.6, 3.6, 30, 3.6), "brown_wool"),
)


@dataclass(frozen=True, slots=True)
class Limb:
    """A part of a model that turns, or all that does not."""

    glb: bytes
    """In blocks from the pivot, looking along +z."""
    pivot: tuple[float, float, float]
    """From the feet, in blocks."""
    joint: int
    """JOINT_* of worlds.voxel.scene."""

    def swing_wxyz(self, swing_rad: float) -> tuple[float, float, float, float]:
        """Return how it is turned when the legs swing by an angle."""
        if self.joint == JOINT_FIXED:
            return (1.0, 0.0, 0.0, 0.0)
        is_leg = self.joint in (JOINT_LEG_A, JOINT_LEG_B)
        angle = swing_rad if self.joint in (JOINT_LEG_A, JOINT_WING_A) else -swing_rad
        sin, cos = float(np.sin(angle / 2)), float(np.cos(angle / 2))
        return (cos, sin, 0.0, 0.0) if is_leg else (cos, 0.0, 0.0, sin)


class ModelMeshes:
    """The meshes of one texture set, made when they are first shown."""

    def __init__(self, style: MeshStyle) -> None:
        """Draw with the textures of `style`."""
        self._style = style
        self._looks = _model_looks()
        self._limbs: dict[int, tuple[Limb, ...]] = {}

    def limbs(self, model: int) -> tuple[Limb, ...]:
        """Return the parts of a model, a row of worlds.mobs.models."""
        if model not in self._limbs:
            looks = self._looks
            start = int(looks.part_start_K[model])
            parts_by_joint: dict[tuple[int, tuple[float, ...]], list[int]] = {}
            for part in range(start, start + int(looks.part_count_K[model])):
                joint = int(looks.part_joint_P[part])
                pivot = tuple(looks.part_pivot_P3[part].tolist()) if joint != JOINT_FIXED else (0.0, 0.0, 0.0)
                parts_by_joint.setdefault((joint, pivot), []).append(part)
            self._limbs[model] = tuple(
                Limb(self._glb(parts, about_feet=joint == JOINT_FIXED), (pivot[0], pivot[1], pivot[2]), joint)
                for (joint, pivot), parts in parts_by_joint.items()
            )
        return self._limbs[model]

    @functools.cached_property
    def agent(self) -> bytes:
        """Return the agent's body, in blocks from its feet."""
        rows = texture_rows()
        boxes = [(tuple(side / 16 for side in box), [rows[name]] * len(FACES)) for box, name in _AGENT_BOXES]
        return self._boxes_glb(boxes)

    def _glb(self, parts: list[int], *, about_feet: bool) -> bytes:
        looks = self._looks
        boxes = []
        for part in parts:
            away = np.tile(looks.part_pivot_P3[part], 2) if about_feet else 0.0
            boxes.append((tuple((looks.part_box_P6[part] + away).tolist()), looks.part_texture_P6[part].tolist()))
        return self._boxes_glb(boxes)

    def _boxes_glb(self, boxes: list[tuple[tuple[float, ...], list[int]]]) -> bytes:
        quads = [
            (box_corners(box, face), face_uv(box_corners(_WHOLE, face), face), rows[face], FACE_LIGHT[face])
            for box, rows in boxes
            for face in range(len(FACES))
            if rows[face] >= 0
        ]
        return glb_of_quads(
            np.array([quad[0] for quad in quads], np.float32),
            np.array([quad[1] for quad in quads], np.float32),
            np.array([quad[2] for quad in quads]),
            np.array([quad[3] for quad in quads], np.float32),
            self._style.atlas_N,
        )


@functools.cache
def _model_looks() -> ModelLooks:
    return build_model_looks(texture_rows())
