"""What the structures of a biome are built of."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Style:
    """Blocks by their part in a building."""

    wall: str
    post: str
    floor: str
    stairs: str
    slab: str
    fence: str
    gate: str
    door: str
    has_flat_roof: bool = False


def _wooden(wood: str, trim: str) -> Style:
    """Return a style of one wood; `trim` is the wood of the parts that do not come in every wood."""
    fence = trim if trim in ("oak", "spruce", "birch") else "oak"
    gate = "spruce" if fence == "spruce" else "oak"
    return Style(
        wall=f"{wood}_planks", post=f"{wood}_log", floor=f"{wood}_planks", stairs=f"{trim}_stairs", slab=f"{trim}_slab",
        fence=f"{fence}_fence", gate=f"{gate}_fence_gate", door=f"{fence}_door",
    )  # fmt: skip


STYLES: dict[str, Style] = {
    "oak": _wooden("oak", "oak"),
    "birch": _wooden("birch", "birch"),
    "spruce": _wooden("spruce", "spruce"),
    "dark_oak": _wooden("dark_oak", "spruce"),
    "jungle": _wooden("jungle", "oak"),
    "acacia": _wooden("acacia", "brick"),
    "sandstone": Style(
        wall="sandstone", post="sandstone", floor="smooth_stone", stairs="sandstone_stairs", slab="sandstone_slab",
        fence="oak_fence", gate="oak_fence_gate", door="oak_door", has_flat_roof=True,
    ),
}  # fmt: skip
