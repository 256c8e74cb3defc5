"""`mcrl doctor`: print what this machine has and lacks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mcrl.commands.options import read_options, split_positional

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
    options = read_options(DoctorOptions, args, prog="mcrl doctor", description="Examine this machine.")
    from rich.markup import escape

    from mcrl.commands.recipe import recipe_config
    from mcrl.commands.table import print_table
    from mcrl.doctor import examine

    config = recipe_config(options.recipe)
    findings = examine(config, Path(config.run_dir))
    rows = [[finding.what, _MARKS[finding.status], escape(finding.found)] for finding in findings]
    print_table(f"mcrl doctor, recipe {options.recipe}", ["what", "", "found"], rows)
    # Below the table, unwrapped: a command must survive being copied.
    for finding in findings:
        if finding.remedy:
            print(f"{finding.what}: {finding.remedy}")
    return 1 if any(finding.status == "bad" for finding in findings) else 0
