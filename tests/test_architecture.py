"""The shape of the project: who may import whom, and what the core needs."""

import ast
import functools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LAYERS = ["worlds", "task_synthesis", "policies", "mcrl", "eval"]  # left may not import right
COMPOSITION_ROOT = ("mcrl/cli.py", "mcrl/commands/")
RAY_PACKAGE = "mcrl/dataflow/ray/"

# Heavy or optional packages, and the only places that may name them.
ONLY_IN = {
    "ray": (RAY_PACKAGE, "eval/peers/drive_rllib.py"),
    "wandb": ("mcrl/telemetry/wandb_log.py",),
    "cv2": (
        "mcrl/demos/lerobot_writer.py",
        "mcrl/demos/lerobot_reader.py",
        "eval/episodes/picture_file.py",
        "eval/episodes/video.py",
        "eval/episodes/video_file.py",
        "eval/showcase/moving_picture.py",
        "eval/showcase/picture_strip.py",
        "eval/showcase/contact_sheet.py",
        "eval/showcase/sample_pack.py",
        "eval/library/task_pictures.py",
        "eval/play/play_picture.py",
        "eval/play/play_window.py",
        "eval/viewer/goal_mask.py",
        "eval/viewer/overlay.py",
        "eval/viewer/task_file.py",
        "eval/viewer/upload.py",
        "worlds/adapters/",
        "worlds/textures/resource_pack.py",
    ),
    "tyro": ("mcrl/commands/",),
    "pyarrow": ("mcrl/demos/pyarrow_import.py",),
    "scipy": (
        "eval/numbers/statistics.py",
        "eval/numbers/aggregate.py",
        "eval/numbers/score_interval.py",
        "eval/numbers/difficulty_curve.py",
        "eval/numbers/path_efficiency.py",
        "eval/numbers/paired_power.py",
    ),
    "stable_baselines3": ("eval/peers/",),
    "sample_factory": ("eval/peers/",),
    "minerl": ("worlds/adapters/engines/minerl_env.py",),
    "minestudio": ("worlds/adapters/engines/minestudio.py",),
    "vizdoom": (
        "worlds/adapters/engines/vizdoom.py",
        "worlds/adapters/engines/doom_game.py",
        "eval/peers/",
    ),
    "miniworld": ("worlds/adapters/engines/miniworld_scene.py", "eval/peers/"),
    "craftax": ("eval/peers/",),
    "jax": ("eval/peers/",),
    "simpy": ("mcrl/planning/simulator.py", "mcrl/planning/shared_cores.py", "mcrl/commands/training/plan.py"),
    "viser": ("eval/viewer/app", "eval/viewer/scene", "eval/viewer/server"),
    "websockets": ("eval/viewer/app", "eval/viewer/server"),
    "PIL": ("eval/viewer/app",),
}

# The engine, tasks, policies and the in-process trainer: they run where only these packages are.
CORE_PACKAGES = ("numpy", "numba", "llvmlite", "torch", "gymnasium", "safetensors")
CORE_MODULES = (
    "worlds.voxel.backend",
    "task_synthesis.synthesize",
    "task_synthesis.playing.task_env",
    "task_synthesis.libraries.library",
    "policies.presets",
    "policies.pretrained",
    "policies.agent",
    "policies.expert",
    "mcrl.assembly",
    "mcrl.rollout.episodes",
    "mcrl.rollout.rollout_worker",
    "mcrl.checkpoint",
    "mcrl.telemetry.metrics",
    "mcrl.recipes",
    "mcrl.telemetry.wandb_log",
    "mcrl.provenance",
    "mcrl.dataflow.resharding.acting_shards",
    "mcrl.dataflow.weights.broadcast",
    "mcrl.dataflow.weights.delayed_update",
    "mcrl.dataflow.local",
    "mcrl.learning.fsdp",
    "mcrl.learning.imitation",
    "mcrl.learning.learner",
    "mcrl.train",
    "mcrl.cli",
)
# What a process needs that passes fragments on and computes nothing.
LIGHT_MODULES = ("mcrl.dataflow.ray.actor", "mcrl.dataflow.ray.queue_actor", "mcrl.planning.sleeping_worker")
BLOCKED = ("ray", "wandb", "cv2", "rich", "tyro", "scipy", "pandas", "matplotlib", "pyarrow", "simpy")


class Source(NamedTuple):
    """One file of ours, as far as the claims below look at it."""

    layer: str
    path: str
    imports: tuple[ast.Import | ast.ImportFrom, ...]

    def packages(self) -> Iterator[str]:
        """The first names of what it imports."""
        for node in self.imports:
            if isinstance(node, ast.Import):
                yield from (alias.name.split(".")[0] for alias in node.names)
            elif node.level == 0 and node.module:
                yield node.module.split(".")[0]

    def modules(self) -> Iterator[str]:
        """The whole names of what it imports."""
        for node in self.imports:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif node.module:
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


