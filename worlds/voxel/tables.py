"""The constant tables that the engine's kernels read. S block states, K kinds, I items, B boxes.

Made once a process by worlds.blocks, worlds.items and worlds.mobs; kernels get the groups that they need.
"""

from typing import NamedTuple

import numpy as np

USE_NOTHING, USE_TOGGLE, USE_PRESS, USE_OPEN = range(4)  # doors and levers; buttons; chests, furnaces, crafting tables
FLUID_NONE, FLUID_WATER, FLUID_LAVA = range(3)


class Boxes(NamedTuple):
    """Boxes of every block state: S -> rows start .. start + count of box_B6."""

    start_S: np.ndarray  # int32 [S]
    count_S: np.ndarray  # int32 [S]
    is_cube_S: np.ndarray  # bool [S], exactly one box, the whole cell: the fast path
    box_B6: np.ndarray  # float64 [B, 6] x0, y0, z0, x1, y1, z1 in blocks; a fence reaches up to y1 = 1.5


class BlockTables(NamedTuple):
    """What every block state does."""

    kind_S: np.ndarray  # int32 [S], index into worlds.blocks.BLOCKS
    collision: Boxes  # what stops a body
    outline: Boxes  # what a pointer and an arrow meet; none for air and fluids
    is_solid_S: np.ndarray  # bool [S], has a collision box
    fluid_S: np.ndarray  # uint8 [S], FLUID_*
    slipperiness_S: np.ndarray  # float64 [S], 0.6; ice 0.98, slime 0.8, blue ice 0.989
    speed_factor_S: np.ndarray  # float64 [S], 1; soul sand 0.4
    jump_factor_S: np.ndarray  # float64 [S], 1; honey 0.5
    is_climbable_S: np.ndarray  # bool [S], ladders and vines
    is_web_S: np.ndarray  # bool [S], cobweb
    hurt_S: np.ndarray  # int32 [S], half hearts a touch costs: cactus, lava, magma, fire, sweet berries
    hardness_S: np.ndarray  # float64 [S], -1 cannot be broken
    tool_S: np.ndarray  # int32 [S], index into worlds.items.TOOL_CLASSES, 0 none
    needs_tier_S: np.ndarray  # int32 [S], -1 drops by hand, else lowest tier of the tool
    drop_item_S: np.ndarray  # int32 [S], item id, -1 nothing
    drop_count_S: np.ndarray  # int32 [S]
    is_replaceable_S: np.ndarray  # bool [S], placing a block here puts it into this cell: air, water, grass
    needs_floor_S: np.ndarray  # bool [S], goes when the block below it goes: plants, torches, rails
    use_S: np.ndarray  # uint8 [S], USE_*
    used_state_S: np.ndarray  # int32 [S], the state that using it leads to (a door's other position), itself if none
    pair_S3: np.ndarray  # int32 [S, 3], offset x, y, z of the other half of a door, bed or tall plant; zeros: none
    pair_state_S: np.ndarray  # int32 [S], state of that other half (door lower -> upper, facing kept), itself if none
    pressed_ticks_S: np.ndarray  # int32 [S], ticks after which a pressed button is released by itself, 0 never
    connect_S16: np.ndarray  # int32 [S, 16], state of a fence or pane with these links (1 N, 2 E, 4 S, 8 W), else -1
    link_class_S: np.ndarray  # int32 [S], fences and panes link to their own class and to full cubes; 0 never links
    emission_S: np.ndarray  # uint8 [S], light 0 .. 15 given off
    opacity_S: np.ndarray  # uint8 [S], light lost passing through: 0 air, 1 leaves and water, 15 solid


class ItemTables(NamedTuple):
    """What every item does."""

    max_stack_I: np.ndarray  # int32 [I]
    tool_I: np.ndarray  # int32 [I], index into TOOL_CLASSES, 0 none
    tier_I: np.ndarray  # int32 [I], 0 wood and gold, 1 stone, 2 iron, 3 diamond and better, -1 no tool
    tool_speed_I: np.ndarray  # float64 [I], mining speed on blocks of its class, 1 otherwise
    attack_damage_I: np.ndarray  # float64 [I], half hearts of a full blow, 1 with anything that is no weapon
    attack_speed_I: np.ndarray  # float64 [I], blows a second, 4 with anything that is no weapon
    place_I462: np.ndarray  # int32 [I, 4, 6, 2], see worlds.items; -1 cannot be placed so
    pair_place_I: np.ndarray  # bool [I], placing sets a second cell too (doors, beds, tall plants), see pair_S3
    is_bow_I: np.ndarray  # bool [I]
    is_arrow_I: np.ndarray  # bool [I]
    food_I: np.ndarray  # int32 [I], half hearts that eating gives, 0 not food


class MobTables(NamedTuple):
    """What every kind of mob is. K mob kinds."""

    half_width_K: np.ndarray  # float64 [K], blocks
    height_K: np.ndarray  # float64 [K], blocks
    eye_K: np.ndarray  # float64 [K], blocks above the feet
    max_health_K: np.ndarray  # float32 [K], half hearts
    speed_K: np.ndarray  # float64 [K], Minecraft's speed attribute times its stroll factor
    damage_K: np.ndarray  # float32 [K], half hearts of its blow, 0 never attacks
    reach_squared_K: np.ndarray  # float64 [K], square of the blocks that its blow reaches, less the agent's width
    behaviour_K: np.ndarray  # uint8 [K], BEHAVIOUR_* of worlds.mobs.kinds
    drop_item_K: np.ndarray  # int32 [K], item id, -1 nothing
    drop_count_K: np.ndarray  # int32 [K]


class Tables(NamedTuple):
    """All of them."""

    blocks: BlockTables
    items: ItemTables
    mobs: MobTables
