"""One agent on a plain, moved tick by tick by the kernels as plain Python: no compile time."""

import numpy as np

from worlds.blocks import build_block_tables, state_of
from worlds.voxel.harm import block_damage
from worlds.voxel.motion import move_agent
from worlds.voxel.state import FULL_AIR_TICKS, empty_state

BLOCKS = build_block_tables()
SIZE, FLOOR_Y = 32, 20


class Agent:
    """One agent on a 32 x 64 x 32 stone plain, moved tick by tick by the kernels as plain Python."""

    def __init__(self, x: float = 10.5, y: float = FLOOR_Y, z: float = 10.5) -> None:
        self.state = empty_state(1, (SIZE, 64, SIZE))
        self.bodies = self.state.bodies
        self.block_XZY = self.state.terrain.block_EXZY[0]
        self.fill("stone", (0, 0, 0), (SIZE - 1, FLOOR_Y - 1, SIZE - 1))
        self.bodies.position_E3[0] = x, y, z
        self.bodies.is_on_ground_E[0] = y == FLOOR_Y
        self.bodies.air_ticks_E[0] = FULL_AIR_TICKS
        self.fall_damage = 0.0

    def fill(self, name: str, first: tuple[int, int, int], last: tuple[int, int, int] | None = None) -> "Agent":
        """Fill a box of cells, both corners included."""
        (x0, y0, z0), (x1, y1, z1) = first, last or first
        self.block_XZY[x0 : x1 + 1, z0 : z1 + 1, y0 : y1 + 1] = state_of(name)
        return self

    def floor(self, name: str) -> "Agent":
        """Make the top layer of the ground of another block."""
        return self.fill(name, (0, FLOOR_Y - 1, 0), (SIZE - 1, FLOOR_Y - 1, SIZE - 1))

    def tick(self, *, forward=0.0, strafe=0.0, jump=False, sneak=False, sprint=False, yaw_deg=0.0, times=1) -> "Agent":
        self.bodies.yaw_deg_E[0] = yaw_deg
        for _ in range(times):
            self.fall_damage += move_agent(
                0, self.state.terrain, self.bodies, BLOCKS, forward, strafe, jump, sneak, sprint
            )
        return self

    def hurt(self, *, moved_blocks=0.0) -> tuple[float, int]:
        return block_damage(0, self.state.terrain, self.bodies, BLOCKS, moved_blocks)

    @property
    def position(self) -> np.ndarray:
        return self.bodies.position_E3[0].copy()

    @property
    def is_on_ground(self) -> bool:
        return bool(self.bodies.is_on_ground_E[0])


def blocks_per_s(agent: Agent, **keys) -> float:
    """Return the speed that the agent has reached after two seconds of holding these keys."""
    agent.tick(times=40, **keys)
    before = agent.position
    agent.tick(**keys)
    return float(np.hypot(*(agent.position - before)[[0, 2]])) * 20
