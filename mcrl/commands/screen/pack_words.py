"""Reading a resource pack that a person named, and telling them what of it is used."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worlds.textures.resource_pack import ResourcePack

_MAX_SENTENCES = 8


def read_pack(path: Path) -> "ResourcePack":
    """Return the pack and print what was taken of it and what was not. ValueError: it is none."""
    from worlds.textures.resource_pack import load_resource_pack

    pack = load_resource_pack(path)
    for sentence in pack.notes[:_MAX_SENTENCES]:
        print(f"{path}: {sentence}")
    if len(pack.notes) > _MAX_SENTENCES:
        print(f"{path}: {len(pack.notes) - _MAX_SENTENCES} more pictures left out")
    return pack
