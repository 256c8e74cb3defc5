"""The expert: sees blocks, animals and paths, plays every task. Data source of imitation, ceiling of every report.

In teaching mode it is honest about the camera: it turns until the target has been in view (or once around) before it
walks, since a learner cannot know which way an unseen target lies. Where somebody else acts, as in DAgger, it labels
what it would do there; `note_actions` then tells it what was done, which its count of stuck steps and its use key need.
"""

import numpy as np

from policies.expert.decide import WAY_OF_SKILL, choose_actions
from policies.expert.ground import build_ground
from policies.expert.mind import (
    APPROACH,
    ARCHERY,
    BREAK,
    HUNT,
    NO_TOOL,
    PICK_UP,
    PLACE,
    empty_mind,
    forget,
)
from policies.expert.plain import choose_plain_actions
from task_synthesis.placement.reachability import UNREACHED, walk_costs_of_envs
from task_synthesis.playing.task_env import Observation, TaskEnv
from task_synthesis.skills import base_kind, type_of
from task_synthesis.task import TaskSpec
from worlds.adapters.shadow import ShadowedBackend
from worlds.blocks import fluid_table, solid_table, state_of
from worlds.spec import ITEM_PREFIX
from worlds.types import BUTTON_INDEX, FACE_UP, ActionBatch
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.engine_tables import engine_tables

MAX_WALK_COST = 1200
# Below this many pixels the target counts as unseen: a learner cannot recognise less.
_SEEN_PIXELS = 3
_NUM_HOTBAR = 9
_FORWARD, _USE = BUTTON_INDEX["forward"], BUTTON_INDEX["use"]


