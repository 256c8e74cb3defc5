"""`mcrl worlds`: what is in a real save, and what its blocks become."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcrl.commands.options import read_options, split_positional

_HOW = {
    "same": "same block",
    "table": "named in the table",
    "family": "nearest material or colour",
    "pattern": "by the sound of its name",
    "unknown": "unknown, taken for stone",
}


@dataclass(frozen=True, kw_only=True)
class WorldsOptions:
    """Which part of the save is looked at."""

    origin: tuple[int, int, int] | None = None
    """Block of the save that becomes (0, 0, 0); None chooses a place near the middle, around the surface."""
    size: int = 128
    """Side of the cut-out along x and z, in blocks: 32, 64, 128 or 256; its height is 64."""
    rows: int = 40
    """Kinds of block listed, the most frequent first."""

    def __post_init__(self) -> None:
        if self.size not in (32, 64, 128, 256):
            raise ValueError(f"--size must be 32, 64, 128 or 256, got {self.size}")
        if self.rows < 1:
            raise ValueError(f"--rows must be at least 1, got {self.rows}")


def worlds_command(args: Sequence[str]) -> int:
    """Print bounds, versions and the mapping of blocks."""
    prog = "mcrl worlds"
    given, rest = split_positional(args)
    description = "SAVE is the folder of a Minecraft world, 1.13 to 1.21."
    options = read_options(WorldsOptions, rest, prog=prog, usage=f"{prog} SAVE", description=description)
    if given is None:
        raise ValueError(f"{prog}: name the folder of a Minecraft world first, for instance ~/.minecraft/saves/home")

    from mcrl.commands.table import print_table
    from worlds.anvil import cut_out, open_save, release_name, suggest_origin
    from worlds.spec import WorldSpec

    # Not Path.expanduser, which raises RuntimeError for a user that there is not: so it stays a folder that is none.
    save = open_save(Path(os.path.expanduser(given)))
    size_blocks = (options.size, 64, options.size)
    origin = options.origin or suggest_origin(save, size_blocks)
    spec = WorldSpec(seed=0, source=save.source, origin_blocks=origin, size_blocks=size_blocks)
    report = cut_out(save, spec).report
    min_x, min_z, max_x, max_z = save.bounds_blocks
    releases = dict.fromkeys(map(release_name, (report.min_data_version, report.max_data_version)))
    print(f"{given}: {save.num_chunks} chunks, x {min_x} .. {max_x - 1}, z {min_z} .. {max_z - 1}")
    if save.num_cut_off:
        print(f"{save.num_cut_off} more chunks lie behind the ends of their files, which are truncated: left out")
    print(f"source {save.source}")
    print(f"cut-out of {options.size} x 64 x {options.size} blocks at {origin}, saved by {' and '.join(releases)}")
    total = sum(row.num_cells for row in report.rows)
    kinds = report.by_kind()
    rows = [
        [row.saved.removeprefix("minecraft:"), row.state, _HOW[row.how], f"{row.num_cells:,}"]
        for row in kinds[: options.rows]
    ]
    print_table(f"blocks, {len(kinds)} kinds", ["in the save", "here", "how", "cells"], rows)
    for how, words in _HOW.items():
        num_cells = report.num_cells(how)  # type: ignore[arg-type]  # the keys of _HOW are all of How
        print(f"{words}: {_share(num_cells, total)}")
    return 0


def _share(num_cells: int, total: int) -> str:
    """Return a share in percent; 0 and 100 stand for none and all alone."""
    if 0 < num_cells / total < 0.00005:
        return "< 0.01%"
    return "> 99.99%" if 0.99995 <= num_cells / total < 1 else f"{num_cells / total:.2%}"
