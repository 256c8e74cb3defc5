"""`mcrl play`: a person, a script of keys, the expert or a checkpoint plays, in a window or into a file."""

import dataclasses
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from mcrl.commands.compile_ahead import compile_tick_ahead
from mcrl.commands.options import nearest, read_options
from mcrl.commands.progress import staged_progress
from mcrl.commands.screen.pack_words import read_pack
from mcrl.commands.screen.play_options import EXPERT, PERSON, PlayOptions
from mcrl.commands.writable import check_can_write

if TYPE_CHECKING:
    from eval.play.play_picture import PlayWriter
    from eval.play.play_session import Driver, FreeStage, PlayFrame, Stage, TaskStage
    from eval.play.play_window import PlayWindow
    from policies.interface import Agent
    from task_synthesis.task import TaskSpec
    from worlds.anvil import Save
    from worlds.spec import Episode, WorldSpec
    from worlds.textures.resource_pack import ResourcePack
    from worlds.types import ActionBatch, Pose

_DESCRIPTION = (
    "Play. --agent person (keyboard and mouse in a window, or --keys) or expert, or --policy with a checkpoint or the "
    "name of a shipped policy. "
    "Keys are words such as 'w*20 w+space attack*30 mouse(90,0)*10 1 use wait*5': keys joined by + and, after *, how "
    "many ticks of 50 ms; mouse(RIGHT,DOWN) in degrees."
)


def play_command(args: Sequence[str]) -> int:
    """Play and say how it ended; return 1 where the engine failed."""
    options = read_options(PlayOptions, args, prog="mcrl play", description=_DESCRIPTION)
    script = _script(options)
    if options.player not in (PERSON, EXPERT):
        from mcrl.run_folder import checkpoint_of

        checkpoint_of(Path(options.player), others=(PERSON, EXPERT))
    if options.save is not None:
        from worlds.anvil import open_save

        open_save(options.save)
    place, task = options.task_place, None
    if place is not None:
        from eval.suites.task_place import read_task

        try:
            task = read_task(place, where="--task")
        except ValueError as error:
            if options.task is not None:
                raise
            raise ValueError(f"--seed {options.seed} is for {place}, and {error}") from None
    if options.out is None:
        from eval.play.display import check_display

        check_display()
    else:
        check_can_write(options.out, is_folder=False)
    # Everything above is found out before the engine is loaded.
    if not options.is_foreign:
        compile_tick_ahead()
    from eval.play.play_session import FAULT, drive_by_agent, drive_by_script, play

    make_agent: Callable[[], Agent] | None = None
    most_ticks = len(script or ())
    if task is None:
        stage: Stage = _foreign_stage(options) if options.is_foreign else _free_stage(options)
    else:
        most_ticks = min(task.max_ticks, most_ticks or task.max_ticks)
        stage, make_agent = _task_stage(options, task)
        print(f"task {place}: {task.family.replace('_', ' ')}, {task.band}, at most {task.max_ticks} ticks")
    screen = _screen(options, stage.ticks_per_step)
    driver: Driver
    if script is not None:
        driver = drive_by_script(script)
    elif make_agent is None or options.player == PERSON:
        driver = screen.act
    else:
        driver = drive_by_agent(make_agent(), stage)  # type: ignore[arg-type]  # a TaskStage, see above
    most_ticks = min(most_ticks, options.ticks or most_ticks)
    try:
        with staged_progress() if options.out is not None else nullcontext() as on_progress:

            def show(frame: "PlayFrame") -> None:
                if on_progress is not None:
                    on_progress("ticks played", frame.tick, most_ticks)
                screen.show(frame)

            last = play(stage, _until_closed(driver, screen), show, max_ticks=options.ticks)
    finally:
        try:
            screen.close()
        finally:
            stage.close()
    x, y, z = last.position
    print(
        f"{last.outcome or 'ended'} after {last.tick} ticks at ({x:.2f}, {y:.2f}, {z:.2f}), {last.health:g} half hearts"
    )
    if options.out is not None:
        print(options.out)
    return int(last.outcome == FAULT)


