"""Claims about what sessions share of a world's mesh."""

import numpy as np

from eval.viewer.mesh import MeshStyle, WorldMesh
from eval.viewer.mesh_store import MeshStore
from worlds.blocks.states import state_of
from worlds.spec import Look

STONE = state_of("stone")


def world(height: int = 4) -> tuple[np.ndarray, np.ndarray]:
    block_XZY = np.zeros((32, 32, 64), np.uint16)
    block_XZY[:, :, :height] = STONE
    return block_XZY, np.full((32, 32, 64), 0xF0, np.uint8)


def test_the_second_session_of_a_world_gets_the_first_ones_chunks():
    store, style = MeshStore(), MeshStyle.of_look(Look())
    first, second = (WorldMesh(*world(), style, store=store) for _ in range(2))
    for chunk in first.chunk_indices:
        assert first.glb(chunk) is second.glb(chunk)
    assert store.num_bytes == sum(len(first.glb(chunk)) for chunk in first.chunk_indices)


def test_a_chunk_in_which_something_changed_is_its_sessions_own():
    store, style = MeshStore(), MeshStyle.of_look(Look())
    first, second = (WorldMesh(*world(), style, store=store) for _ in range(2))
    before = first.glb((0, 0))
    block_XZY, field_XZY = world()
    block_XZY[5, 5, 4] = STONE
    assert (0, 0) in first.update(block_XZY, field_XZY)
    assert first.glb((0, 0)) != before
    assert second.glb((0, 0)) is before


def test_other_worlds_and_other_light_are_not_mixed_up():
    store = MeshStore()
    plain = WorldMesh(*world(), MeshStyle.of_look(Look()), store=store)
    higher = WorldMesh(*world(5), MeshStyle.of_look(Look()), store=store)
    night = WorldMesh(*world(), MeshStyle.of_look(Look(time_ticks=18000)), store=store)
    assert len({mesh.glb((0, 0)) for mesh in (plain, higher, night)}) == 3


def test_what_was_asked_for_longest_ago_goes_first():
    store = MeshStore(max_bytes=10)
    made: list[str] = []

    def make(name: str) -> bytes:
        made.append(name)
        return name.encode() * 4

    for name in ("a", "b", "a", "c", "a", "b"):
        store.get(name, lambda name=name: make(name))
    assert made == ["a", "b", "c", "b"]
    assert store.num_bytes <= 10
