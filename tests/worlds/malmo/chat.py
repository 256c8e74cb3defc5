"""Chat commands, carried out on the game: /tp /setblock /fill /summon /give /clear /kill /time /weather and more.

Both command languages are understood, that of 1.11.2 and that of 1.16.5; names of blocks and items are the dialect's.
What changes nothing here (/effect, /difficulty ...) is remembered and answered as done.
"""

import math
import re
from collections.abc import Callable

from tests.worlds.malmo.dialect import Dialect
from tests.worlds.malmo.game import Game

_WITHOUT_EFFECT = ("effect", "difficulty", "spawnpoint", "setworldspawn", "defaultgamemode", "title", "say")
_SELF = ("@p", "@s", "@a", "@r")
_BAG_START = 9


class Chat:
    """Reads chat lines as the game does and keeps what it answers."""

    def __init__(self, game: Game, dialect: Dialect, player: str) -> None:
        """Carry commands out on `game`; `player` is the agent's name."""
        self._game, self._dialect, self._player = game, dialect, player
        self.answers: list[str] = []
        self._commands: dict[str, Callable[[list[str]], str]] = {
            "tp": self._tp, "teleport": self._tp, "setblock": self._setblock, "fill": self._fill,
            "summon": self._summon, "give": self._give, "clear": self._clear, "kill": self._kill, "time": self._time,
            "weather": self._weather, "gamerule": self._gamerule, "replaceitem": self._replaceitem,
            "spreadplayers": self._spreadplayers, "testforblock": self._testforblock, "execute": self._execute,
            "gamemode": self._gamemode,
        }  # fmt: skip

    def say(self, line: str) -> None:
        """Carry out one line; what goes wrong is answered in the chat, as in the game."""
        if not line.startswith("/"):
            self.answers.append(f"<{self._player}> {line}")
            return
        try:
            answer = self._run(line[1:])
            if self._game.rules.get("sendCommandFeedback") != "false":  # which is asked after the command
                self.answers.append(answer)
        except (ValueError, IndexError) as error:
            self.answers.append(str(error))

    def _run(self, command: str) -> str:
        verb, *words = command.split()
        if verb in _WITHOUT_EFFECT:
            return f"Done: {verb}"
        if verb not in self._commands:
            raise ValueError("Unknown command. Try /help for a list of commands")
        return self._commands[verb](words)

    def _without_target(self, words: list[str]) -> list[str]:
        return words[1:] if words and (words[0] in (*_SELF, self._player) or words[0].startswith("@p[")) else words

    def _point(self, words: list[str]) -> tuple[float, float, float]:
        """Return the place that three words name; "~" counts from the agent, whole numbers of x and z are centres."""
        feet = self._game.feet()[:3]
        place = []
        for axis, word in enumerate(words[:3]):
            if word.startswith("~"):
                place.append(feet[axis] + float(word[1:] or 0))
            else:
                place.append(float(word) + (0.5 if axis != 1 and word.lstrip("-").isdecimal() else 0.0))
        return place[0], place[1], place[2]

    def _cell(self, words: list[str]) -> tuple[int, int, int]:
        x, y, z = (math.floor(part) for part in self._point(words))
        return x, y, z

    def _tp(self, words: list[str]) -> str:
        words = self._without_target(words)
        x, y, z = self._point(words)
        _, _, _, yaw, pitch = self._game.feet()
        if len(words) >= 5:
            yaw, pitch = (
                now + float(word[1:] or 0) if word.startswith("~") else float(word)
                for now, word in zip((yaw, pitch), words[3:5], strict=True)
            )
        self._game.teleport(x, y, z, yaw, pitch)
        return f"Teleported {self._player} to {x:.2f}, {y:.2f}, {z:.2f}"

    def _setblock(self, words: list[str]) -> str:
        state, _ = self._dialect.read_block(words[3:])
        cell = self._cell(words)
        if not self._game.set_box(cell, cell, state):
            raise ValueError("The block couldn't be placed")
        return "Block placed"

    def _fill(self, words: list[str]) -> str:
        corners = self._cell(words), self._cell(words[3:])
        lowest = tuple(min(pair) for pair in zip(*corners, strict=True))
        highest = tuple(max(pair) for pair in zip(*corners, strict=True))
        if math.prod(high - low + 1 for low, high in zip(lowest, highest, strict=True)) > 32768:
            raise ValueError("Too many blocks in the specified area (maximum 32768)")
        state, num_words = self._dialect.read_block(words[6:])
        rest, only = words[6 + num_words :], -1
        if len(rest) > 1 and rest[0] == "replace":
            only, _ = self._dialect.read_block(rest[1:])
        num_changed = self._game.set_box(lowest, highest, state, only=only)
        if not num_changed:
            raise ValueError("No blocks filled")
        return f"{num_changed} blocks filled"

    def _testforblock(self, words: list[str]) -> str:
        cell = self._cell(words)
        wanted, _ = self._dialect.read_block(words[3:])
        found = int(self._game.states_in(cell, cell)[0, 0, 0])
        if found != wanted:
            return f"The block at {cell[0]},{cell[1]},{cell[2]} is {self._dialect.block_name(found)}"
        return f"Successfully found the block at {cell[0]},{cell[1]},{cell[2]}"

    def _summon(self, words: list[str]) -> str:
        place = self._point(words[1:]) if len(words) > 3 else self._game.feet()[:3]
        kind = words[0].removeprefix("minecraft:")
        if kind == "item":
            tag = " ".join(words[4:])
            item, data = re.search(r'id:"([\w:]+)"', tag), re.search(r"Damage:(\d+)", tag)
            if item is None:
                raise ValueError("Unable to summon object")
            self._game.lay(self._dialect.read_item(item.group(1), int(data.group(1)) if data else 0), *place)
        else:
            health = re.search(r"Health:([\d.]+)f", " ".join(words[4:]))
            self._game.summon(self._dialect.read_mob(kind), *place, health=float(health[1]) if health else None)
        return "Object successfully summoned"

    def _give(self, words: list[str]) -> str:
        words = self._without_target(words)
        count = int(words[1]) if len(words) > 1 else 1
        item = self._dialect.read_item(words[0], int(words[2]) if len(words) > 2 else 0)
        self._game.give(item, count)
        return f"Given [{item}] * {count} to {self._player}"

    def _replaceitem(self, words: list[str]) -> str:
        """Take `entity TARGET SLOT ITEM [COUNT] [DATA]`, slots hotbar.N, inventory.N and weapon.mainhand."""
        slot_name = words[2].removeprefix("slot.")
        where, _, number = slot_name.partition(".")
        if where == "weapon":
            slot = int(self._game.state.hands.selected_E[0])
        else:
            slot = int(number) + (_BAG_START if where == "inventory" else 0)
        item = self._dialect.read_item(words[3], int(words[5]) if len(words) > 5 else 0)
        self._game.put_item(slot, item, int(words[4]) if len(words) > 4 else 1)
        return f"Replaced slot {words[2]} with [{item}]"

    def _clear(self, words: list[str]) -> str:
        self._game.clear_inventory()
        return f"Cleared the inventory of {self._player}"

    def _kill(self, words: list[str]) -> str:
        target = words[0] if words else "@p"
        if target in (*_SELF, self._player):
            self._game.state.bodies.health_E[0] = 0.0
            return f"Killed {self._player}"
        filters = dict(part.partition("=")[::2] for part in target.partition("[")[2].rstrip("]").split(",") if part)
        kind = filters.get("type", "!player").lower().removeprefix("minecraft:")
        num_gone = self._game.remove_entities(None if kind.startswith("!") else kind)
        return f"Killed {num_gone} entities"

    def _time(self, words: list[str]) -> str:
        named = {"day": 1000, "noon": 6000, "night": 13000, "midnight": 18000}
        ticks = named[words[1]] if words[1] in named else int(words[1])
        self._game.set_time(ticks + (self._game.look.time_ticks if words[0] == "add" else 0))
        return f"Set the time to {ticks}"

    def _weather(self, words: list[str]) -> str:
        self._game.set_weather(words[0])
        return f"Changing to {words[0]} weather"

    def _gamerule(self, words: list[str]) -> str:
        self._game.rules[words[0]] = words[1] if len(words) > 1 else ""
        return f"Game rule {words[0]} has been updated to {self._game.rules[words[0]]}"

    def _spreadplayers(self, words: list[str]) -> str:
        """Put the agent onto the ground of the column that the first two words name."""
        x, z = float(words[0]), float(words[1])
        _, _, _, yaw, pitch = self._game.feet()
        column_Y = self._game.states_in(*(((math.floor(x), y, math.floor(z))) for y in self._game.heights()))[:, 0, 0]
        top = max((y for y, state in enumerate(column_Y) if state), default=-1)
        self._game.teleport(math.floor(x) + 0.5, self._game.heights()[0] + top + 1.0, math.floor(z) + 0.5, yaw, pitch)
        return f"Spread 1 players around {x:.2f},{z:.2f}"

    def _gamemode(self, words: list[str]) -> str:
        self._game.is_spectator = words[0] in ("3", "sp", "spectator")
        return f"Set own game mode to {words[0]}"

    def _execute(self, words: list[str]) -> str:
        """Carry out what follows "run"; whom it is run as and at makes no difference with one agent."""
        return self._run(" ".join(words[words.index("run") + 1 :]))
