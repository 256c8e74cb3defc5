"""`mcrl doctor ENGINE --install`: build the environment that an engine's package runs in."""

from pathlib import Path

REQUIREMENTS_DIR = Path(__file__).resolve().parents[3] / "worlds" / "adapters" / "requirements"


def installable_engines() -> list[str]:
    """Return the engines whose packages cannot live beside ours, and so have an environment of their own."""
    return sorted(path.stem for path in REQUIREMENTS_DIR.glob("*.txt"))


def install_command(engine: str) -> int:
    """Build the engine's environment, and say which interpreter it is; return 1 when it cannot be built here.

    Raises:
        ValueError: no such engine has an environment.
    """
    from mcrl.doctor.side_env import SideEnvError, side_env
    from worlds.adapters.catalogue import side_root

    if engine not in installable_engines():
        raise ValueError(
            f"mcrl doctor {engine} --install: there is nothing to build for it; engines with an environment of their "
            f"own are {', '.join(installable_engines())}"
        )
    try:
        python = side_env(engine, requirements=REQUIREMENTS_DIR / f"{engine}.txt", root=side_root(), on_build=print)
    except SideEnvError as error:
        print(error)
        return 1
    print(f"{engine}: ready, {python}; `--backend {engine}` finds it there")
    return 0
