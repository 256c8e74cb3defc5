"""The tick of the built-in engine: what happens in one env, in which order.

The order within a tick is fixed: camera, motion of the agent, its hands (mining, placing, using, hitting, shooting),
mobs, arrows, dropped items, then what hurts the agent (falls, lava, drowning). Rendering follows the last tick of a
step. Since motion comes before the hands, the tick in which a bow or a meal is begun is walked at full speed; the game
slows it too.
"""

from worlds.types import BUTTON_INDEX, DAMAGE_FALL
from worlds.voxel.arrows import move_arrows
from worlds.voxel.combat import hurt_agent
from worlds.voxel.drops import move_drops
from worlds.voxel.hands import act
from worlds.voxel.harm import block_damage
from worlds.voxel.link import Kernel
from worlds.voxel.mobs import move_mobs
from worlds.voxel.motion import move_agent
from worlds.voxel.raycast import nearest_image

_JUMP, _SNEAK, _SPRINT, _USE = (BUTTON_INDEX[name] for name in ("jump", "sneak", "sprint", "use"))
_FORWARD, _BACK, _LEFT, _RIGHT = (BUTTON_INDEX[name] for name in ("forward", "back", "left", "right"))
# Of its input a player keeps so much while it draws a bow or eats (LocalPlayer.aiStep).
USING_FACTOR = 0.2


def tick_env(e, num_ticks, state, tables, buttons_EB, camera_deg_E2):  # type: ignore[no-untyped-def]
    """Play the same action for `num_ticks` ticks in env e and keep all events; a dead agent's world stands still."""
    bodies, log = state.bodies, state.log
    log.event_EN4[e] = 0
    log.num_events_E[e] = 0
    buttons_B = buttons_EB[e]
    forward = int(buttons_B[_FORWARD]) - int(buttons_B[_BACK])
    strafe = int(buttons_B[_LEFT]) - int(buttons_B[_RIGHT])
    for _ in range(num_ticks):
        if bodies.health_E[e] <= 0.0:
            break
        bodies.pitch_deg_E[e] = min(90.0, max(-90.0, bodies.pitch_deg_E[e] + camera_deg_E2[e, 0]))
        bodies.yaw_deg_E[e] = (bodies.yaw_deg_E[e] + camera_deg_E2[e, 1] + 180.0) % 360.0 - 180.0
        is_using = state.hands.bow_ticks_E[e] > 0 and buttons_B[_USE]
        slowdown = USING_FACTOR if is_using else 1.0
        x, z = bodies.position_E3[e, 0], bodies.position_E3[e, 2]
        fall_damage = move_agent(
            e, state.terrain, bodies, tables.blocks, forward * slowdown, strafe * slowdown, buttons_B[_JUMP],
            buttons_B[_SNEAK], buttons_B[_SPRINT],
        )  # fmt: skip
        moved_x = nearest_image(bodies.position_E3[e, 0] - x, state.terrain.block_EXZY.shape[1])
        moved_z = nearest_image(bodies.position_E3[e, 2] - z, state.terrain.block_EXZY.shape[2])
        act(
            e, state.terrain, bodies, state.hands, state.mobs, state.arrows, state.drops, log, state.clock, tables,
            buttons_B,
        )  # fmt: skip
        move_mobs(
            e, state.terrain, bodies, state.mobs, state.arrows, state.drops, log, state.clock, tables
        )  # fmt: skip
        move_arrows(
            e, state.terrain, bodies, state.mobs, state.arrows, state.drops, log, state.clock, tables
        )  # fmt: skip
        move_drops(e, state.terrain, bodies, state.hands, state.drops, log, state.clock, tables)
        if fall_damage > 0.0:
            hurt_agent(e, bodies, log, fall_damage, DAMAGE_FALL, 0.0, 0.0)
        half_hearts, cause = block_damage(
            e, state.terrain, bodies, tables.blocks, max(abs(moved_x), abs(moved_z))
        )  # fmt: skip
        if half_hearts > 0.0:
            hurt_agent(e, bodies, log, half_hearts, cause, 0.0, 0.0)
        state.clock.tick_E[e] += 1


SOURCES: tuple[Kernel, ...] = (tick_env,)
