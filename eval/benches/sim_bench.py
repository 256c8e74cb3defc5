"""The speed of the built-in engine on the standard scene: frames, resets, memory."""

from eval.benches.standard_scene import (
    CONTENT_HASH,
    NAME,
    NUM_ENVS,
    SIDE_BLOCKS,
    content_hash,
    play,
    shaped_share,
    standard_actions,
    standard_episodes,
    standard_poses,
)
from eval.benches.throughput import Measurement, measured, seconds_of
from worlds.spec import Episode, WorldSpec
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.painter import Renderer
from worlds.voxel.world_cache import WorldCache

_IMAGE_PX = 128
_PEER_IMAGE_PX = (120, 160)  # ViZDoom's usual size, height first
_RENDERERS: tuple[Renderer, ...] = ("lanes", "scalar")
_SIZE_BLOCKS = (SIDE_BLOCKS, 64, SIDE_BLOCKS)


def bench_sim(*, num_frames: int, repeats: int, seed: int) -> list[Measurement]:
    """Measure frames per CPU-second on `standard_v1`, physics and mobs included, with the fast renderer and its twin.

    Every repeat starts from the same episodes with the same actions; the renderers take turns. One thread.
    """
    measurements = []
    share = _checked_share()
    for image_px in ((_IMAGE_PX, _IMAGE_PX), _PEER_IMAGE_PX):
        renderers = _RENDERERS if image_px == (_IMAGE_PX, _IMAGE_PX) else ("lanes",)
        backends = {
            renderer: VoxelBackend(NUM_ENVS, size_blocks=_SIZE_BLOCKS, image_px=image_px, renderer=renderer)
            for renderer in renderers
        }
        per_cpu_s: dict[str, list[float]] = {renderer: [] for renderer in renderers}
        num_steps = max(1, -(-num_frames // NUM_ENVS))
        actions = standard_actions(num_steps, seed=seed)
        for repeat in range(repeats + 1):
            for renderer, backend in backends.items():
                backend.reset(range(NUM_ENVS), standard_episodes())
                pose_EP5 = standard_poses(backend)
                if repeat == 0:
                    # Compiles, and brings worlds and textures into memory; not counted.
                    play(backend, pose_EP5, actions[:4])
                    continue
                cpu_s, _ = seconds_of(lambda b=backend, p=pose_EP5, a=actions: play(b, p, a))  # type: ignore[misc]
                per_cpu_s[renderer].append(num_steps * NUM_ENVS / cpu_s)
        for renderer in renderers:
            fields: dict[str, str | int | float] = {
                "scene": NAME,
                "renderer": renderer,
                "image": f"{image_px[1]} x {image_px[0]}",
                "worlds": "128 x 64 x 128",
                "mobs": 8,
                "shaped_pixels": round(share, 4),
                "frames_per_repeat": num_steps * NUM_ENVS,
            }
            measurements.append(measured("frames_per_cpu_s", "frames/CPU-s", per_cpu_s[renderer], fields))
    return [*measurements, *_bench_reset(repeats), _memory()]


def _checked_share() -> float:
    """Refuse to measure a scene that is not the frozen one; return the share of its pixels that are no full cubes."""
    backend = VoxelBackend(
        NUM_ENVS, size_blocks=_SIZE_BLOCKS, image_px=(_IMAGE_PX, _IMAGE_PX), with_depth=True
    )  # fmt: skip
    backend.reset(range(NUM_ENVS), standard_episodes())
    pose_EP5 = standard_poses(backend)
    found = content_hash(backend, pose_EP5)
    if found != CONTENT_HASH:
        raise ValueError(
            f"bench sim: scene {NAME} has hash {found}, {CONTENT_HASH} is frozen; the generator or the mobs changed, "
            "so name the new scene standard_v2 in eval/benches/standard_scene.py"
        )
    return shaped_share(backend, pose_EP5)


def _bench_reset(repeats: int) -> list[Measurement]:
    """Measure a reset into a world that was never seen before: generation, distance, light, objects, mobs."""
    cpu_ms, fields = [], {"scene": NAME, "worlds": "128 x 64 x 128"}
    episodes = standard_episodes()
    for repeat in range(repeats + 1):
        backend = VoxelBackend(
            NUM_ENVS, size_blocks=_SIZE_BLOCKS, image_px=(8, 8), world_cache=WorldCache(max_bytes=0)
        )  # fmt: skip
        fresh = [_in_world(episode, seed=10_000 + NUM_ENVS * repeat + e) for e, episode in enumerate(episodes)]
        cpu_s, _ = seconds_of(lambda b=backend, f=fresh: b.reset(range(NUM_ENVS), f))  # type: ignore[misc]
        if repeat:
            cpu_ms.append(1000.0 * cpu_s / NUM_ENVS)
        backend.close()
    return [measured("reset_ms", "CPU-ms a world", cpu_ms, dict(fields))]


def _in_world(episode: Episode, *, seed: int) -> Episode:
    world = WorldSpec(seed=seed, biome=episode.world.biome, size_blocks=episode.world.size_blocks)
    return Episode(
        world=world,
        start=episode.start,
        inventory=episode.inventory,
        seed=seed,
        num_ambient_mobs=episode.num_ambient_mobs,
    )


def _memory() -> Measurement:
    """Return what one env holds in memory, all arrays of its state together."""
    backend = VoxelBackend(1, size_blocks=_SIZE_BLOCKS, image_px=(8, 8))
    num_bytes = sum(array.nbytes for group in backend.state for array in group)
    return measured("memory_mb", "MB a world", [num_bytes / 1e6], {"scene": NAME, "worlds": "128 x 64 x 128"})
