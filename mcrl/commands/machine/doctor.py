"""`mcrl doctor`: print what this machine has and lacks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcrl.commands.options import read_options, split_positional
from worlds.adapters.catalogue import BUILT_IN

if TYPE_CHECKING:
    from mcrl.doctor.machine import Finding

_DESCRIPTION = (
    "Examine this machine. `mcrl doctor --engines` lists other engines than the built-in one, `mcrl doctor ENGINE` "
    "says what one needs (of your own, by its path: whether it starts), and `mcrl doctor ENGINE --install` builds a "
    "side environment for it."
)
_COLOURS = {"ok": "green", "note": "yellow", "bad": "red"}
_DEFAULT_RECIPE = "laptop"


@dataclass(frozen=True, kw_only=True)
class DoctorOptions:
    """What the machine is examined for."""

    recipe: str = _DEFAULT_RECIPE
    """The recipe that is to run here."""
    engines: bool = False
    """List other engines than the built-in one instead; nothing is examined."""

    def __post_init__(self) -> None:
        if self.engines and self.recipe != _DEFAULT_RECIPE:
            raise ValueError("--engines examines nothing, and --recipe is what is examined; leave one of them out")


@dataclass(frozen=True, kw_only=True)
class EngineDoctorOptions:
    """How an engine is examined. `--install` alone builds a side environment for it, where there is one."""

    engine_python: str | None = None
    """Interpreter that the engine runs in; None takes the one that --install has made, or else ours."""
    start: bool = False
    """Start the engine too, and end it."""


def doctor_command(args: Sequence[str]) -> int:
    """Print the table; return 1 when something must be mended."""
    engine, rest = split_positional(args)
    if engine == BUILT_IN:
        engine = None  # it runs wherever we do, so the machine is what there is to examine
    if engine is not None and rest == ["--install"]:
        from mcrl.commands.machine.doctor_install import install_command

        return install_command(engine)
    if engine is not None:
        _require_no_recipe(engine)
        return _engine(engine, rest)
    options = read_options(DoctorOptions, rest, prog="mcrl doctor", description=_DESCRIPTION)
    if options.engines:
        return _engines()
    from mcrl.commands.training.recipe_names import recipe_config
    from mcrl.doctor.machine import examine

    config = recipe_config(options.recipe)
    return _show(f"mcrl doctor, recipe {options.recipe}", examine(config, Path(config.run_dir)))


def _require_no_recipe(engine: str) -> None:
    """Raise ValueError for a recipe's name where an engine's is wanted."""
    from mcrl.recipes import RECIPES

    if engine in RECIPES:
        raise ValueError(
            f"{engine} is a recipe and no engine; look at this machine for it by mcrl doctor --recipe {engine}"
        )


def _engine(engine: str, args: Sequence[str]) -> int:
    options = read_options(
        EngineDoctorOptions, args, prog=f"mcrl doctor {engine}", description=str(EngineDoctorOptions.__doc__)
    )
    from mcrl.doctor.engine import examine_engine

    findings = examine_engine(engine, options.engine_python, with_start=options.start)
    return _show(f"mcrl doctor {engine}", findings)


def _engines() -> int:
    """List the engines that come along."""
    from mcrl.commands.table import print_table
    from worlds.adapters.catalogue import ENGINES

    rows = [[BUILT_IN, "the built-in engine", "all"]]
    rows += [[name, entry.about, ", ".join(entry.skills) if entry.source else ""] for name, entry in ENGINES.items()]
    print_table("engines for --backend; `mcrl doctor NAME` examines one", ["name", "what it is", "tasks"], rows)
    return 0


def _show(title: str, findings: "Sequence[Finding]") -> int:
    from rich.text import Text

    from mcrl.commands.table import print_table

    rows: list[list[str | Text]] = [
        [finding.what, Text(finding.status, _COLOURS[finding.status]), finding.found] for finding in findings
    ]
    print_table(title, ["what", "", "found"], rows)
    # Below the table, unwrapped: a command must survive being copied.
    for finding in findings:
        if finding.remedy:
            print(f"{finding.what}: {finding.remedy}")
    return 1 if any(finding.status == "bad" for finding in findings) else 0
