"""Which worlds an engine plays in."""

from worlds.adapters.catalogue import ENGINES
from worlds.spec import WorldSpec

_OURS = "voxel"  # module of engines that play our worlds, in whatever process


def check_world(backend: str, world: WorldSpec, *, where: str) -> None:
    """Raise ValueError, naming `where`, for a task's world that is none of those an engine of the catalogue has.

    Of an engine that a user brings the user knows; one that plays in our worlds takes them all.
    """
    entry = ENGINES.get(backend)
    if entry is None or not entry.source or entry.module == _OURS:
        return
    engine = entry.source.partition(":")[0]
    if world.source.partition(":")[0] != engine:
        raise ValueError(
            f"{where}: is in a world of {world.source!r}, and {backend} plays in worlds of its own; make tasks there "
            f"with `mcrl synth --backend {backend} -n 8 --out DIR`"
        )
