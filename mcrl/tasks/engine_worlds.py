"""Which worlds an engine plays in."""

from worlds.adapters.catalogue import ENGINES
from worlds.spec import WorldSpec

_OURS = "voxel"  # module of engines that play our worlds, in whatever process


def has_own_worlds(backend: str) -> bool:
    """Tell whether an engine of the catalogue has other worlds than ours; of what a user brings the user knows."""
    entry = ENGINES.get(backend)
    return entry is not None and bool(entry.source) and entry.module != _OURS


def check_world(backend: str, world: WorldSpec, *, where: str) -> None:
    """Raise ValueError, naming `where`, for a task's world that is none of those that an engine has."""
    if has_own_worlds(backend) and world.source.partition(":")[0] != ENGINES[backend].source.partition(":")[0]:
        raise ValueError(
            f"{where}: is in a world of {world.source!r}, and {backend} plays in worlds of its own; make tasks there "
            f"with `mcrl synth --backend {backend} -n 8 --out DIR`"
        )
