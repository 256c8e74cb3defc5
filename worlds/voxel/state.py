"""The state of E envs as arrays, one row an env. E envs, X Y Z blocks, K block ids."""

import numpy as np

from worlds.blocks import NUM_BLOCKS
from worlds.types import MAX_EVENTS

FULL_HEALTH = 20.0


class VoxelState:
    """Everything that changes while envs are played, and nothing that is drawn."""

    def __init__(self, num_envs: int, size_blocks: tuple[int, int, int]) -> None:
        """Allocate `num_envs` empty worlds of `size_blocks` (x, y, z)."""
        size_x, size_y, size_z = size_blocks
        self.block_EXZY = np.zeros((num_envs, size_x, size_z, size_y), np.uint16)
        self.distance_EXZY = np.zeros((num_envs, size_x, size_z, size_y), np.uint8)
        self.position_E3 = np.zeros((num_envs, 3))  # feet, blocks, x and z wrapped into the world
        self.velocity_E3 = np.zeros((num_envs, 3))  # blocks a tick
        self.yaw_deg_E = np.zeros(num_envs)
        self.pitch_deg_E = np.zeros(num_envs)
        self.is_on_ground_E = np.zeros(num_envs, bool)
        self.is_sprinting_E = np.zeros(num_envs, bool)
        self.is_sneaking_E = np.zeros(num_envs, bool)
        self.has_bumped_E = np.zeros(num_envs, bool)  # horizontal collision in the last tick
        self.jump_delay_ticks_E = np.zeros(num_envs, np.int64)
        self.fall_blocks_E = np.zeros(num_envs)
        self.health_E = np.zeros(num_envs, np.float32)
        self.mine_cell_E = np.full(num_envs, -1, np.int64)  # flat cell being mined, -1 none
        self.mine_progress_E = np.zeros(num_envs)  # share already mined
        self.mine_delay_ticks_E = np.zeros(num_envs, np.int64)
        self.break_damage_EK = np.zeros((num_envs, NUM_BLOCKS))  # share of block id k a tick of mining removes
        self.event_EN4 = np.zeros((num_envs, MAX_EVENTS, 4), np.int32)
        self.num_events_E = np.zeros(num_envs, np.int64)
        self.fov_deg_E = np.full(num_envs, 70.0, np.float32)
        self.brightness_E = np.ones(num_envs, np.float32)
        self.target_instance_E = np.zeros(num_envs, np.int32)
