"""Mobs, arrows and items in the 3-D scene: the rows that the engine's renderer lists, as nodes that move."""

from dataclasses import dataclass

import numpy as np
import viser

from eval.viewer.scene_models import Limb, ModelMeshes
from eval.viewer.scene_place import UNITS_PER_BLOCK, Ground, upright_wxyz
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.kernels import list_all_entities
from worlds.voxel.scene import ENTITY_COLUMNS, MAX_ENTITIES, NUM_ENTITY_COLUMNS

_MODEL, _X, _, _Z, _YAW, _PITCH, _SWING, _, _, _SCALE = range(len(ENTITY_COLUMNS))
_LEAST_SWING_RAD = 0.05  # a smaller step of a leg is not worth a message


@dataclass(slots=True)
class _Figure:
    """One mob, arrow or item as it is drawn."""

    model: int
    row_F: np.ndarray  # float32 [10], what was drawn last
    frame: viser.FrameHandle
    limbs: list[tuple[Limb, viser.GlbHandle]]


class SceneBodies:
    """The figures of one scene."""

    def __init__(self, scene: viser.SceneApi, models: ModelMeshes) -> None:
        """Begin with none."""
        self._scene, self._models = scene, models
        self._figures: list[_Figure] = []
        self._entity_EMF = np.zeros((1, MAX_ENTITIES, NUM_ENTITY_COLUMNS), np.float32)
        self._num_entities_E = np.zeros(1, np.int32)

    def update(self, engine: VoxelBackend, ground: Ground) -> None:
        """Draw the bodies of env 0 of an engine as they stand now."""
        state = engine.state
        if engine.num_envs != 1:
            raise ValueError(f"viewer: one env can be drawn, got {engine.num_envs}; make an engine for each session")
        list_all_entities(
            state.mobs, state.arrows, state.drops, state.clock, engine_tables(), self._entity_EMF, self._num_entities_E
        )
        rows_MF = self._entity_EMF[0, : int(self._num_entities_E[0])]
        while len(self._figures) > len(rows_MF):
            self._figures.pop().frame.remove()
        for m, row_F in enumerate(rows_MF):
            if m < len(self._figures) and self._figures[m].model == int(row_F[_MODEL]):
                self._move(self._figures[m], row_F, ground)
                continue
            # Rows close up when a body goes: those behind it are other bodies now.
            for figure in self._figures[m:]:
                figure.frame.remove()
            del self._figures[m:]
            self._figures.append(self._add(m, row_F, ground))

    def clear(self) -> None:
        """Remove all figures."""
        for figure in self._figures:
            figure.frame.remove()
        self._figures.clear()

    def _add(self, m: int, row_F: np.ndarray, ground: Ground) -> _Figure:
        scale = UNITS_PER_BLOCK * float(row_F[_SCALE])
        frame = self._scene.add_frame(f"/body_{m}", show_axes=False, position=_place(row_F, ground), wxyz=_turn(row_F))
        limbs = [
            (
                limb,
                self._scene.add_glb(
                    f"/body_{m}/{i}",
                    limb.glb,
                    scale=scale,
                    position=tuple(scale * part for part in limb.pivot),  # type: ignore[arg-type]
                    wxyz=limb.swing_wxyz(float(row_F[_SWING])),
                    cast_shadow=False,
                    receive_shadow=False,
                ),
            )
            for i, limb in enumerate(self._models.limbs(int(row_F[_MODEL])))
        ]
        return _Figure(int(row_F[_MODEL]), row_F.copy(), frame, limbs)

    def _move(self, figure: _Figure, row_F: np.ndarray, ground: Ground) -> None:
        before_F = figure.row_F
        if not np.array_equal(before_F[_X : _Z + 1], row_F[_X : _Z + 1]):
            figure.frame.position = _place(row_F, ground)
        if before_F[_YAW] != row_F[_YAW] or before_F[_PITCH] != row_F[_PITCH]:
            figure.frame.wxyz = _turn(row_F)
        swing = float(row_F[_SWING])
        if abs(swing - float(before_F[_SWING])) > _LEAST_SWING_RAD or (swing == 0.0 != float(before_F[_SWING])):
            for limb, handle in figure.limbs:
                if limb.joint:
                    handle.wxyz = limb.swing_wxyz(swing)
        else:
            row_F = row_F.copy()
            row_F[_SWING] = before_F[_SWING]  # small steps add up
        figure.row_F = row_F.copy()


def _place(row_F: np.ndarray, ground: Ground) -> np.ndarray:
    return ground.scene(row_F[_X : _Z + 1].astype(np.float64))


def _turn(row_F: np.ndarray) -> tuple[float, float, float, float]:
    return upright_wxyz(float(row_F[_YAW]), pitch_deg=float(row_F[_PITCH]))
