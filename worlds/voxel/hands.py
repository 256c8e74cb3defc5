"""The agent's hands in one tick: hotbar, drop key, then the use key and the attack key on what stands in front.

As in Minecraft, a mob nearer than the block takes the click (which reaches it within 3 blocks), a drawn bow or a
mouth full of food keeps the hands busy, the use key acts on the press and then every 4 ticks, but not while a block is
mined, and a blow needs a fresh press. The inventory key does nothing: there is no screen.
"""

import math

import numpy as np

from worlds.spec import BLOCK_MASK
from worlds.types import (
    BUTTON_INDEX,
    EVENT_ITEM_DROPPED,
    EYE_HEIGHT_BLOCKS,
    SNEAK_EYE_HEIGHT_BLOCKS,
)
from worlds.voxel.bow import release_bow
from worlds.voxel.chance import chance
from worlds.voxel.combat import ENTITY_REACH_BLOCKS, first_mob_hit, strike_mob
from worlds.voxel.drops import THROWN_AGE_TICKS, spawn_drop
from worlds.voxel.inventory import change_hand, find_arrows, held_item, take_one
from worlds.voxel.link import Kernel
from worlds.voxel.log import push_event
from worlds.voxel.mining import REACH_BLOCKS, mine, mining_damage, stop_mining
from worlds.voxel.placing import place_block
from worlds.voxel.raycast import first_hit
from worlds.voxel.state import NO_ITEM
from worlds.voxel.using import EAT_TICKS, can_eat, eat, use_block, wait_for_button

_ATTACK, _SNEAK, _USE, _DROP = (BUTTON_INDEX[name] for name in ("attack", "sneak", "use", "drop"))
_FIRST_HOTBAR, _NUM_HOTBAR = BUTTON_INDEX["hotbar.1"], 9
USE_DELAY_TICKS = 4
THROW_BELOW_EYE_BLOCKS, THROW_SPEED, THROW_UP, THROW_SCATTER = 0.3, 0.3, 0.1, 0.02
_WHO_HANDS = 1200  # in the draws of chance


def select_slot(e, hands, buttons_B):
    """Take the hotbar key that is held (the last one of several); another item starts the attack cooldown anew."""
    slot = hands.selected_E[e]
    for i in range(_NUM_HOTBAR):
        if buttons_B[_FIRST_HOTBAR + i]:
            slot = i
    if slot != hands.selected_E[e]:
        before = held_item(e, hands)
        hands.selected_E[e] = slot
        hands.bow_ticks_E[e] = 0
        if held_item(e, hands) != before:
            change_hand(e, hands)


def throw_item(e, bodies, hands, drops, log, clock, eye_y, dx, dy, dz):
    """Throw one of the items in hand to where the agent looks."""
    item = held_item(e, hands)
    if item == NO_ITEM:
        return
    take_one(e, hands, hands.selected_E[e])
    if held_item(e, hands) == NO_ITEM:
        change_hand(e, hands)
    row = spawn_drop(
        e, drops, clock, item, 1, bodies.position_E3[e, 0], eye_y - THROW_BELOW_EYE_BLOCKS, bodies.position_E3[e, 2]
    )
    key, tick = int(clock.key_E[e]), int(clock.tick_E[e])
    turn = 2.0 * math.pi * chance(key, tick, _WHO_HANDS, 0)
    scatter = THROW_SCATTER * chance(key, tick, _WHO_HANDS, 1)
    lift = chance(key, tick, _WHO_HANDS, 2) - chance(key, tick, _WHO_HANDS, 3)
    drops.velocity_ED3[e, row, 0] = dx * THROW_SPEED + math.cos(turn) * scatter
    drops.velocity_ED3[e, row, 1] = dy * THROW_SPEED + THROW_UP + 0.1 * lift
    drops.velocity_ED3[e, row, 2] = dz * THROW_SPEED + math.sin(turn) * scatter
    drops.age_ticks_ED[e, row] = THROWN_AGE_TICKS
    push_event(e, log, EVENT_ITEM_DROPPED, item, 1, 0)


def keep_using(e, bodies, hands, arrows, log, clock, items, is_held, eye_y, dx, dy, dz):
    """Go on drawing the bow or chewing for a tick; a released bow shoots, food is eaten after 32 ticks."""
    item = held_item(e, hands)
    ticks = hands.bow_ticks_E[e]
    if item == NO_ITEM or not (items.is_bow_I[item] or items.food_I[item] > 0):
        hands.bow_ticks_E[e] = 0
    elif is_held:
        hands.bow_ticks_E[e] = ticks + 1
        if not items.is_bow_I[item] and ticks + 1 >= EAT_TICKS:
            eat(e, bodies, hands, items, item)
            hands.bow_ticks_E[e] = 0
    else:
        if items.is_bow_I[item]:
            release_bow(e, bodies, hands, arrows, log, clock, items, ticks, eye_y, dx, dy, dz)
        hands.bow_ticks_E[e] = 0


