"""`mcrl view`: show a goal in a browser, point at things, and watch an agent do it."""

import logging
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from mcrl.commands.compile_ahead import compile_tick_ahead
from mcrl.commands.engine_options import EngineOptions
from mcrl.commands.options import read_options
from worlds.adapters.catalogue import ENGINES

if TYPE_CHECKING:
    from eval.viewer.session import ViewerSession

_FIRST_TASK = "unseen_seeds:1"  # what a checkpoint is shown to begin with
_FIRST_SEED = 1  # of another engine's worlds
_DEFAULT_POLICY = "small"
_MISSING = (
    "mcrl view needs the package viser, which is not here; install it with "
    f"`{sys.executable} -m pip install 'viser>=1.1,<1.2'`"
)


@dataclass(frozen=True, kw_only=True)
class ViewOptions(EngineOptions):
    """Where the page is served, and who plays."""

    port: int = 8080
    """Port of the page; 0 takes a free one."""
    host: str = "127.0.0.1"
    """Address to serve. Any but this machine's own (127.0.0.1) can be reached by others and needs --token."""
    token: str | None = None
    """What a browser must know, at least 8 characters; it is part of the address that is printed."""
    any_file: bool = False
    """With --token: let pages open and save any file that you could, not only those below the folder that this is
    started in, and below the folders where what TASKS and --policy name lies."""
    policy: str | None = None
    """Who plays: the folder of a checkpoint or run, the name of a shipped policy, expert, random, noop or human.
    None: the checkpoint that is opened, else the shipped policy small."""


def view_command(args: Sequence[str]) -> int:
    """Serve the page until Ctrl-C."""
    place = args[0] if args and not args[0].startswith("-") else None
    engines = ", ".join(name for name, entry in ENGINES.items() if entry.has_blocks)
    options = read_options(
        ViewOptions,
        args[1:] if place is not None else args,
        prog="mcrl view",
        usage="mcrl view [TASKS|CHECKPOINT]",
        description="Point at a thing in a world, and watch an agent "
        "go and do it, in a browser. TASKS is a suite, a file or folder of `mcrl synth` or a folder of `mcrl eval`, "
        f"in generated worlds or those of an engine that tells its blocks ({engines}); one task of them is "
        "TASKS:NUMBER; CHECKPOINT is a folder of a checkpoint or run, or the name of a shipped policy.",
    )
    if place is not None:
        _check_place(place)
    try:
        from eval.viewer.app import ViewerApp
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("viser", "websockets", "PIL"):
            raise
        raise ValueError(_MISSING) from None
    from eval.viewer.engine_menu import EngineMenu
    from eval.viewer.reach import Reach
    from eval.viewer.rehearsal import rehearse
    from eval.viewer.server import check_port
    from eval.viewer.server_gate import check_host
    from eval.viewer.shared import Shared

    # Before the engine is compiled.
    check_host(options.host, options.token)
    check_port(options.host, options.port)
    if options.any_file and options.token is None:
        raise ValueError("view: --any-file is for --token, without which only you open and save files; leave it out")

    logging.getLogger("websockets").setLevel(logging.WARNING)
    named = [name for name in (place, options.policy) if name is not None]
    shared = Shared(
        engines=EngineMenu({options.backend: options.choice()} if options.is_foreign else None),
        reach=Reach(None if options.token is None or options.any_file else named),
    )
    opening = _opening(place, options.policy, options.backend)
    if shared.engines.has_own_worlds(options.backend):
        print(f"mcrl view: {options.backend} is asked for the blocks of its world", file=sys.stderr)
    if not options.is_foreign:
        compile_tick_ahead()
    rehearse(shared, opening)
    app = ViewerApp(host=options.host, port=options.port, token=options.token, shared=shared, opening=opening)
    try:
        print(f"mcrl view: open {app.address} in a browser; Ctrl-C ends", flush=True)
        threading.Event().wait()
    except KeyboardInterrupt:
        print("\nmcrl view: ended")
    finally:
        app.close()
    return 0


def _check_place(place: str) -> None:
    """Refuse what is nowhere, before the engine is loaded: that takes seconds."""
    from eval.suites.suites import SUITES
    from policies.shipped import shipped_names

    name = place.rpartition(":")[0] if _is_numbered(place) else place
    for meant in (place, name):
        if meant in (*SUITES, *shipped_names()) or Path(meant).exists():
            return
    if "/" in place:  # a path, however close it is to the name of a suite
        raise ValueError(f"{place}: no such file or folder; `mcrl train laptop` makes runs/laptop, `mcrl synth` tasks")
    close = get_close_matches(name, (*SUITES, *shipped_names()), n=1, cutoff=0.6)
    hint = f"did you mean {close[0]}?" if close else "`mcrl suites` and `mcrl policies` list those"
    raise ValueError(f"{place}: no file or folder, nor a suite or shipped policy; {hint}")


def _opening(place: str | None, policy: str | None, backend: str) -> "Callable[[ViewerSession], None]":
    """Return what every new session begins with; it raises ValueError where there is nothing at `place`."""
    from policies.shipped import shipped_names

    is_policy = place is not None and (place in shipped_names() or _is_checkpoint(Path(place)))
    player = policy or (place if is_policy and place is not None else _DEFAULT_POLICY)
    tasks = _FIRST_TASK if is_policy else place

    def open_it(session: "ViewerSession") -> None:
        session.run.choose_player(player)
        session.run.choose_engine(backend)
        engines = session.shared.engines
        if (is_policy or tasks is None) and engines.has_own_worlds(backend):
            session.open_seed(_FIRST_SEED, biome="")
            return
        if tasks is None:
            return
        if _is_numbered(tasks):
            session.open_place(tasks)
        else:
            session.browse.open(tasks)
            session.open_entry(1)
        engines.check_world(backend, session.shown.world)

    return open_it


def _is_numbered(place: str) -> bool:
    """Tell whether a place is one task, PLACE:NUMBER."""
    return ":" in place and place.rpartition(":")[2].isdecimal()


def _is_checkpoint(path: Path) -> bool:
    """Tell whether a folder holds weights, or is of a run that does."""
    return path.is_dir() and any((path / name).exists() for name in ("state.json", "model.safetensors", "checkpoints"))
