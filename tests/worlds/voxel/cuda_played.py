"""Play the same two little worlds on the CPU and on CUDA; print how they differ as one JSON object.

CUDA is a GPU, or numba's simulator where NUMBA_ENABLE_CUDASIM=1: it is chosen when numba is imported, so run this in a
process of its own.
"""

import json
import sys
from typing import Any

import numpy as np

from worlds.generate.terrain import generate
from worlds.spec import Episode, Look, Placement, WorldSpec
from worlds.types import BUTTON_INDEX, BUTTONS, EVENT_ARROW_SHOT, ActionBatch, Pose
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.cuda.hosted import HostedCudaBackend
from worlds.voxel.world_cache import WorldCache

SIZE, IMAGE_PX = (32, 64, 32), (16, 16)
# What stands before the agent, by the offset from its feet: to the east, up, to the south. The cow is the target.
OBJECTS = (
    ("cow", (1, 0, 4)), ("oak_stairs[facing=east]", (-1, 0, 3)), ("stone_slab", (0, 0, 5)), ("oak_fence", (2, 0, 4)),
    ("water", (-2, 0, 4)), ("glass", (2, 1, 6)), ("torch", (-1, 0, 5)), ("poppy", (0, 0, 2)), ("lava", (-3, 0, 6)),
)  # fmt: skip


def episode(seed: int, look: Look) -> Episode:
    """An episode on dry ground with the objects before the agent and three mobs about."""
    spec = WorldSpec(seed=seed, biome="plains", size_blocks=SIZE, detail="plain")
    ground_XZ = generate(spec).ground_XZ
    x, z = np.unravel_index(int(np.argmax(ground_XZ[4:28, 4:24])), (24, 20))
    x, y, z = int(x) + 4, int(ground_XZ.max()) + 1, int(z) + 4
    return Episode(
        world=spec,
        start=Pose(x + 0.5, y, z + 0.5, 5.0, 15.0),
        inventory=(("bow", 1), ("arrow", 8), ("dirt", 4)),
        seed=seed,
        num_ambient_mobs=3,
        look=look,
        placements=tuple(
            Placement(kind=kind, position=(x + east, y + up, (z + south) % 32)) for kind, (east, up, south) in OBJECTS
        ),
        target_index=0,
    )


def actions_of(step: int, rng: np.random.Generator) -> ActionBatch:
    """Draw the bow for three steps and let go, with random keys beside it."""
    buttons_EB = rng.random((2, len(BUTTONS))) < 0.15
    buttons_EB[:, BUTTON_INDEX["use"]] = step < 3
    kept = [name for name in BUTTONS if name.startswith("hotbar") or name == "drop"]
    buttons_EB[:, [BUTTON_INDEX[name] for name in kept]] = False
    camera_deg_E2 = rng.normal(0.0, 2.0, (2, 2)).astype(np.float32)
    return ActionBatch(buttons_EB=buttons_EB, camera_deg_E2=camera_deg_E2)


def on_host(array: Any) -> np.ndarray:
    """Return an array of the simulator, or of a GPU, as numpy's."""
    return array if isinstance(array, np.ndarray) else array.cpu().numpy()


def state_difference(cpu: VoxelBackend, cuda: HostedCudaBackend) -> dict[str, float]:
    """Return the widest gap in each of the state's arrays that are not the same bytes."""
    gaps = {}
    for name, one, other in zip(cpu.state._fields, cpu.state, cuda.state, strict=True):
        for field, array, other_array in zip(one._fields, one, other, strict=True):
            there = on_host(other_array).view(array.dtype)
            if array.tobytes() != there.tobytes():
                gaps[f"{name}.{field}"] = float(np.abs(array.astype(float) - there).max())
    return gaps


def main() -> None:
    worlds = WorldCache()
    cpu, cuda = (
        make(2, size_blocks=SIZE, image_px=IMAGE_PX, with_depth=True, world_cache=worlds, **options)
        for make, options in ((VoxelBackend, {"renderer": "scalar"}), (HostedCudaBackend, {"num_threads": 2}))
    )
    episodes = [
        episode(3, Look()),
        episode(4, Look(time_ticks=18000, weather="rain", textures="own:1", fov_deg=90.0)),
    ]
    rows, rng = [], np.random.default_rng(0)
    for backend in (cpu, cuda):
        backend.reset([0, 1], episodes)
    for step in range(5):
        actions = actions_of(step, rng)
        one, other = (backend.step(actions, num_ticks=2) for backend in (cpu, cuda))
        image_gap = np.abs(one.image_EHWC.astype(int) - on_host(other.image_EHWC))
        same_EHW = one.instance_EHW == on_host(other.instance_EHW)
        rows.append(
            {
                "state": state_difference(cpu, cuda),
                "tick": [
                    name
                    for name in ("pose_E5", "mob_EM6", "event_EN4", "item_ES", "health_E", "is_on_ground_E")
                    if not np.array_equal(getattr(one, name), getattr(other, name))
                ],
                "other_instances": int((~same_EHW).sum()),
                "widest_color_gap": int(image_gap[same_EHW].max()),
                "other_colors": int((image_gap.max(axis=-1)[same_EHW] > 1).sum()),
                "widest_depth_gap": float(np.abs(one.depth_EHW - on_host(other.depth_EHW))[same_EHW].max()),
                "target_gap": float(np.abs(one.target_E7 - other.target_E7).max()),
                "target_area": one.target_E7[:, 0].tolist(),
                "instances": np.unique(one.instance_EHW).tolist(),
                "num_arrows": int((one.event_EN4[..., 0] == EVENT_ARROW_SHOT).sum()),
            }
        )
    snapshot = cuda.snapshot([0])
    before_HWC = on_host(cuda.observe().image_EHWC)[0].copy()
    cuda.step(actions)
    cuda.restore([1], snapshot)
    restored = cuda.observe_only([1])
    restored_HWC, feet_E3 = on_host(restored.image_EHWC)[1], restored.pose_E5[:, :3]
    # From above the agents, and down from their eyes to the ground, and to a cell far under it.
    eye_V5 = np.column_stack([feet_E3 + np.array([0.0, 4.0, 0.0]), np.full(2, 30.0), np.full(2, 40.0)])
    views = cuda.render_views([1, 0], eye_V5)
    cell_V3 = np.floor(feet_E3).astype(np.int64)[[0, 1, 0]] + np.array([[0, -1, 0], [0, -1, 0], [0, -9, 0]])
    line = [0, 1, 0], feet_E3[[0, 1, 0]] + np.array([0.0, 1.6, 0.0]), cell_V3
    json.dump(
        {
            "steps": rows,
            "restored_picture_is_the_same": bool(np.array_equal(before_HWC, restored_HWC)),
            "num_view_instances": len(np.unique(views.instance_VHW)),
            "is_line_clear": cuda.is_line_clear(*line).tolist(),
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
