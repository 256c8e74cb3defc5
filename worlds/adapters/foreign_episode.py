"""An episode as another engine gets it: its fields for JSON, and places in the engine's own coordinates."""

import dataclasses
from typing import Any

from worlds.spec import Episode, WorldSpec
from worlds.types import Pose


def episode_fields(episode: Episode) -> dict[str, Any]:
    """Return the fields of an episode; start and placements are shifted by the world's origin."""
    fields = dataclasses.asdict(episode)
    origin_x, origin_y, origin_z = episode.world.origin_blocks
    x, y, z, yaw_deg, pitch_deg = episode.start
    fields["start"] = [x + origin_x, y + origin_y, z + origin_z, yaw_deg, pitch_deg]
    for placement in fields["placements"]:
        x, y, z = placement["position"]
        placement["position"] = [x + origin_x, y + origin_y, z + origin_z]
    return fields


def scout_episode(spec: WorldSpec) -> Episode:
    """Return an episode in which nothing is placed, with the agent over the middle of the world: for a look round."""
    size_x, size_y, size_z = spec.size_blocks
    return Episode(world=spec, start=Pose(size_x / 2 + 0.5, float(size_y - 3), size_z / 2 + 0.5, 0.0, 0.0))