def start_using(e, terrain, bodies, hands, mobs, log, tables, is_sneaking, has_block, x, y, z, face, hit_y):
    """Use the block in front, else place the block in hand, else begin to draw the bow or to eat."""
    item = held_item(e, hands)
    if has_block:
        if (not is_sneaking or item == NO_ITEM) and use_block(e, terrain, hands, log, tables.blocks, x, y, z):
            return
        if place_block(e, terrain, bodies, hands, mobs, log, tables, x, y, z, face, hit_y):
            return
    if item != NO_ITEM:
        can_draw = tables.items.is_bow_I[item] and find_arrows(e, hands, tables.items) >= 0
        if can_draw or can_eat(e, bodies, tables.items, item):
            hands.bow_ticks_E[e] = 1


def act(e, terrain, bodies, hands, mobs, arrows, drops, log, clock, tables, buttons_B):
    """Do everything that the agent's hands do in one tick, and count down what runs out for it."""
    if bodies.hurt_ticks_E[e] > 0:
        bodies.hurt_ticks_E[e] -= 1
    if hands.use_delay_ticks_E[e] > 0:
        hands.use_delay_ticks_E[e] -= 1
    hands.swing_ticks_E[e] += 1
    is_mining = hands.mine_cell_E[e] >= 0
    wait_for_button(e, terrain, tables.blocks, hands)
    select_slot(e, hands, buttons_B)

    is_attacking, is_using, is_dropping = buttons_B[_ATTACK], buttons_B[_USE], buttons_B[_DROP]
    yaw, pitch = math.radians(bodies.yaw_deg_E[e]), math.radians(bodies.pitch_deg_E[e])
    level = math.cos(pitch)
    dx, dy, dz = -math.sin(yaw) * level, -math.sin(pitch), math.cos(yaw) * level
    eye_x, eye_z = bodies.position_E3[e, 0], bodies.position_E3[e, 2]
    eye_y = bodies.position_E3[e, 1]
    eye_y += SNEAK_EYE_HEIGHT_BLOCKS if bodies.is_sneaking_E[e] else EYE_HEIGHT_BLOCKS
    if is_dropping and not hands.was_dropping_E[e]:
        throw_item(e, bodies, hands, drops, log, clock, eye_y, dx, dy, dz)
    hands.was_dropping_E[e] = is_dropping
    is_pressed = is_attacking and not hands.was_attacking_E[e]
    hands.was_attacking_E[e] = is_attacking
    if not is_using:
        hands.use_delay_ticks_E[e] = 0

    was_busy = hands.bow_ticks_E[e] > 0
    if was_busy:
        keep_using(e, bodies, hands, arrows, log, clock, tables.items, is_using, eye_y, dx, dy, dz)
    starts_using = is_using and not was_busy and hands.use_delay_ticks_E[e] == 0
    may_hit = is_attacking and not was_busy
    m, x, y, z, face, block_blocks = -1, -1, -1, -1, -1, REACH_BLOCKS
    if starts_using or may_hit:
        block_XZY = terrain.block_EXZY[e]
        x, y, z, face, block_blocks = first_hit(
            block_XZY, tables.blocks.outline, eye_x, eye_y, eye_z, dx, dy, dz, REACH_BLOCKS
        )
        m, mob_blocks = first_mob_hit(
            e, mobs, tables.mobs, block_XZY.shape[0], block_XZY.shape[1], eye_x, eye_y, eye_z, dx, dy, dz,
            block_blocks, 0.0, -1,
        )  # fmt: skip
        if m >= 0 and mob_blocks > ENTITY_REACH_BLOCKS:
            m, y = -1, -1  # out of reach, and yet in the way

    if may_hit and is_pressed and m >= 0:
        strike_mob(e, m, terrain, bodies, hands, mobs, drops, log, clock, tables)
    if is_pressed and not was_busy:
        hands.swing_ticks_E[e] = 0
    if starts_using and is_pressed and y >= 0 and m < 0:
        state = np.int64(block_XZY[x, z, y]) & BLOCK_MASK
        damage = mining_damage(e, block_XZY, bodies, tables, state, held_item(e, hands), eye_y)
        is_mining = is_mining or damage < 1.0
    if starts_using and not is_mining:
        hands.use_delay_ticks_E[e] = USE_DELAY_TICKS
        start_using(
            e, terrain, bodies, hands, mobs, log, tables, buttons_B[_SNEAK], y >= 0 and m < 0, x, y, z, face,
            eye_y + dy * block_blocks,
        )  # fmt: skip

    if hands.mine_delay_ticks_E[e] > 0:
        hands.mine_delay_ticks_E[e] -= 1
    elif may_hit and y >= 0 and m < 0 and hands.bow_ticks_E[e] == 0:
        hands.swing_ticks_E[e] = 0
        mine(
            e, terrain, bodies, hands, drops, log, clock, tables, held_item(e, hands), eye_y, x, y, z
        )  # fmt: skip
    else:
        stop_mining(e, hands)


SOURCES: tuple[Kernel, ...] = (select_slot, throw_item, keep_using, start_using, act)
