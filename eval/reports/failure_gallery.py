"""Failures in pictures: the start, the goal, the last view, and a map of where the agent went."""

from collections.abc import Sequence

from eval.episodes.records import JudgedEpisode
from eval.episodes.replay import Replay
from eval.library.task_pictures import jpeg_uri, outlined, png_uri
from eval.library.top_down_map import task_map
from eval.reports.episode_sections import ShownFailure
from worlds.anvil import Save
from worlds.types import TICK_S
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.world_cache import WorldCache

_MAP_PX = 16  # of a backend that draws nothing


def shown_failures(
    failures: Sequence[tuple[JudgedEpisode, Replay]], *, saves: Sequence[Save] = ()
) -> list[ShownFailure]:
    """Return the failures as pictures, in the order given."""
    worlds = WorldCache(num_threads=1, saves=saves)
    backends: dict[tuple[int, int, int], VoxelBackend] = {}
    shown = []
    for episode, seen in failures:
        task = seen.task
        size_blocks = task.world.size_blocks
        if size_blocks not in backends:
            backends[size_blocks] = VoxelBackend(
                1, size_blocks=size_blocks, image_px=(_MAP_PX, _MAP_PX), world_cache=worlds
            )
        backend = backends[size_blocks]
        backend.reset([0], [task.episode()])
        overview = task_map(task, backend.state.terrain.block_EXZY[0], walked_T2=seen.place_T2)
        side = overview.side_blocks
        land = f'<image width="{side}" height="{side}" href="{png_uri(overview.land_HWC)}"/>'
        shown.append(
            ShownFailure(
                heading=f"{task.family.replace('_', ' ')}, {task.band}, {task.world.biome.replace('_', ' ')}",
                cause=episode.cause,
                story=story(episode),
                start_uri=jpeg_uri(seen.images[0]),
                goal_uri=jpeg_uri(outlined(seen.goal.image_HWC, seen.goal.mask_HW)),
                last_uri=jpeg_uri(seen.images[-1]),
                map_svg=land + overview.svg,
                side_blocks=side,
            )
        )
    for backend in backends.values():
        backend.close()
    return shown


def story(episode: JudgedEpisode) -> str:
    """Return how a failure went, in words and numbers."""
    parts = [
        f"Target {episode.distance_blocks:.0f} blocks away on the map, {episode.num_same_kind} more of its kind",
        f"walked {episode.walked_blocks:.0f} blocks in {episode.ticks * TICK_S:.1f} s",
        f"came as near as {episode.closest_blocks:.1f} blocks, heights included",
    ]
    if episode.first_seen_ticks is None or episode.last_seen_ticks is None:
        parts.append("never saw it")
    else:
        first_s, last_s = episode.first_seen_ticks * TICK_S, episode.last_seen_ticks * TICK_S
        parts.append(f"saw it from {first_s:.1f} s to {last_s:.1f} s")
    return "; ".join(parts) + f". Task {episode.task_id}."
