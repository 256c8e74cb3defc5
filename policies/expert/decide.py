"""One decision of the expert in the envs that play a skill on shapes, items or animals. E envs, N of them."""

import numpy as np

from policies.expert.archery import shoot_at_quarry
from policies.expert.blocks import act_on_block
from policies.expert.ground import Ground
from policies.expert.hunt import act_on_quarry
from policies.expert.items import act_on_item
from policies.expert.mind import APPROACH, ARCHERY, BREAK, HUNT, INTERACT, PICK_UP, PLACE, Mind
from policies.expert.view import MAX_TURN_DEG, turn
from policies.expert.walker import LEVEL_PITCH_DEG, PITCH_SLACK_DEG
from worlds.types import ActionBatch
from worlds.voxel.state import EnvState
from worlds.voxel.tables import Tables

# Which way of acting a skill has; several can share one. A way of its own is a number more and a branch below.
WAY_OF_SKILL: dict[str, int] = {
    "approach": APPROACH,
    "break": BREAK,
    "interact": INTERACT,
    "place": PLACE,
    "pick_up": PICK_UP,
    "hunt": HUNT,
    "archery": ARCHERY,
}


def choose_actions(
    env_N: np.ndarray, state: EnvState, tables: Tables, ground: Ground, may_walk_E: np.ndarray, mind: Mind,
    num_ticks: float, actions: ActionBatch,
) -> None:  # fmt: skip
    """Write the buttons and the turns of the envs in `env_N` (int64 [N]); who may not walk yet looks around."""
    bodies, hands, mobs, drops = state.bodies, state.hands, state.mobs, state.drops
    for e in env_N.tolist():
        block_XZY = state.terrain.block_EXZY[e]
        buttons_B, camera_2 = actions.buttons_EB[e], actions.camera_deg_E2[e]
        skill = mind.skill_E[e]
        if not may_walk_E[e]:
            camera_2[0] = turn(float(LEVEL_PITCH_DEG - bodies.pitch_deg_E[e]), PITCH_SLACK_DEG, num_ticks)
            camera_2[1] = MAX_TURN_DEG
        elif skill == HUNT:
            act_on_quarry(e, block_XZY, tables, ground, bodies, hands, mobs, mind, num_ticks, buttons_B, camera_2)
        elif skill == ARCHERY:
            shoot_at_quarry(e, block_XZY, tables, ground, bodies, hands, mobs, mind, num_ticks, buttons_B, camera_2)
        elif skill == PICK_UP:
            act_on_item(
                e, block_XZY, tables.blocks, ground, bodies, drops, mind, num_ticks, buttons_B, camera_2
            )  # fmt: skip
        else:
            act_on_block(
                e, block_XZY, tables.blocks, ground, bodies, hands, mind, num_ticks, buttons_B, camera_2
            )  # fmt: skip
        mind.last_position_E3[e] = bodies.position_E3[e]
