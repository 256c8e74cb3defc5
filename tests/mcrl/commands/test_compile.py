"""Claims about `mcrl compile`: all is done, a part that fails is told of, and nobody is left behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mcrl.cli import main
from mcrl.commands.machine import compile as compile_module
from mcrl.provenance import num_usable_cores
from tests.mcrl.watched_process import is_running, started, wait_until


def test_it_takes_no_options(capsys):
    assert main(["compile", "--fast"]) == 2
    assert "--fast" in capsys.readouterr().err


def test_a_part_that_fails_ends_it_with_its_last_words(capsys, monkeypatch):
    monkeypatch.setattr(compile_module, "_TICK", ("worlds.no_such_tick",))
    assert main(["compile"]) == 1
    assert "no_such_tick" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.timeout(900)  # on a busy machine
def test_it_does_all_and_says_where(capsys):
    assert main(["compile"]) == 0
    assert "done in" in capsys.readouterr().out


# After what `mcrl compile` runs, the expert plays other tasks of all skills to their end, a page shows some of
# them, some made by hand are measured, a save is read, and there is a world of every biome: no
# kernel may have come then.
_WHOLE_EPISODES = """
import sys
from contextlib import closing
from pathlib import Path

from numba.core.dispatcher import Dispatcher

import task_synthesis
from eval.library.gallery import gallery_page
from mcrl.assembly import PRODUCT
from mcrl.commands.machine import rehearsal
from mcrl.rollout.episodes import TaskListSource, run_episodes
from task_synthesis.by_hand.user_tasks import read_user_tasks
from task_synthesis.placement.sites import Sites
from tests.worlds.anvil.anvil_files import write_save
from worlds.anvil import open_save, read_world
from worlds.generate.biomes import BIOMES
from worlds.generate.terrain import generate
from worlds.kernel_cache import has_kernels
from worlds.spec import WorldSpec
from worlds.voxel.engine_tables import engine_tables
from worlds.voxel.kernels import compile_ticks
from worlds.voxel.world_cache import prepare

def kernels():
    modules = {name: module for name, module in sys.modules.items() if has_kernels(name)}
    return {
        f"{value.py_func.__module__}.{value.py_func.__name__} of {signature}"
        for module in modules.values()
        for value in vars(module).values()
        if isinstance(value, Dispatcher)
        for signature in value.signatures
    }

compile_ticks(engine_tables())
rehearsal._tasks()
rehearsal._play()
compiled = kernels()
tasks = PRODUCT.make_tasks(rehearsal._config(), "val", 28, lambda num_done: None)
with closing(PRODUCT.make_env(rehearsal._config(), TaskListSource(tasks), 2)) as env:
    records = run_episodes(PRODUCT.make_expert(env), env, tasks)
gallery_page(tasks[:3], title="")
save = open_save(write_save(Path(sys.argv[1]), lambda x, y, z: "stone", "1.18", chunks=range(2), ys=range(4)))
world = read_world(save, WorldSpec(source=save.source, seed=0, size_blocks=(32, 64, 32)))
Sites().ground(prepare(world).world, 5, 5)
for biome in BIOMES:
    generate(WorldSpec(seed=1, biome=biome, size_blocks=(64, 64, 64)))
read_user_tasks(Path(task_synthesis.__file__).parent / "examples" / "devices_and_animals.json")
assert sum(record.outcome == "success" for record in records) > len(tasks) // 2
print(*sorted(kernels() - compiled), sep="\\n")
"""


@pytest.mark.slow
@pytest.mark.timeout(900)  # where what was compiled is not kept
def test_it_leaves_nothing_to_be_compiled_by_whole_episodes(tmp_path):
    command = [sys.executable, "-c", _WHOLE_EPISODES, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == ""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds the parts through /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_its_parts_end_with_it(tmp_path, how, monkeypatch):
    for name in [name for name in os.environ if name.startswith("NUMBA_CACHE")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # so that they take long
    process = started(["compile"])
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    num_parts = min(2, num_usable_cores())
    wait_until(lambda: len(children.read_text().split()) == num_parts, "the parts to begin")
    parts = [int(child) for child in children.read_text().split()]
    process.send_signal(how)
    process.communicate()
    wait_until(lambda: not any(map(is_running, parts)), "the parts to end")
