"""Other engines that a session may play on: those of the catalogue, and the one that the command line names."""

from collections.abc import Callable, Mapping

from mcrl.tasks.engine_tasks import engine_entry, free_world
from mcrl.tasks.engine_worlds import has_own_worlds
from worlds.adapters.backend import ProcessBackend
from worlds.adapters.catalogue import BUILT_IN, ENGINES, choice_of
from worlds.adapters.engine import Scan
from worlds.adapters.engine_choice import EngineChoice
from worlds.adapters.process import EngineProcess
from worlds.adapters.scanned_worlds import ScannedWorlds, scan_folder, scan_world
from worlds.backend import EnvBackend
from worlds.spec import WorldSpec
from worlds.voxel.world_cache import PreparedWorld

EngineMaker = Callable[[tuple[int, int, int], int], EnvBackend]
"""Makes another engine with one env, of a world's size and a picture's side in pixels. OSError: it does not start."""

_SCAN_PX = (64, 64)  # of pictures that nobody looks at


class EngineMenu:
    """Engines by name. A page chooses among these and can start no other program."""

    def __init__(self, given: Mapping[str, EngineChoice] | None = None) -> None:
        """Offer the catalogue; `given` engines, ready to start, take the place of its own or come beside them."""
        self._given = dict(given or {})

    @property
    def names(self) -> tuple[str, ...]:
        """Return every engine that a goal made here can be played on, the built-in one first."""
        offered = {name for name, entry in ENGINES.items() if entry.has_blocks}
        return (BUILT_IN, *sorted(offered | self._given.keys()))

    def maker(self, name: str) -> EngineMaker | None:
        """Return what starts an engine, None for the built-in one. ValueError: it is not offered, or not installed."""
        if name not in self.names:
            raise ValueError(f"engine: {name!r} is none of {', '.join(self.names)}")
        if name == BUILT_IN:
            return None
        if name in ENGINES and ENGINES[name].task_maker:
            raise ValueError(
                f"engine: the page cannot draw the rooms of {name}; `mcrl play --backend {name} --task DIR:1 --policy "
                f"small --out seen.mp4` shows an agent there, in a task of `mcrl synth --backend {name}`"
            )
        choice = self._choice(name)

        def make(size_blocks: tuple[int, int, int], side_px: int) -> ProcessBackend:
            return ProcessBackend(1, choice, size_blocks=size_blocks, image_px=(side_px, side_px))

        return make

    def has_own_worlds(self, name: str) -> bool:
        """Tell whether an engine has other worlds of blocks than ours."""
        return has_own_worlds(name) and not ENGINES[name].task_maker

    def world(self, name: str, *, seed: int, biome: str) -> WorldSpec:
        """Return a world to look round in: the engine's own where it has such, else one of our generator."""
        if self.has_own_worlds(name):
            return free_world(name, seed)
        return WorldSpec(seed=seed, biome=biome)

    def check_world(self, name: str, spec: WorldSpec) -> None:
        """Raise ValueError where an engine has worlds of its own, and this is none of them."""
        if self.has_own_worlds(name) and spec.source != ENGINES[name].source:
            raise ValueError(
                f"run: {name} plays in worlds of its own, and this is none of them; open one by its seed in the Task "
                f"tab, or a task that `mcrl synth --backend {name}` made"
            )

    def scanned(self, spec: WorldSpec) -> PreparedWorld | None:
        """Return a world of another engine, which is started where the world was not scanned before.

        None: none of these engines has such worlds. ValueError: the engine fails.
        """
        name = next((name for name in self.names[1:] if engine_entry(name).source == spec.source), None)
        if name is None:
            return None
        choice = self._choice(name)

        def scan(spec: WorldSpec) -> Scan:
            process = EngineProcess(choice, _SCAN_PX)
            try:
                process.hello()
                return scan_world(process, spec)
            finally:
                process.close()

        try:
            return ScannedWorlds(scan, folder=scan_folder(choice)).get([spec])[0]
        except OSError as error:
            raise ValueError(f"view: {error}") from None

    def _choice(self, name: str) -> EngineChoice:
        return self._given.get(name) or choice_of(name)
