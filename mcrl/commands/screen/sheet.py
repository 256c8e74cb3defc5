"""`mcrl sheet`: one picture of everything that the engine shows."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcrl.commands.options import read_options
from mcrl.commands.screen.pack_words import read_pack
from mcrl.commands.writable import check_can_write


@dataclass(frozen=True, kw_only=True)
class SheetOptions:
    """What is shown, and where it is written."""

    out: Path
    """The .png or .jpg file."""
    resource_pack: Path | None = None
    """Folder or .zip of a resource pack to show; None shows a small one made for the occasion."""

    def __post_init__(self) -> None:
        if self.out.suffix not in (".png", ".jpg"):
            raise ValueError(f"--out {self.out}: the file must end in .png or .jpg")


def sheet_command(args: Sequence[str]) -> int:
    """Write the sheet and say where it is."""
    options = read_options(SheetOptions, args, prog="mcrl sheet", description="Picture everything the engine shows.")
    check_can_write(options.out, is_folder=False)
    from eval.showcase.contact_sheet import SheetMaker, write_sheet
    from eval.showcase.sample_pack import write_sample_pack
    from mcrl.commands.progress import counted_progress
    from worlds.textures.resource_pack import load_resource_pack

    if options.resource_pack is not None:
        pack = read_pack(options.resource_pack)
    else:
        with tempfile.TemporaryDirectory() as folder:
            pack = load_resource_pack(write_sample_pack(Path(folder)))
    maker = SheetMaker([pack])
    sections = []
    with counted_progress("sections of the sheet", maker.NUM_SECTIONS) as on_progress:
        for section in maker.sections():
            sections.append(section)
            on_progress(len(sections))
    write_sheet(options.out, sections)
    print(f"{options.out}: {sum(len(section.panels) for section in sections)} pictures")
    return 0
