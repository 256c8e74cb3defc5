"""How each of E envs is drawn: texture sets, looks and targets as the arrays that every renderer reads."""

from collections.abc import Sequence

import numpy as np

from worlds.mobs.models import build_model_looks
from worlds.spec import Look
from worlds.textures.atlas import build_atlas, own_atlas, texture_rows
from worlds.textures.resource_pack import ResourcePack
from worlds.voxel.daylight import look_row
from worlds.voxel.looks import build_block_looks
from worlds.voxel.scene import NUM_LOOKS


class LookBook:
    """The looks of E envs. Texture sets are made when the first Look asks for them."""

    def __init__(self, num_envs: int, *, resource_packs: Sequence[ResourcePack] = ()) -> None:
        """Begin with the plain look in every env; Looks may name the given packs."""
        rows = texture_rows()
        self.block_looks, self.model_looks = build_block_looks(rows), build_model_looks(rows)
        # A copy, since compiled kernels tell arrays that cannot be written from those that can.
        self.atlas_AN = own_atlas()[None].copy()  # uint32 [A, T * 341], replaced when a set is added
        self.look_EL = np.zeros((num_envs, NUM_LOOKS), np.float32)  # see worlds.voxel.scene.LOOK_COLUMNS
        self.target_instance_E = np.zeros(num_envs, np.int32)  # instance id that labels describe, 0 none
        self._packs = {f"pack:{pack.sha256}": pack for pack in resource_packs}
        self._texture_sets = {"own": 0}
        self._looks = [Look()] * num_envs

    def set_look(self, e: int, look: Look, *, target_instance: int) -> None:
        """Draw env e with this look from now on and report where `target_instance` is (0: nothing)."""
        self._looks[e] = look
        self.look_EL[e] = look_row(look, self._texture_set(look.textures))
        self.target_instance_E[e] = target_instance

    def look_of(self, e: int) -> tuple[Look, int]:
        """Return what set_look was told for env e: the look and the target's instance id."""
        return self._looks[e], int(self.target_instance_E[e])

    def _texture_set(self, name: str) -> int:
        if name not in self._texture_sets:
            kind, _, variant = name.partition(":")
            if kind == "own" and variant.isdecimal():
                atlas_N = own_atlas(int(variant))
            elif name in self._packs:
                atlas_N = build_atlas(self._packs[name].textures)
            else:
                raise ValueError(
                    f'look.textures is {name!r}; use "own", "own:<n>", or load the resource pack it names first '
                    f"(loaded: {sorted(self._packs) or 'none'})"
                )
            self.atlas_AN = np.concatenate([self.atlas_AN, atlas_N[None]])
            self._texture_sets[name] = len(self._texture_sets)
        return self._texture_sets[name]
