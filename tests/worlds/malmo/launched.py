"""The server in the place of the game that a package launches: `java -Xmx2G -jar ANY.jar --envPort=PORT`.

`install` makes the programs that MineStudio's unmodified launcher calls, so that a whole start, from the missing-game
check to the killed process group, runs as with Mojang's game. The launcher reads what is printed here.
"""

import argparse
import os
import shlex
import signal
import sys
import threading
from pathlib import Path

from tests.worlds.malmo.dialect import NewNames
from tests.worlds.malmo.server import MalmoServer
from worlds.spec import WorldSpec

_ROOT = Path(__file__).resolve().parents[3]


def install(folder: Path, *, size_blocks: int = 32, biome: str = "plains", origin_blocks: tuple[int, int, int]) -> Path:
    """Put `bin/java`, `bin/xvfb-run` and a jar that is none into `folder`; return what PATH must begin with."""
    jar = folder / "engine" / "build" / "libs" / "mcprec-6.13.jar"
    jar.parent.mkdir(parents=True)
    jar.write_bytes(b"")
    origin = ",".join(str(part) for part in origin_blocks)
    serve = [sys.executable, "-m", "tests.worlds.malmo.launched", f"--size={size_blocks}", f"--biome={biome}"]
    programs = {
        "java": f'export PYTHONPATH={shlex.quote(str(_ROOT))}\nexec {shlex.join(serve)} --origin={origin} "$@"',
        "xvfb-run": 'shift\nexec "$@"',
    }
    for name, body in programs.items():
        path = folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)
    return folder / "bin"


def main() -> int:
    """Serve one Minecraft until it is killed."""
    parser = argparse.ArgumentParser(description="a Minecraft that is our engine, launched as the game")
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--biome", required=True)
    parser.add_argument("--origin", required=True)
    parser.add_argument("--envPort", type=int, required=True, dest="port")
    chosen, _ = parser.parse_known_args()
    size, origin = (chosen.size, 64, chosen.size), tuple(int(part) for part in chosen.origin.split(","))
    signal.signal(signal.SIGTERM, lambda number, frame: os._exit(0))
    world = WorldSpec(seed=0, biome=chosen.biome, size_blocks=size)
    with MalmoServer(world, dialect=NewNames(), origin_blocks=origin, port=chosen.port) as server:
        print(f"***** Start MalmoEnvServer on port {server.port}", flush=True)
        print("CLIENT enter state: DORMANT", flush=True)
        threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
