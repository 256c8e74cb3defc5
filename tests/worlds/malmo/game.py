"""The game behind the wire: one env of our engine, in the coordinates that the client sees."""

import dataclasses
from typing import Any

import numpy as np

from tests.worlds.malmo.counters import Counters
from tests.worlds.malmo.mission import Mission
from tests.worlds.malmo.spawn import spawn_pose
from worlds.blocks import AIR
from worlds.items import ITEM_ID, ITEMS
from worlds.mobs.kinds import MOB_ID, MOBS
from worlds.mobs.spawn import place_mob
from worlds.spec import BLOCK_MASK, Episode, Look, World, WorldSpec
from worlds.types import ActionBatch, Pose, TickBatch
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.daylight import darkness
from worlds.voxel.drops import spawn_drop
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.episode_start import _begin_body
from worlds.voxel.field import write_field
from worlds.voxel.inventory import add_items
from worlds.voxel.state import NO_ITEM, NO_MOB, EnvState
from worlds.voxel.world_cache import WorldCache, prepare

_ENV = 0


class Game:
    """One world of ours with one agent in it. Cell (0, 0, 0) of the world is `origin_blocks` of the client."""

    def __init__(self, world: WorldSpec, *, origin_blocks: tuple[int, int, int], num_ambient_mobs: int) -> None:
        """Serve worlds like `world`; a mission may name another seed."""
        self.world = world
        self.origin_blocks = origin_blocks
        self._num_ambient_mobs = num_ambient_mobs
        self._cache = WorldCache()
        self.backend: VoxelBackend | None = None
        self.counters = Counters()
        self.num_ticks = 0
        self.rules: dict[str, str] = {}
        self.is_spectator = False  # hovers where it was put, and keys do nothing
        self.tick: TickBatch
        self._lap_blocks = np.zeros(2)  # whole turns round the torus, so that the client's x and z do not jump
        self._mob_ids: list[str] = []
        self._num_ids = 0

    def begin(self, mission: Mission) -> None:
        """Start a mission: the world, and the agent in it with empty hands."""
        seed = self.world.seed if mission.seed is None else mission.seed % 2**31
        world = dataclasses.replace(self.world, seed=seed)
        is_same = self.backend is not None and world == self.world and self.backend.image_px == mission.image_px
        look = Look(time_ticks=(mission.start_time_ticks or 6000) % 24000)
        if self.backend is None or self.backend.image_px != mission.image_px:
            self.backend = VoxelBackend(
                1, size_blocks=world.size_blocks, image_px=mission.image_px, world_cache=self._cache
            )
        if not is_same or mission.is_fresh:
            self.world, self._lap_blocks[:] = world, 0.0
            self.backend.reset(
                [_ENV],
                [
                    Episode(
                        world=world,
                        start=spawn_pose(self._cache.get([world])[0].world),
                        look=look,
                        seed=seed,
                        num_ambient_mobs=self._num_ambient_mobs if mission.has_spawning else 0,
                    )
                ],
            )
            self._mob_ids = [""] * len(self.state.mobs.kind_EM[_ENV])
        else:
            _begin_body(self.state, _ENV, Episode(world=world, start=spawn_pose(self._cache.get([world])[0].world)))
        self.counters, self.is_spectator = Counters(), False
        self.clear_inventory()
        if mission.start is not None:
            self.teleport(*mission.start)
        self.tick = self.backend.observe()

    @property
    def state(self) -> EnvState:
        """Return the engine's state; only after `begin`."""
        assert self.backend is not None, "the game has not begun"
        return self.backend.state

    def play(self, is_down_B: np.ndarray, camera_deg: tuple[float, float]) -> None:
        """Let one tick pass."""
        assert self.backend is not None, "the game has not begun"
        if self.is_spectator:
            self.tick = self.backend.observe()
            return
        before_XZ = self.state.bodies.position_E3[_ENV, [0, 2]].copy()
        actions = ActionBatch(buttons_EB=is_down_B[None].copy(), camera_deg_E2=np.array([camera_deg], np.float32))
        self.tick = self.backend.step(actions)
        side_XZ = np.array(self.world.size_blocks)[[0, 2]]
        self._lap_blocks -= side_XZ * np.round((self.state.bodies.position_E3[_ENV, [0, 2]] - before_XZ) / side_XZ)
        self.counters.count(self.tick.event_EN4[_ENV])
        self.num_ticks += 1

    def render(self) -> np.ndarray:
        """Return what the agent sees now, uint8 [H, W, 3], row 0 the top; no time passes."""
        assert self.backend is not None, "the game has not begun"
        self.tick = self.backend.observe()
        return self.tick.image_EHWC[_ENV]

    def feet(self) -> tuple[float, float, float, float, float]:
        """Return the agent's feet x, y, z as the client sees them, then yaw and pitch."""
        bodies = self.state.bodies
        x, y, z = bodies.position_E3[_ENV] + np.array(self.origin_blocks)
        yaw, pitch = float(bodies.yaw_deg_E[_ENV]), float(bodies.pitch_deg_E[_ENV])
        return float(x + self._lap_blocks[0]), float(y), float(z + self._lap_blocks[1]), yaw, pitch

    def teleport(self, x: float, y: float, z: float, yaw: float, pitch: float) -> None:
        """Put the agent somewhere, at rest."""
        inside = np.array([x, y, z]) - np.array(self.origin_blocks)
        side_XZ = np.array(self.world.size_blocks)[[0, 2]]
        self._lap_blocks = side_XZ * np.floor(inside[[0, 2]] / side_XZ)
        episode = Episode(world=self.world, start=Pose(*map(float, inside), yaw, pitch))
        health = self.state.bodies.health_E[_ENV].copy()
        _begin_body(self.state, _ENV, episode)
        self.state.bodies.health_E[_ENV] = health

    def cell(self, x: int, y: int, z: int) -> tuple[int, int, int]:
        """Return the engine's cell (x, z, y) of a client's cell; x and z wrap.

        Raises:
            ValueError: it lies above or below the world.
        """
        inside_y = y - self.origin_blocks[1]
        if not 0 <= inside_y < self.world.size_blocks[1]:
            raise ValueError("Cannot place blocks outside of the world")
        return (
            (x - self.origin_blocks[0]) % self.world.size_blocks[0],
            (z - self.origin_blocks[2]) % self.world.size_blocks[2],
            inside_y,
        )

    def heights(self) -> tuple[int, int]:
        """Return the lowest and the highest y that the world has."""
        return self.origin_blocks[1], self.origin_blocks[1] + self.world.size_blocks[1] - 1

    def states_in(self, lowest: tuple[int, int, int], highest: tuple[int, int, int]) -> np.ndarray:
        """Return the block states of a box of the client's cells, corners inclusive; int64 [Y, Z, X].

        Above and below the world there is air.
        """
        size_x, size_y, size_z = self.world.size_blocks
        x_X, y_Y, z_Z = (np.arange(low, high + 1) for low, high in zip(lowest, highest, strict=True))
        inside_Y = y_Y - self.origin_blocks[1]
        block_XZY = self.state.terrain.block_EXZY[_ENV]
        box_XZY = block_XZY[np.ix_((x_X - self.origin_blocks[0]) % size_x, (z_Z - self.origin_blocks[2]) % size_z)]
        box_XZY = box_XZY[:, :, np.clip(inside_Y, 0, size_y - 1)].astype(np.int64) & BLOCK_MASK
        box_XZY[:, :, (inside_Y < 0) | (inside_Y >= size_y)] = AIR
        return box_XZY.transpose(2, 1, 0)

    def set_box(
        self, lowest: tuple[int, int, int], highest: tuple[int, int, int], state: int, *, only: int = -1
    ) -> int:
        """Fill a box of the client's cells, `only` where that state is (-1: everywhere); return how many changed."""
        block_XZY = self.state.terrain.block_EXZY[_ENV]
        num_changed = 0
        for x in range(lowest[0], highest[0] + 1):
            for z in range(lowest[2], highest[2] + 1):
                for y in range(lowest[1], highest[1] + 1):
                    cell = self.cell(x, y, z)
                    before = int(block_XZY[cell]) & BLOCK_MASK
                    if before != state and only in (-1, before):
                        block_XZY[cell] = state
                        num_changed += 1
        if num_changed:
            self._refresh_field()
        return num_changed

    def set_time(self, time_ticks: int) -> None:
        """Set the time of day."""
        self._set_look(time_ticks=time_ticks % 24000)

    def set_weather(self, weather: str) -> None:
        """Set the weather: clear or rain (thunder is rain)."""
        self._set_look(weather="clear" if weather == "clear" else "rain")

    @property
    def look(self) -> Look:
        """Return how the world is drawn now."""
        assert self.backend is not None, "the game has not begun"
        return self.backend._painter.look_of(_ENV)[0]

    def summon(self, kind: str, x: float, y: float, z: float, *, health: float | None = None) -> None:
        """Put a mob somewhere, in full health unless told. ValueError: no such mob, or no room for one more."""
        if kind not in MOB_ID:
            raise ValueError(f"Unknown entity minecraft:{kind}")
        free = np.flatnonzero(self.state.mobs.kind_EM[_ENV] == NO_MOB)
        if not len(free):
            raise ValueError("Unable to summon object")
        row = int(free[0])
        inside = np.array([x, y, z]) - np.array(self.origin_blocks)
        place_mob(self.state, _ENV, row, MOB_ID[kind], 0, float(inside[0]), float(inside[1]), float(inside[2]), 0.0)
        if health is not None:
            self.state.mobs.health_EM[_ENV, row] = health
        self._mob_ids[row] = ""

    def lay(self, item: str, x: float, y: float, z: float) -> None:
        """Lay an item onto the ground; it stays until it is picked up. ValueError: there is no such item."""
        place = np.array([x, y, z]) - np.array(self.origin_blocks)
        row = spawn_drop(_ENV, self.state.drops, self.state.clock, _item_id(item), 1, *place)
        self.state.drops.velocity_ED3[_ENV, row] = 0.0

    def mobs(self) -> list[dict[str, Any]]:
        """Return the mobs as the client sees them: row, id, name, x, y, z, yaw, life, motion in blocks a tick."""
        mobs, rows = self.state.mobs, []
        feet_x, _, feet_z, _, _ = self.feet()
        for row, kind in enumerate(mobs.kind_EM[_ENV]):
            if kind == NO_MOB:
                self._mob_ids[row] = ""
                continue
            if not self._mob_ids[row]:
                self._num_ids += 1
                self._mob_ids[row] = f"00000000-0000-4000-8000-{self._num_ids:012x}"
            x, y, z = mobs.position_EM3[_ENV, row] + np.array(self.origin_blocks)
            velocity_x, velocity_y, velocity_z = map(float, mobs.velocity_EM3[_ENV, row])
            rows.append({
                "row": row, "id": self._mob_ids[row], "name": MOBS[kind].name,
                "x": _nearest(float(x), feet_x, self.world.size_blocks[0]), "y": float(y),
                "z": _nearest(float(z), feet_z, self.world.size_blocks[2]),
                "yaw": float(mobs.yaw_deg_EM[_ENV, row]), "pitch": 0.0, "life": float(mobs.health_EM[_ENV, row]),
                "motionX": velocity_x, "motionY": velocity_y, "motionZ": velocity_z,
            })  # fmt: skip
        return rows

    def drops(self) -> list[dict[str, Any]]:
        """Return the items on the ground: row, item, count, x, y, z."""
        drops, rows = self.state.drops, []
        feet_x, _, feet_z, _, _ = self.feet()
        for row, item in enumerate(drops.item_ED[_ENV]):
            if item != NO_ITEM:
                x, y, z = drops.position_ED3[_ENV, row] + np.array(self.origin_blocks)
                rows.append({
                    "item": ITEMS[item].name, "count": int(drops.count_ED[_ENV, row]), "row": row,
                    "x": _nearest(float(x), feet_x, self.world.size_blocks[0]), "y": float(y),
                    "z": _nearest(float(z), feet_z, self.world.size_blocks[2]),
                })  # fmt: skip
        return rows

    def remove_entities(self, kind: str | None) -> int:
        """Take away all mobs of a kind, or with None all mobs, arrows and items; return how many mobs went."""
        mobs = self.state.mobs.kind_EM[_ENV]
        is_gone_M = mobs != NO_MOB if kind is None else mobs == MOB_ID.get(kind, NO_MOB - 1)
        mobs[is_gone_M] = NO_MOB
        if kind is None:
            self.state.drops.item_ED[_ENV] = NO_ITEM
            self.state.arrows.life_ticks_EA[_ENV] = 0
        return int(is_gone_M.sum())

    def items(self) -> list[tuple[str, int]]:
        """Return (item, count) by slot, ("air", 0) where it is empty."""
        hands = self.state.hands
        pairs = zip(hands.item_ES[_ENV], hands.count_ES[_ENV], strict=True)
        return [("air", 0) if item == NO_ITEM else (ITEMS[item].name, int(count)) for item, count in pairs]

    def put_item(self, slot: int, item: str, count: int) -> None:
        """Put a stack into a slot, whatever was there; ValueError: there is no such item."""
        self.state.hands.item_ES[_ENV, slot], self.state.hands.count_ES[_ENV, slot] = _item_id(item), count

    def give(self, item: str, count: int) -> None:
        """Give items as if the agent had picked them up; ValueError: there is no such item."""
        add_items(_ENV, self.state.hands, engine_tables().items, _item_id(item), count)

    def clear_inventory(self) -> None:
        """Empty all slots."""
        self.state.hands.item_ES[_ENV], self.state.hands.count_ES[_ENV] = NO_ITEM, 0
        self.state.hands.selected_E[_ENV] = 0

    def close(self) -> None:
        """Free what the engine holds."""
        self._cache.close()

    def _set_look(self, **changes) -> None:
        assert self.backend is not None, "the game has not begun"
        self.backend._painter.set_look(_ENV, dataclasses.replace(self.look, **changes), target_instance=0)
        self._refresh_field()

    def _refresh_field(self) -> None:
        """Bring everything that is derived from the blocks up to date."""
        block_XZY = self.state.terrain.block_EXZY[_ENV]
        prepared = prepare(World(self.world, block_XZY & BLOCK_MASK, np.zeros(block_XZY.shape[:2], np.int16)))
        write_field(prepared.box_XZY, prepared.light_XZY, darkness(self.look), self.state.terrain.field_EXZY[_ENV])


def _nearest(at: float, to: float, side: int) -> float:
    """Return the copy of a coordinate on the torus that is nearest to another."""
    return at - side * round((at - to) / side)


def _item_id(item: str) -> int:
    if item not in ITEM_ID:
        raise ValueError(f"There is no such item with name minecraft:{item}")
    return ITEM_ID[item]
