"""The language of piped keys: `w*20 w+space attack*30 mouse(10,0) 1 use wait*5`, read into one action a tick.

Words stand in a row, separated by white space; # begins a comment that ends with the line. A word is keys joined by +,
pressed together, and after a * for how many ticks of 50 ms (1 without). mouse(RIGHT,DOWN) turns by so many degrees in
all, spread over the word's ticks. Keys are those of the game, and the buttons of worlds.types.BUTTONS by name.
"""

import math
import re
from difflib import get_close_matches

from worlds.types import BUTTON_INDEX, ActionBatch

KEYS: dict[str, str] = {
    "w": "forward",
    "s": "back",
    "a": "left",
    "d": "right",
    "space": "jump",
    "shift": "sneak",
    "ctrl": "sprint",
    "q": "drop",
    "e": "inventory",
    **{str(slot): f"hotbar.{slot}" for slot in range(1, 10)},
    **{button: button for button in BUTTON_INDEX},
}
IDLE = "wait"
MAX_TICKS = 24_000  # 20 minutes

_WORD = re.compile(r"(?P<keys>[^*]+)(\*(?P<ticks>\d{1,9}))?")
_MOUSE = re.compile(r"mouse\((?P<right>-?\d+(\.\d+)?),(?P<down>-?\d+(\.\d+)?)\)")


def parse_keys(text: str, *, where: str = "--keys") -> list[ActionBatch]:
    """Return one action of one agent for every tick.

    Raises:
        ValueError: a word that is none, with its number and the nearest key.
    """
    # A comma inside mouse() may be followed by a space, which would end the word.
    lines = [re.sub(r",\s+", ",", line.partition("#")[0]) for line in text.splitlines()]
    actions: list[ActionBatch] = []
    for number, word in enumerate(" ".join(lines).split(), start=1):
        try:
            actions += _actions_of(word)
        except ValueError as error:
            raise ValueError(f"{where}: word {number}, {word!r}: {error}") from None
        if len(actions) > MAX_TICKS:
            raise ValueError(f"{where}: lasts longer than {MAX_TICKS} ticks, which is 20 minutes; play it in parts")
    if not actions:
        raise ValueError(f"{where}: holds no keys; write for instance 'w*20 attack*30 mouse(10,0)'")
    return actions


def _actions_of(word: str) -> list[ActionBatch]:
    match = _WORD.fullmatch(word)
    num_ticks = int(match["ticks"] or 1) if match else 0
    if match is None or num_ticks < 1:
        raise ValueError(f"after * stands a number of ticks, 1 to {MAX_TICKS}")
    if num_ticks > MAX_TICKS:
        raise ValueError(f"{num_ticks} ticks are more than {MAX_TICKS}")
    action = ActionBatch.noop(1)
    down_deg = right_deg = 0.0
    for key in match["keys"].split("+"):
        turn = _MOUSE.fullmatch(key)
        if turn:
            down_deg += float(turn["down"]) / num_ticks
            right_deg += float(turn["right"]) / num_ticks
        elif key in KEYS:
            action.buttons_EB[0, BUTTON_INDEX[KEYS[key]]] = True
        elif key != IDLE:
            raise ValueError(_unknown(key))
    # Before it is float32, for which 46 digits are too many; 400 are inf in any, and two such turns may be inf - inf.
    fastest_deg = max(abs(down_deg), abs(right_deg))
    if not math.isfinite(down_deg + right_deg) or fastest_deg * num_ticks > 180.0 * MAX_TICKS:
        raise ValueError(f"turns more than 180 degrees a tick, even in {MAX_TICKS} ticks; turn by less")
    if fastest_deg > 180.0:
        raise ValueError(f"turns more than 180 degrees a tick; give it {math.ceil(fastest_deg / 180)} times the ticks")
    action.camera_deg_E2[0] = (down_deg, right_deg)
    return [action] * num_ticks


def _unknown(key: str) -> str:
    if key.startswith("mouse"):
        return "the mouse is written mouse(RIGHT,DOWN), two numbers of degrees"
    names = [*KEYS, IDLE]
    close = get_close_matches(key, names, n=1, cutoff=0.5)
    return f"{key!r} is no key; " + (f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}")