def _script(options: PlayOptions) -> "list[ActionBatch] | None":
    from eval.play.play_keys import parse_keys

    where = "--keys" if options.keys_file is None else str(options.keys_file)
    try:
        if options.keys_file is not None:
            text: str | None = options.keys_file.read_text(encoding="utf-8")
        else:
            text = sys.stdin.read() if options.keys == "-" else options.keys
    except IsADirectoryError:
        raise ValueError(f"{where}: a folder; name a file with words such as 'w*20 attack*30 mouse(10,0)'") from None
    except UnicodeDecodeError:
        raise ValueError(f"{where}: is no text in UTF-8; give words such as 'w*20 attack*30 mouse(10,0)'") from None
    return None if text is None else parse_keys(text, where=where)


def _until_closed(driver: "Driver", screen: "PlayWindow | PlayWriter") -> "Driver":
    def choose(frame: "PlayFrame") -> "ActionBatch | None":
        return None if screen.is_ended else driver(frame)

    return choose


def _screen(options: PlayOptions, ticks_per_frame: int) -> "PlayWindow | PlayWriter":
    if options.out is None:
        from eval.play.play_window import PlayWindow

        return PlayWindow(ticks_per_frame=ticks_per_frame, with_hud=options.hud)
    from eval.play.play_picture import PlayWriter

    return PlayWriter(options.out, ticks_per_frame=ticks_per_frame, with_hud=options.hud)


def _task_stage(options: PlayOptions, task: "TaskSpec") -> "tuple[TaskStage, Callable[[], Agent]]":
    """Return the stage of a task and what makes the agent that plays it; a person plays tick by tick."""
    from eval.play.play_session import TaskStage, WatchedBackend, WatchedProcess
    from mcrl import assembly
    from mcrl.config import EnvConfig
    from mcrl.rollout.episodes import TaskListSource
    from mcrl.run_folder import checkpoint_of, config_of
    from mcrl.tasks.engine_worlds import check_world
    from mcrl.trained import load_policy
    from policies.agent import PolicyAgent
    from task_synthesis.playing.task_env import TaskEnv
    from worlds.anvil import open_save

    check_world(options.backend, task.world, where=f"--task {options.task_place}")
    if options.save is not None and not task.world.source.startswith("anvil:"):
        raise ValueError(
            f"--save {options.save}: task {options.task_place} is in a generated world; leave it out, or name a task "
            "in that save (`mcrl eval POLICY --suite real_saves --save DIR --out OUT` makes some: --task OUT:1)"
        )
    packs = _resource_packs(options.resource_pack)
    if packs:
        task = dataclasses.replace(task, look=dataclasses.replace(task.look, textures=_textures(packs)), task_id="")
    image_px, action_repeat, policy, config = options.image, EnvConfig().action_repeat_ticks, None, None
    if options.player == PERSON:
        action_repeat = 1
    elif options.player != EXPERT:
        folder = checkpoint_of(Path(options.player))
        config = config_of(folder)
        policy = load_policy(folder, config)
        image_px, action_repeat = (config.env.image_px, config.env.image_px), config.env.action_repeat_ticks
    backend: WatchedBackend | WatchedProcess
    if options.is_foreign:
        backend = WatchedProcess(1, options.choice(), size_blocks=task.world.size_blocks, image_px=image_px)
    else:
        backend = WatchedBackend(
            1,
            size_blocks=task.world.size_blocks,
            image_px=image_px,
            saves=[open_save(options.save)] if options.save is not None else [],
            resource_packs=packs,
        )
    goal_form = "cross_view" if config is None else config.env.goal_form
    env = TaskEnv(backend, TaskListSource([task]), action_repeat=action_repeat, goal_form=goal_form)

    def make_agent() -> "Agent":
        if policy is None or config is None:
            return assembly.make_expert(env)
        return PolicyAgent(
            policy, num_envs=1, precision=config.precision, seed=options.seed, decoding=options.decoding()
        )

    return TaskStage(env), make_agent


