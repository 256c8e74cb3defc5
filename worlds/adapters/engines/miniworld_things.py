"""The things of MiniWorld that a task can mark: boxes and balls in its colours, and meshes with their heights."""

from __future__ import annotations

COLORS = ("red", "green", "blue", "purple", "yellow", "grey")
# In blocks. Those that look alike from all sides, or nearly.
MESH_HEIGHTS = {"barrel": 1.0, "cone": 1.0, "duckie": 0.9, "medkit": 0.7, "office_chair": 1.1, "potion": 0.9}
KINDS = tuple(f"box_{color}" for color in COLORS) + tuple(f"ball_{color}" for color in COLORS) + tuple(MESH_HEIGHTS)
