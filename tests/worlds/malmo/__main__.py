"""Run the server as a process of its own: prints its port, serves until its standard input closes.

python -m tests.worlds.malmo --seed 3 --biome plains --version 1.11.2
"""

import argparse
import sys

from tests.worlds.malmo.dialect import NewNames, OldNames
from tests.worlds.malmo.faults import Fault, FaultKind
from tests.worlds.malmo.server import MalmoServer
from worlds.spec import WorldSpec


def main() -> int:
    """Serve one Minecraft."""
    parser = argparse.ArgumentParser(prog="python -m tests.worlds.malmo", description="a Minecraft that is our engine")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--biome", default="plains")
    parser.add_argument("--size", type=int, default=128, help="side of the world in blocks")
    parser.add_argument("--origin", type=int, nargs=3, default=(0, 0, 0), help="place of the world's cell (0, 0, 0)")
    parser.add_argument("--version", choices=("1.11.2", "1.16.5"), default="1.11.2")
    parser.add_argument("--mobs", type=int, default=0, help="animals around the spawn")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--fault", choices=[kind.value for kind in FaultKind])
    parser.add_argument("--fault-at", default="<StepClient", help="beginning of the message that is failed")
    parser.add_argument("--fault-after", type=int, default=0, help="such messages that are answered well before")
    chosen = parser.parse_args()
    fault = Fault(FaultKind(chosen.fault), chosen.fault_at, chosen.fault_after) if chosen.fault else None
    world = WorldSpec(seed=chosen.seed, biome=chosen.biome, size_blocks=(chosen.size, 64, chosen.size))
    with MalmoServer(
        world,
        dialect=OldNames() if chosen.version == "1.11.2" else NewNames(),
        origin_blocks=tuple(chosen.origin),
        num_ambient_mobs=chosen.mobs,
        port=chosen.port,
        fault=fault,
    ) as server:
        print(server.port, flush=True)
        sys.stdin.read()
    return 0


if __name__ == "__main__":
    sys.exit(main())
