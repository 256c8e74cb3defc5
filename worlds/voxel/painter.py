"""What turns the state of E envs into pictures: texture sets, looks, entities and the renderer. V views."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from worlds.spec import Look
from worlds.textures.resource_pack import ResourcePack
from worlds.types import ViewBatch
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.kernels import list_all_entities
from worlds.voxel.look_book import LookBook
from worlds.voxel.render import render_scalar
from worlds.voxel.render_lanes import render_lanes
from worlds.voxel.render_view import LOOK_FOV
from worlds.voxel.scene import MAX_ENTITIES, NUM_ENTITY_COLUMNS, Picture, Scene
from worlds.voxel.state import EnvState

Renderer = Literal["lanes", "scalar"]
_RENDERERS = {"lanes": render_lanes, "scalar": render_scalar}
_NO_DEPTH_VHW = np.empty((0, 0, 0), np.float32)


class Painter:
    """Draws views into E envs as the look book says."""

    def __init__(
        self,
        num_envs: int,
        *,
        image_px: tuple[int, int],
        view_range_blocks: float,
        with_depth: bool = False,
        renderer: Renderer = "lanes",
        resource_packs: Sequence[ResourcePack] = (),
    ) -> None:
        """Draw pictures of `image_px` (height, width); Looks may name the given packs."""
        self._image_px = image_px
        self._view_range_blocks = view_range_blocks
        self._with_depth = with_depth
        self._render = _RENDERERS[renderer]
        self._book = LookBook(num_envs, resource_packs=resource_packs)
        self._entity_EMF = np.zeros((num_envs, MAX_ENTITIES, NUM_ENTITY_COLUMNS), np.float32)
        self._num_entities_E = np.zeros(num_envs, np.int32)

    def set_look(self, e: int, look: Look, *, target_instance: int) -> None:
        """Draw env e with this look from now on and report where `target_instance` is (0: nothing)."""
        self._book.set_look(e, look, target_instance=target_instance)

    def look_of(self, e: int) -> tuple[Look, int]:
        """Return what set_look was told for env e: the look and the target's instance id."""
        return self._book.look_of(e)

    def empty_views(self, num_views: int, *, image_px: tuple[int, int] | None = None) -> ViewBatch:
        """Return arrays to draw into, of the painter's own (height, width) unless told otherwise."""
        height, width = image_px or self._image_px
        return ViewBatch(
            image_VHWC=np.empty((num_views, height, width, 3), np.uint8),
            instance_VHW=np.empty((num_views, height, width), np.int32),
            depth_VHW=np.empty((num_views, height, width), np.float32) if self._with_depth else None,
            target_V7=np.empty((num_views, 7), np.float32),
        )

    def scene(self, state: EnvState) -> Scene:
        """Return what the renderer reads of the present state; mobs, arrows and items are listed anew."""
        list_all_entities(
            state.mobs, state.arrows, state.drops, state.clock, engine_tables(), self._entity_EMF, self._num_entities_E
        )
        return Scene(
            block_WXZY=state.terrain.block_EXZY,
            field_WXZY=state.terrain.field_EXZY,
            look_WL=self._book.look_EL,
            entity_WMF=self._entity_EMF,
            num_entities_W=self._num_entities_E,
            atlas_AN=self._book.atlas_AN,
        )

    def draw(
        self,
        state: EnvState,
        env_index_V: np.ndarray,
        eye_V5: np.ndarray,
        views: ViewBatch,
        *,
        fov_deg_V: np.ndarray | None = None,
    ) -> None:
        """Draw one view a row into `views`; `fov_deg_V` takes the place of the looks' fields of view, one an env."""
        scene = self.scene(state)
        if fov_deg_V is not None:
            look_WL = scene.look_WL.copy()
            look_WL[env_index_V, LOOK_FOV] = fov_deg_V
            scene = scene._replace(look_WL=look_WL)
        picture = Picture(
            image_VHWC=views.image_VHWC,
            instance_VHW=views.instance_VHW,
            depth_VHW=_NO_DEPTH_VHW if views.depth_VHW is None else views.depth_VHW,
            target_V7=views.target_V7,
        )
        self._render(
            scene, self._book.block_looks, self._book.model_looks, env_index_V, eye_V5,
            self._book.target_instance_E[env_index_V], self._view_range_blocks, picture,
        )  # fmt: skip
