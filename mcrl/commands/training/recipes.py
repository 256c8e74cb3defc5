"""`mcrl recipes`: what there is to train, on which machine, and how long it takes."""

from collections.abc import Sequence
from dataclasses import dataclass

from mcrl.commands.options import read_options
from mcrl.recipe_notes import note_of
from mcrl.recipes import RECIPES


@dataclass(frozen=True, kw_only=True)
class RecipesOptions:
    """No options: the recipes are listed."""


def recipes_command(args: Sequence[str]) -> int:
    """Print one line a recipe."""
    read_options(RecipesOptions, args, prog="mcrl recipes", description="List the recipes of `mcrl train`.")
    from mcrl.commands.table import print_table

    notes = {name: note_of(name) for name in RECIPES}
    rows = [[name, note.machine, note.duration] for name, note in notes.items()]
    print_table(f"{len(rows)} recipes", ["recipe", "machine", "duration"], rows)
    for name, note in notes.items():
        print(f"{name}: {note.summary}")
    print("settings: `mcrl train RECIPE --print-config`; options: `mcrl train RECIPE --help`")
    return 0