@functools.cache
def _sources() -> tuple[Source, ...]:
    """Return every source: read and walked once, which takes seconds, for all claims."""
    return tuple(
        Source(
            layer=layer,
            path=path.relative_to(ROOT).as_posix(),
            imports=tuple(
                node
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.Import | ast.ImportFrom)
            ),
        )
        for layer in LAYERS
        for path in sorted((ROOT / layer).rglob("*.py"))
    )


def test_imports_point_one_way():
    bad = [
        f"{source.path} imports {name}: {source.layer} sits below {name}"
        for source in _sources()
        for name in source.packages()
        if name in LAYERS[LAYERS.index(source.layer) + 1 :] and not source.path.startswith(COMPOSITION_ROOT)
    ]
    assert not bad, "\n".join(bad)


def test_heavy_packages_are_named_in_their_one_place():
    bad = [
        f"{source.path} imports {name}: allowed only in {', '.join(ONLY_IN[name])}"
        for source in _sources()
        for name in source.packages()
        if name in ONLY_IN and not source.path.startswith(ONLY_IN[name])
    ]
    assert not bad, "\n".join(bad)


def test_our_engine_knows_of_no_other():
    """Its kernels are cached by the sources of `worlds` without the adapters."""
    bad = [
        f"{source.path} imports {name}"
        for source in _sources()
        if source.layer == "worlds" and not source.path.startswith("worlds/adapters/")
        for name in source.modules()
        if name.startswith("worlds.adapters")
    ]
    assert not bad, "\n".join(bad)


# What both sides of the border run, and the one engine that is ours and so runs in our interpreter.
BOTH_SIDES = tuple(
    f"worlds.adapters.{name}" for name in ("engine", "engine_class", "wire", "frames", "moments", "child")
)
OUR_ENGINE = "worlds/adapters/engines/voxel.py"


def _runs_in_an_engines_interpreter(path: str) -> bool:
    is_engine = path.startswith("worlds/adapters/engines/") and path != OUR_ENGINE
    return is_engine or path.removesuffix(".py").replace("/", ".") in BOTH_SIDES


def test_what_runs_in_an_engines_interpreter_needs_nothing_of_ours():
    allowed = tuple(f"{name}." for name in (*BOTH_SIDES, "worlds.adapters.engines"))
    bad = [
        f"{source.path} imports {name}"
        for source in _sources()
        if _runs_in_an_engines_interpreter(source.path)
        for name in source.modules()
        if name.split(".")[0] in LAYERS and not name.startswith(allowed)
    ]
    assert not bad, "\n".join(bad)


def test_what_runs_in_an_engines_interpreter_is_written_for_python_3_8():
    bad = []
    for source in _sources():
        if _runs_in_an_engines_interpreter(source.path):
            try:
                ast.parse((ROOT / source.path).read_text(encoding="utf-8"), feature_version=(3, 8))
            except SyntaxError as error:
                bad.append(f"{source.path}: {error}")
    assert not bad, "\n".join(bad)


def test_nothing_is_imported_relatively():
    bad = [
        source.path
        for source in _sources()
        if any(isinstance(node, ast.ImportFrom) and node.level > 0 for node in source.imports)
    ]
    assert not bad, f"relative imports in {bad}"


def test_no_pickle_is_read_from_disk():
    bad = [source.path for source in _sources() if {"pickle", "dill", "joblib"} & set(source.packages())]
    assert not bad, f"pickle in {bad}"


def test_sources_are_ascii_and_of_readable_length():
    bad = []
    for layer in LAYERS:
        for path in sorted((ROOT / layer).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if not text.isascii():
                bad.append(f"{path.relative_to(ROOT)} is not ASCII")
            if text.count("\n") > 500:
                bad.append(f"{path.relative_to(ROOT)} has {text.count(chr(10))} lines, at most 500")
    assert not bad, "\n".join(bad)


_BLOCKER = """
import importlib, sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name in {heavy!r}:
            print("asked for", name, "with a way out or without")
        if name.split(".")[0] in {blocked!r}:
            raise ModuleNotFoundError("blocked: " + name, name=name)
sys.meta_path.insert(0, Blocker())
for name in {modules!r}:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        print(name, "needs", error)
"""


def test_the_core_imports_without_the_packages_around_it_and_asks_for_none_that_is_heavy():
    script = _BLOCKER.format(blocked=BLOCKED, modules=CORE_MODULES, heavy=("ray", "wandb", "cv2"))
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert not done.stdout, done.stdout


def test_a_script_beside_a_clone_finds_the_packages_and_not_the_clones_folder(tmp_path):
    (tmp_path / "mcrl" / "mcrl").mkdir(parents=True)
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", "import mcrl.cli"], capture_output=True, text=True, cwd=tmp_path, env=environ
    )
    assert done.returncode == 0, done.stderr


_NAME_WHAT_COMES = """
import importlib, sys
for name in {modules!r}:
    importlib.import_module(name)
    for heavy in {heavy!r}:
        if heavy in sys.modules:
            print(name, "imports", heavy)
"""


def test_who_only_passes_fragments_on_has_neither_torch_nor_numba():
    script = _NAME_WHAT_COMES.format(modules=LIGHT_MODULES, heavy=("torch", "numba"))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == ""
