"""Real Minecraft saves, 1.13 to 1.21, as worlds of the engine.

`save = open_save(folder)`, then `read_world(save, WorldSpec(source=save.source, origin_blocks=suggest_origin(save),
seed=0))`. Saves are untrusted input: whatever is in the files, reading ends in a World or in one ValueError, in bounded
memory and time.
"""

from worlds.anvil.chunk import release_name
from worlds.anvil.cut_out import CutOut, cut_out, read_world
from worlds.anvil.mapping import MappedRow, MappingReport
from worlds.anvil.save import Save, open_save
from worlds.anvil.surface import suggest_origin, suggest_origins

__all__ = [
    "CutOut",
    "MappedRow",
    "MappingReport",
    "Save",
    "cut_out",
    "open_save",
    "read_world",
    "release_name",
    "suggest_origin",
    "suggest_origins",
]