class ExpertAgent:
    """Plays the tasks of one TaskEnv on the built-in engine, from its state, or on one which that engine shadows."""

    def __init__(self, env: TaskEnv, *, is_teaching: bool = True) -> None:
        """Play on `env`; `is_teaching` makes it look for the target before it walks."""
        engine = env.backend.shadow if isinstance(env.backend, ShadowedBackend) else env.backend
        if not isinstance(engine, VoxelBackend):
            raise ValueError(
                "expert: plays on the built-in engine only, since it reads blocks and paths from its state; give it "
                "another one with a shadow (worlds.adapters.shadow)"
            )
        self._env = env
        self._state = engine.state
        self._is_teaching = is_teaching
        num_envs = env.num_envs
        cost_EXZY = np.full(self._state.terrain.block_EXZY.shape, UNREACHED, np.uint16)
        self._mind = empty_mind(num_envs, cost_EXZY)
        self._is_plain_E = np.zeros(num_envs, bool)
        self._has_seen_E = np.zeros(num_envs, bool)
        self._scanned_deg_E = np.zeros(num_envs)
        self._last_yaw_deg_E = np.zeros(num_envs)
        self._walked_E = np.zeros(num_envs, bool)
        self._is_solid_K, self._is_fluid_K = solid_table(), fluid_table()
        self._tables = engine_tables()
        self._ground = build_ground(self._tables.blocks)

    def act(self, observation: Observation) -> ActionBatch:
        """Choose the expert's action for every env; one action for `action_repeat` ticks."""
        begun = np.flatnonzero(observation.first_E)
        if len(begun):
            self._begin(begun, observation)
        state, mind = self._state, self._mind
        bodies = state.bodies
        turned_E = (bodies.yaw_deg_E - self._last_yaw_deg_E + 180.0) % 360.0 - 180.0
        self._scanned_deg_E += np.maximum(turned_E, 0.0)
        self._last_yaw_deg_E[:] = bodies.yaw_deg_E
        num_pixels = observation.image_EHWC.shape[1] * observation.image_EHWC.shape[2]
        self._has_seen_E |= observation.target_E7[:, 0] * num_pixels >= _SEEN_PIXELS
        may_walk_E = self._has_seen_E | (self._scanned_deg_E >= 350.0)
        actions = ActionBatch.noop(self._env.num_envs)
        num_ticks = float(self._env.action_repeat)
        plain_N, rich_N = np.flatnonzero(self._is_plain_E), np.flatnonzero(~self._is_plain_E)
        if len(plain_N):
            choose_plain_actions(
                plain_N, state.terrain.block_EXZY, self._tables.blocks.outline, self._is_solid_K, self._is_fluid_K,
                mind.cost_EXZY, bodies.position_E3, bodies.yaw_deg_E, bodies.pitch_deg_E, mind.cell_E3,
                mind.skill_E == BREAK, may_walk_E, mind.last_position_E3, mind.stuck_steps_E, num_ticks,
                actions.buttons_EB, actions.camera_deg_E2,
            )  # fmt: skip
        if len(rich_N):
            choose_actions(
                rich_N, state, self._tables, self._ground, may_walk_E, mind, num_ticks, actions
            )  # fmt: skip
        self._walked_E[:] = actions.buttons_EB[:, _FORWARD]
        return actions

    def note_actions(self, actions: ActionBatch) -> None:
        """Hear what was carried out instead of the last actions; hearing of its own changes nothing.

        Everything else that it remembers follows from the state of the world. An agent that did not walk where the
        expert would have is not stuck: without this the labels became hops and slides after three such decisions,
        and those for a key that has to be pressed anew, as in `use`, skipped every other one.
        """
        self._mind.stuck_steps_E[self._walked_E & ~actions.buttons_EB[:, _FORWARD]] = 0
        self._mind.has_used_E[:] = actions.buttons_EB[:, _USE]

    def _begin(self, envs: np.ndarray, observation: Observation) -> None:
        state, mind = self._state, self._mind
        for e in envs:
            task = observation.tasks[e]
            if task.skill not in WAY_OF_SKILL:
                raise ValueError(
                    f"task {task.task_id}: the expert cannot do {task.skill!r}; name the skill in WAY_OF_SKILL of "
                    "policies/expert/decide.py"
                )
            skill = WAY_OF_SKILL[task.skill]
            mind.skill_E[e], mind.slot_E[e] = skill, task.target_index + 1
            mind.cell_E3[e] = task.placements[task.target_index].position
            mind.tool_E[e] = self._tool(int(e), skill)
            kept_off = _keep_off(task, skill)
            mind.num_keep_off_E[e] = len(kept_off)
            mind.keep_off_EO2[e, : len(kept_off)] = np.reshape(kept_off, (-1, 2))
            self._is_plain_E[e] = skill in (APPROACH, BREAK) and task.world.detail == "plain" and self._is_cubic(task)
            forget(mind, int(e))
        plain_N = envs[self._is_plain_E[envs]]
        if len(plain_N):
            walk_costs_of_envs(
                state.terrain.block_EXZY,
                self._tables.blocks.outline,
                self._is_solid_K,
                self._is_fluid_K,
                plain_N,
                mind.cell_E3[plain_N],
                MAX_WALK_COST,
                mind.cost_EXZY,
            )
        self._has_seen_E[envs] = not self._is_teaching
        self._scanned_deg_E[envs] = 0.0
        self._last_yaw_deg_E[envs] = state.bodies.yaw_deg_E[envs]
        mind.last_position_E3[envs] = state.bodies.position_E3[envs]

    def _is_cubic(self, task: TaskSpec) -> bool:
        """Tell whether all that was placed is full cubes: hand-made tasks put fences and slabs into plain worlds."""
        is_cube_S = self._tables.blocks.collision.is_cube_S
        return all(
            type_of(placement.kind) == "block" and bool(is_cube_S[state_of(placement.kind)])
            for placement in task.placements
        )

    def _tool(self, e: int, skill: int) -> int:
        """Return the hotbar slot with what the skill needs: a weapon, a bow, something to place."""
        items, item_S = self._tables.items, self._state.hands.item_ES[e, :_NUM_HOTBAR]
        held = item_S >= 0
        if skill == HUNT:
            fitness_S = items.attack_damage_I[item_S]
        elif skill == ARCHERY:
            fitness_S = items.is_bow_I[item_S].astype(float)
        elif skill == PLACE:
            fitness_S = (items.place_I462[item_S, 0, FACE_UP, 0] >= 0).astype(float)
        else:
            return NO_TOOL
        fitness_S = np.where(held, fitness_S, 0.0)
        return int(fitness_S.argmax()) if fitness_S.max() > 0 else NO_TOOL


def _keep_off(task: TaskSpec, skill: int) -> list[tuple[float, float]]:
    """Return x, z of the objects that an agent must not come near: it would approach or pick up the wrong one."""
    kind = base_kind(task.placements[task.target_index].kind)
    return [
        (placement.position[0] + 0.5, placement.position[2] + 0.5)
        for index, placement in enumerate(task.placements)
        if index != task.target_index
        and (
            (skill == APPROACH and base_kind(placement.kind) == kind)
            or (skill == PICK_UP and placement.kind.startswith(ITEM_PREFIX))
        )
    ]