def _free_stage(options: PlayOptions) -> "FreeStage":
    from eval.play.play_session import FreeStage, WatchedBackend
    from eval.showcase.viewpoint import start_pose
    from worlds.anvil import open_save
    from worlds.generate.biomes import BIOMES
    from worlds.voxel.world_cache import WorldCache

    if options.biome not in BIOMES:
        raise ValueError(f"--biome {options.biome}: no such biome; {nearest(options.biome, list(BIOMES))}")
    inventory = _inventory(options)
    save = open_save(options.save) if options.save is not None else None
    packs = _resource_packs(options.resource_pack)
    size_blocks = (options.size, 64, options.size)
    worlds = WorldCache(saves=[save] if save else [])
    spec = _world_spec(options, save, size_blocks)
    start = start_pose(worlds.get([spec])[0].world)
    backend = WatchedBackend(
        1, size_blocks=size_blocks, image_px=options.image, world_cache=worlds, resource_packs=packs
    )
    return FreeStage(backend, _episode(options, spec, start, packs, inventory))


def _foreign_stage(options: PlayOptions) -> "FreeStage":
    """Return a free world of another engine; where it can be scanned one starts on open ground near the middle."""
    from eval.play.play_session import FreeStage, WatchedProcess
    from eval.showcase.viewpoint import start_pose
    from mcrl.tasks.engine_tasks import free_world
    from worlds.spec import Episode, Look
    from worlds.types import Pose

    inventory = _inventory(options)
    spec = free_world(options.backend, options.seed)
    backend = WatchedProcess(1, options.choice(), size_blocks=spec.size_blocks, image_px=options.image)
    try:
        world = backend.scanned_world(spec)
        start = Pose(0.0, 0.0, 0.0, 0.0, 0.0) if world is None else start_pose(world)
    except BaseException:
        backend.close()
        raise
    look = Look(time_ticks=options.time, weather=options.weather)
    held = () if world is None else inventory
    return FreeStage(backend, Episode(world=spec, start=start, inventory=held, look=look, seed=options.seed))


def _resource_packs(path: Path | None) -> "list[ResourcePack]":
    return [] if path is None else [read_pack(path)]


def _textures(packs: "list[ResourcePack]") -> str:
    return f"pack:{packs[0].sha256}" if packs else "own"


def _world_spec(options: PlayOptions, save: "Save | None", size_blocks: tuple[int, int, int]) -> "WorldSpec":
    from worlds.anvil import suggest_origin
    from worlds.spec import WorldSpec

    if save is None:
        return WorldSpec(seed=options.seed, biome=options.biome, size_blocks=size_blocks)
    origin = options.origin or suggest_origin(save, size_blocks)
    return WorldSpec(seed=0, biome=options.biome, size_blocks=size_blocks, source=save.source, origin_blocks=origin)


def _episode(
    options: PlayOptions,
    spec: "WorldSpec",
    start: "Pose",
    packs: "list[ResourcePack]",
    inventory: tuple[tuple[str, int], ...],
) -> "Episode":
    from worlds.spec import Episode, Look

    return Episode(
        world=spec,
        start=start,
        inventory=inventory,
        look=Look(time_ticks=options.time, weather=options.weather, textures=_textures(packs)),
        seed=options.seed,
        num_ambient_mobs=options.mobs,
    )


def _inventory(options: PlayOptions) -> tuple[tuple[str, int], ...]:
    return tuple(_stack(item) for item in options.inventory)


def _stack(text: str) -> tuple[str, int]:
    from worlds.items import ITEM_ID, ITEMS

    item, star, count = text.partition("*")
    if star and not count.isdecimal():
        raise ValueError(f"--inventory {text}: after * stands a number, for instance arrow*64")
    if item not in ITEM_ID:
        raise ValueError(f"--inventory {item}: no such item; {nearest(item, list(ITEM_ID))}")
    most = ITEMS[ITEM_ID[item]].max_stack
    if star and not 1 <= int(count) <= most:
        fit = f"1 to {most} fit" if most > 1 else "1 fits"
        raise ValueError(f"--inventory {text}: {fit} in a slot")
    return item, int(count) if star else 1
