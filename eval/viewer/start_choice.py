"""Where the agent begins: where a person clicked, or drawn at a distance from which a walk leads to the target."""

import numpy as np

from eval.viewer.desk import Desk
from eval.viewer.pointer import Hit
from task_synthesis.placement.layout import Layout
from task_synthesis.placement.sites import Sites
from task_synthesis.placement.starts import draw_start
from task_synthesis.placement.targets import circle_of
from task_synthesis.placement.walk_search import WalkSearch
from task_synthesis.skills import base_kind
from task_synthesis.task import BANDS
from worlds.types import FACE_UP, Pose
from worlds.voxel.engine_tables import engine_tables

_DRAWS = 8  # calls of the synthesiser's own draw, each of a dozen places
_REASONS = {
    "start_no_ground": "nobody can stand so far from the target",
    "start_at_object": "something else lies in the way of every start",
    "start_hidden": "the target is hidden from every start",
    "unreachable": "no walk leads to where the target is in reach",
    "detour": "the way there is a maze",
}


def feet_on(hit: Hit, before: Pose) -> Pose:
    """Return feet on the middle of the block that was clicked on, looking as `before`. ValueError: it has no top."""
    if not hit.is_block or hit.face != FACE_UP:
        raise ValueError("start: click on the top of a block that the agent can stand on")
    x, _, z = hit.cell
    return Pose(x + 0.5, round(hit.point[1], 4), z + 0.5, before.yaw_deg, before.pitch_deg)


class StartChoice:
    """Draws starts as the synthesiser does, in the world of a desk."""

    def __init__(self) -> None:
        """Make nothing yet: the search takes 10 MB, and most sessions draw no start."""
        self._sites: Sites | None = None
        self._search: WalkSearch | None = None
        self._size: tuple[int, int, int] | None = None

    def draw(self, desk: Desk, band: str, *, seed: int, may_hide: bool) -> Pose:
        """Return a start in `band` with a walk to the target. ValueError: there is none, with the reason."""
        draft = desk.draft
        if band not in BANDS:
            raise ValueError(f"start: band {band!r} is unknown; choose one of {', '.join(BANDS)}")
        if draft.target is None or draft.target_index is None:
            raise ValueError("start: a start at a distance needs a target; click on one first")
        if seed < 0:
            raise ValueError(f"start: the seed must not be negative, got {seed}")
        block_XZY = desk.engine.state.terrain.block_EXZY[0]
        blocks = engine_tables().blocks
        if self._sites is None or self._search is None or self._size != draft.world.size_blocks:
            self._sites, self._size = Sites(), draft.world.size_blocks
            self._search = WalkSearch(
                block_XZY.shape,
                outline=blocks.outline,
                footing_S=self._sites.footing_S,
                is_fluid_S=self._sites.is_fluid_S,
            )
        rng = np.random.default_rng(seed)
        layout = Layout(base_kind(draft.target.kind), draft.placements, draft.target_index)
        reason = ""
        for _ in range(_DRAWS):
            start = draw_start(
                rng,
                layout,
                block_XZY,
                desk.engine.ground_EXZ[0],
                self._search,
                self._sites,
                circle_blocks=circle_of(draft.world),
                band_blocks=BANDS[band],
                hidden_share=float(may_hide),
                sight=blocks.collision,
            )
            if not isinstance(start, str):
                return start.pose
            reason = start
        low, high = BANDS[band]
        raise ValueError(
            f"start: none found {low:g} to {high:g} blocks away: {_REASONS.get(reason, reason)}; draw "
            "again, or choose another distance or target"
        )
