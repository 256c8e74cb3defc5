"""`mcrl doctor`: print what this machine has and lacks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcrl.commands.options import read_options, split_positional

if TYPE_CHECKING:
    from mcrl.doctor import Finding

_MARKS = {"ok": "[green]ok[/]", "note": "[yellow]note[/]", "bad": "[red]bad[/]"}


@dataclass(frozen=True, kw_only=True)
class DoctorOptions:
    """What the machine is examined for."""

    recipe: str = "laptop"
    """The recipe that is to run here."""


def doctor_command(args: Sequence[str]) -> int:
    """Print the table; return 1 when something must be mended."""
    engine, rest = split_positional(args)
    if engine is not None and rest == ["--install"]:
        from mcrl.commands.doctor_install import install_command

        return install_command(engine)
    if engine == "minestudio" and not rest:
        from mcrl.minestudio_doctor import examine_minestudio
        from worlds.adapters.catalogue import side_python

        return _show("mcrl doctor minestudio", examine_minestudio(side_python("minestudio")))
    options = read_options(DoctorOptions, args, prog="mcrl doctor", description="Examine this machine.")
    from mcrl.commands.recipe import recipe_config
    from mcrl.doctor import examine

    config = recipe_config(options.recipe)
    return _show(f"mcrl doctor, recipe {options.recipe}", examine(config, Path(config.run_dir)))


def _show(title: str, findings: "Sequence[Finding]") -> int:
    from rich.markup import escape

    from mcrl.commands.table import print_table

    rows = [[finding.what, _MARKS[finding.status], escape(finding.found)] for finding in findings]
    print_table(title, ["what", "", "found"], rows)
    # Below the table, unwrapped: a command must survive being copied.
    for finding in findings:
        if finding.remedy:
            print(f"{finding.what}: {finding.remedy}")
    return 1 if any(finding.status == "bad" for finding in findings) else 0
