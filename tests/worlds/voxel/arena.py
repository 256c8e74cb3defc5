"""A flat little world with one agent in it, played by the kernels as plain Python: no compile time."""

import math

import numpy as np

from worlds.blocks import build_block_tables, state_of
from worlds.items import ITEM_ID, build_item_tables
from worlds.mobs.kinds import MOB_ID, build_mob_tables
from worlds.spec import BLOCK_BITS, BLOCK_MASK
from worlds.types import BUTTON_INDEX, BUTTONS, EYE_HEIGHT_BLOCKS
from worlds.voxel.free_boxes import BOX_BITS, BOXES
from worlds.voxel.hands import act
from worlds.voxel.raycast import box_centre
from worlds.voxel.state import FULL_HEALTH, NO_ITEM, EnvState, empty_state
from worlds.voxel.tables import Tables

SIZE = 32
GROUND_Y = 10  # the agent's feet on the stone floor
TABLES = Tables(build_block_tables(), build_item_tables(), build_mob_tables())


class Arena:
    """One env, 32 x 64 x 32, stone below y = 10, at noon; the agent stands at (16.5, 10, 16.5) and may strike."""

    def __init__(self) -> None:
        self.state: EnvState = empty_state(1, (SIZE, 64, SIZE))
        self.state.terrain.block_EXZY[0, :, :, :GROUND_Y] = state_of("stone")
        self.state.terrain.field_EXZY[:] = 15 << 4
        self.state.bodies.position_E3[0] = (16.5, GROUND_Y, 16.5)
        self.state.bodies.health_E[0] = FULL_HEALTH
        self.state.bodies.is_on_ground_E[0] = True
        self.state.hands.swing_ticks_E[0] = 1000
        self.state.clock.key_E[0] = 7

    def put(self, name: str, x: int, y: int, z: int, slot: int = 0) -> None:
        self.state.terrain.block_EXZY[0, x, z, y] = state_of(name) | (slot << BLOCK_BITS)

    def at(self, x: int, y: int, z: int) -> int:
        return int(self.state.terrain.block_EXZY[0, x, z, y]) & BLOCK_MASK

    def light_at(self, x: int, y: int, z: int) -> int:
        return int(self.state.terrain.field_EXZY[0, x, z, y]) >> 4

    def free_box_at(self, x: int, y: int, z: int) -> tuple[int, int, int]:
        return BOXES[int(self.state.terrain.field_EXZY[0, x, z, y]) & BOX_BITS]

    def give(self, name: str, count: int = 1, slot: int = 0) -> None:
        self.state.hands.item_ES[0, slot] = ITEM_ID[name] if name else NO_ITEM
        self.state.hands.count_ES[0, slot] = count

    def count(self, name: str) -> int:
        hands = self.state.hands
        return int(hands.count_ES[0][hands.item_ES[0] == ITEM_ID[name]].sum())

    def put_mob(self, kind: str, x: float, y: float, z: float, row: int = 0, slot: int = 0) -> None:
        mobs = self.state.mobs
        mobs.kind_EM[0, row], mobs.object_EM[0, row] = MOB_ID[kind], slot
        mobs.position_EM3[0, row] = (x, y, z)
        mobs.health_EM[0, row] = TABLES.mobs.max_health_K[MOB_ID[kind]]
        mobs.is_on_ground_EM[0, row] = True

    def look_at(self, x: float, y: float, z: float) -> None:
        bodies = self.state.bodies
        dx, dy, dz = np.array([x, y, z]) - bodies.position_E3[0] - (0.0, EYE_HEIGHT_BLOCKS, 0.0)
        bodies.yaw_deg_E[0] = math.degrees(math.atan2(-dx, dz))
        bodies.pitch_deg_E[0] = -math.degrees(math.atan2(dy, math.hypot(dx, dz)))

    def look_at_block(self, x: int, y: int, z: int) -> None:
        """Look at the middle of what stands in a cell."""
        middle = box_centre(TABLES.blocks.outline, self.at(x, y, z))
        self.look_at(x + middle[0], y + middle[1], z + middle[2])

    def press(self, *keys: str, ticks: int = 1) -> None:
        """Let the hands act for some ticks with these keys held; nothing else moves. Events add up."""
        buttons_B = np.zeros(len(BUTTONS), bool)
        buttons_B[[BUTTON_INDEX[key] for key in keys]] = True
        s = self.state
        for _ in range(ticks):
            act(
                0, s.terrain, s.bodies, s.hands, s.mobs, s.arrows, s.drops, s.log, s.clock, TABLES, buttons_B
            )  # fmt: skip
            s.clock.tick_E[0] += 1

    def events(self) -> list[tuple[int, int, int, int]]:
        """Return the events so far and forget them."""
        log = self.state.log
        rows = [tuple(int(value) for value in row) for row in log.event_EN4[0, : log.num_events_E[0]]]
        log.event_EN4[0], log.num_events_E[0] = 0, 0
        return rows

    def dropped(self) -> dict[int, int]:
        """Return the items on the ground and how many of each lie there."""
        drops, lying = self.state.drops, {}
        for item, count in zip(drops.item_ED[0], drops.count_ED[0], strict=True):
            if item != NO_ITEM:
                lying[int(item)] = lying.get(int(item), 0) + int(count)
        return lying


def flat(x: int, y: int, z: int) -> int:
    return (x * SIZE + z) * 64 + y
