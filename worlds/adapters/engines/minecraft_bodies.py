"""The bodies of Minecraft's mobs: upright boxes above their feet, and where a ray meets one."""

from __future__ import annotations

import math
from collections.abc import Sequence

# Width of the square base and height in blocks, of grown ones.
BODY_BLOCKS = {
    "cow": (0.9, 1.4), "mooshroom": (0.9, 1.4), "sheep": (0.9, 1.3), "pig": (0.9, 0.9), "chicken": (0.4, 0.7),
    "horse": (1.3964844, 1.6), "donkey": (1.3964844, 1.5), "llama": (0.9, 1.87), "wolf": (0.6, 0.85),
    "rabbit": (0.4, 0.5), "cat": (0.6, 0.7), "ocelot": (0.6, 0.7), "fox": (0.6, 0.7), "polar_bear": (1.4, 1.4),
    "villager": (0.6, 1.95), "iron_golem": (1.4, 2.7), "zombie": (0.6, 1.95), "husk": (0.6, 1.95),
    "skeleton": (0.6, 1.99), "stray": (0.6, 1.99), "spider": (1.4, 0.9), "cave_spider": (0.7, 0.5),
    "creeper": (0.6, 1.7),
}  # fmt: skip


def distance_to_body(kind: str, feet: Sequence[float], eye: Sequence[float], way: Sequence[float]) -> float:
    """Return how far along the ray from `eye`, unit vector `way`, a mob's body is met; inf where it is missed."""
    width, height = BODY_BLOCKS[kind]
    low = (feet[0] - width / 2.0, feet[1], feet[2] - width / 2.0)
    entry, leave = 0.0, math.inf
    for edge, side, start, part in zip(low, (width, height, width), eye, way):
        if part:
            first, last = sorted(((edge - start) / part, (edge + side - start) / part))
            entry, leave = max(entry, first), min(leave, last)
        elif not edge <= start <= edge + side:
            return math.inf
    return entry if entry <= leave else math.inf


def miss_of_body(kind: str, feet: Sequence[float], eye: Sequence[float], way: Sequence[float]) -> float:
    """Return by how much a ray misses the middle of a mob's body, in blocks; what is behind is as far as it is."""
    to = (feet[0] - eye[0], feet[1] + BODY_BLOCKS[kind][1] / 2.0 - eye[1], feet[2] - eye[2])
    far = math.sqrt(sum(part * part for part in to))
    along = sum(part * other for part, other in zip(to, way))
    return math.sqrt(max(0.0, far * far - along * along)) + (far if along <= 0 else 0.0)
