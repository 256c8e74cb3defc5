"""MineRL's environment, set up for tasks of ours: the only place that imports MineRL."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from worlds.adapters.engine import BUTTONS, EngineError
from worlds.adapters.engines.malmo_mission import (
    Mission,
    agent_start,
    initial_conditions,
    observations,
    world_generator,
)
from worlds.adapters.engines.minecraft_look import FOV_DEG, with_field_of_view

# Of what MineRL says when it fails, which ends with the reason after pages of a game's log.
_SHOWN_LETTERS = 200


def is_old_line() -> bool:
    """Tell whether the MineRL that is installed is of the 0.4 line, whose Minecraft is 1.11.2."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("minerl").startswith("0.")
    except PackageNotFoundError:
        raise EngineError(
            "minerl: this interpreter has no MineRL; build one with `mcrl doctor minerl --install` and name it with "
            "--engine-python"
        ) from None


def make_env(spec: Any, port: int | None, *, is_old: bool, timeout_s: float) -> Any:
    """Return MineRL's environment of a spec, on a game that listens on `port`; None lets MineRL start one."""
    import minerl.env._multiagent as multi_agent
    from minerl.env._singleagent import _SingleAgentEnv
    from minerl.env.malmo import MinecraftInstance

    # MineRL waits four minutes for an answer, and ten for the first frame.
    multi_agent.SOCKTIME = multi_agent.MAX_WAIT = timeout_s
    if port is None:
        os.environ.setdefault("MALMO_MINECRAFT_OUTPUT_LOGDIR", tempfile.gettempdir())  # else it logs where we stand
        if is_old:
            _widen_no_view(MinecraftInstance)
        env = _SingleAgentEnv(spec)
        try:
            # Now, and not in the first reset, for it takes minutes.
            env.instances.append(env._get_new_instance())
        except Exception as error:  # MineRL raises what it likes, from EOFError to AssertionError
            text = " ".join(str(error).split())
            end = text if len(text) <= _SHOWN_LETTERS else f"... {text[-_SHOWN_LETTERS:].partition(' ')[2]}"
            raise EngineError(
                f"minerl: MineRL cannot start Minecraft ({type(error).__name__}: {end}); `mcrl doctor minerl` says "
                "what it lacks here, or start one yourself and name its port with --engine-options port=N"
            ) from error
        return env
    instance = MinecraftInstance(port=port, existing=True)
    instance.had_to_clean = False
    instance.launch()
    return _SingleAgentEnv(spec, instances=[instance])


def _widen_no_view(instance_class: Any) -> None:
    """Have the games that MineRL 0.4.4 starts draw FOV_DEG: its settings ask for 130, and its missions for nothing."""
    launch = instance_class._launch_minecraft

    def launch_with_our_view(self: Any, *given: Any, **named: Any) -> Any:
        path = os.path.join(self.minecraft_dir, "run", "options.txt")  # of the game's own copy of the folder
        with open(path, encoding="utf-8") as file:
            options = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(with_field_of_view(options))
        return launch(self, *given, **named)

    instance_class._launch_minecraft = launch_with_our_view


def make_spec(image_px: tuple[int, int], *, is_old: bool) -> Any:
    """Return an EnvSpec whose attribute `mission` decides what the next reset asks for.

    MineRL's own observations pick single numbers out of a report; `report` hands it on whole.
    """
    from minerl.herobraine.env_spec import EnvSpec
    from minerl.herobraine.hero import handlers, spaces
    from minerl.herobraine.hero.handler import Handler
    from minerl.herobraine.hero.handlers.agent.action import Action
    from minerl.herobraine.hero.handlers.translation import TranslationHandler

    class Element(Handler):
        """One element of the mission's XML."""

        def __init__(self, xml: str) -> None:
            self._xml = xml

        def to_string(self) -> str:
            return self._xml

        def xml(self) -> str:
            return self._xml

    class Observed(TranslationHandler):
        """An element that asks for an observation; the first one hands on the report."""

        def __init__(self, xml: str, name: str) -> None:
            super().__init__(spaces.Box(0, 1, shape=(), dtype=np.float32))
            self._xml, self._name = xml, name

        def to_string(self) -> str:
            return self._name

        def xml(self) -> str:
            return self._xml

        def from_hero(self, said: dict[str, Any]) -> dict[str, Any]:
            return {name: value for name, value in said.items() if name != "pov"} if self._name == "report" else {}

    class Chat(Action):
        """Chat lines, any number in a tick."""

        def __init__(self) -> None:
            super().__init__("chat", spaces.Box(0, 1, shape=(), dtype=np.float32))

        def xml(self) -> str:
            return "<ChatCommands/>"

        def to_hero(self, lines: Sequence[str]) -> str:
            return "\n".join(f"chat {line}" for line in lines)

    class Tasks(EnvSpec):
        """A Minecraft that does what the mission says."""

        mission = Mission()

        def create_observables(self) -> list[Any]:
            names = ("report", *(f"part{number}" for number in range(1, 10)))
            asked = [Observed(xml, name) for xml, name in zip(observations(self.mission), names)]
            return [handlers.POVObservation((image_px[1], image_px[0])), *asked]

        def create_actionables(self) -> list[Any]:
            keys = [handlers.KeybasedCommandAction(key, key) for key in BUTTONS]
            return [*keys, handlers.CameraAction(), Chat()]

        def create_agent_start(self) -> list[Any]:
            # The 1.0 line's game asks for these before it draws.
            settings = (("GuiScale", 1.0), ("GammaSetting", 2.0), ("FOVSetting", FOV_DEG), ("FakeCursorSize", 16))
            known = [getattr(handlers, name)(value) for name, value in settings if hasattr(handlers, name)]
            return [*known, *(Element(xml) for xml in agent_start(self.mission, is_old=is_old))]

        def create_server_world_generators(self) -> list[Any]:
            return [Element(world_generator(self.mission))]

        def create_server_initial_conditions(self) -> list[Any]:
            return [Element(xml) for xml in initial_conditions(self.mission)]

        def create_server_quit_producers(self) -> list[Any]:
            return [Element("<ServerQuitWhenAnyAgentFinishes/>")]

        def create_rewardables(self) -> list[Any]:
            return []

        def create_agent_handlers(self) -> list[Any]:
            return []

        def create_monitors(self) -> list[Any]:
            return []

        def create_server_decorators(self) -> list[Any]:
            return []

        def is_from_folder(self, folder: str) -> bool:
            return False

        def determine_success_from_rewards(self, rewards: list[float]) -> bool:
            return False

        def get_docstring(self) -> str:
            return "Tasks of mcrl."

    return Tasks("MineRLMcrlTasks-v0")
