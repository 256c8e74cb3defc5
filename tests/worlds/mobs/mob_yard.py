"""A flat yard of stone for tests of mobs, played by the kernels as plain Python."""

import numpy as np

from worlds.blocks import BLOCK_ID, state_of
from worlds.mobs.kinds import MOB_ID, MOBS
from worlds.mobs.spawn import place_mob
from worlds.types import EVENT_MOB_STRUCK
from worlds.voxel.arrows import move_arrows
from worlds.voxel.body import is_box_free
from worlds.voxel.combat import hurt_mob
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.mob_moods import MOOD_WALK
from worlds.voxel.mobs import move_mobs
from worlds.voxel.state import FULL_HEALTH, EnvState, empty_state

FLOOR_Y = 20  # y of the feet of whoever stands on the yard


class Yard:
    """One env: 32 x 64 x 32 blocks, stone below FLOOR_Y, the agent in the middle."""

    def __init__(self, *, seed=1, size=32):
        self.state: EnvState = empty_state(1, (size, 64, size))
        self.state.terrain.block_EXZY[:, :, :, :FLOOR_Y] = BLOCK_ID["stone"]
        self.state.clock.key_E[0] = seed
        self.state.bodies.health_E[0] = FULL_HEALTH
        self.state.bodies.is_on_ground_E[0] = True
        self.agent_at(size / 2, FLOOR_Y, size / 2)
        self.tables = engine_tables()

    def agent_at(self, x, y, z):
        self.state.bodies.position_E3[0] = x, y, z

    def block(self, name, x, y, z):
        self.state.terrain.block_EXZY[0, x, z, y] = state_of(name)

    def wall(self, name, xs, ys, zs):
        for x in xs:
            for y in ys:
                for z in zs:
                    self.block(name, x, y, z)

    def mob(self, kind, x, z, y=FLOOR_Y, row=0, object_slot=0, is_busy=False):
        place_mob(self.state, 0, row, MOB_ID[kind], object_slot, x, y, z, 0.0)
        # Unless a test wants it to stroll, a mob rests for the length of the test.
        self.state.mobs.mood_ticks_EM[0, row] = 0 if is_busy else 10_000
        return row

    def play(self, num_ticks):
        """Play ticks of mobs and arrows; the agent stands still and recovers from blows."""
        state = self.state
        groups = (state.mobs, state.arrows, state.drops, state.log, state.clock, self.tables)
        for _ in range(num_ticks):
            move_mobs(0, state.terrain, state.bodies, *groups)
            move_arrows(0, state.terrain, state.bodies, *groups)
            state.bodies.hurt_ticks_E[0] = max(0, state.bodies.hurt_ticks_E[0] - 1)
            state.bodies.velocity_E3[0] = 0.0
            state.clock.tick_E[0] += 1

    def place(self, row=0):
        return self.state.mobs.position_EM3[0, row].copy()

    def distance_to_agent(self, row=0):
        return float(np.linalg.norm(self.place(row) - self.state.bodies.position_E3[0]))

    def is_free(self, row=0):
        """Tell whether a mob's box touches no block."""
        kind = MOBS[int(self.state.mobs.kind_EM[0, row])]
        x, y, z = self.place(row)
        half = kind.width / 2
        return is_box_free(
            self.state.terrain.block_EXZY[0], self.tables.blocks.collision, x - half, y, z - half, x + half,
            y + kind.height, z + half,
        )  # fmt: skip


def strike(yard, half_hearts=1.0, row=0, push=(0.0, 0.0)):
    state = yard.state
    hurt_mob(
        0, row, state.mobs, state.drops, state.log, state.clock, yard.tables.mobs, half_hearts, *push, EVENT_MOB_STRUCK
    )


def events(yard):
    log_group = yard.state.log
    return log_group.event_EN4[0, : log_group.num_events_E[0]].tolist()


def send(yard, x, z, row=0):
    """Let a mob walk to a place."""
    yard.state.mobs.mood_EM[0, row], yard.state.mobs.mood_ticks_EM[0, row] = MOOD_WALK, 10_000
    yard.state.mobs.goal_EM2[0, row] = x, z
