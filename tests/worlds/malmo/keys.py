"""What a step message asks for: keys that go down or up, camera turns, chat lines, and scans."""

from dataclasses import dataclass, field

import numpy as np

from worlds.types import BUTTON_INDEX, BUTTONS


@dataclass
class StepOrder:
    """One step message, taken apart."""

    changes: dict[str, bool] = field(default_factory=dict)  # key: goes down
    camera_deg: tuple[float, float] = (0.0, 0.0)  # pitch, yaw
    chat: list[str] = field(default_factory=list)
    boxes: dict[str, list[int]] = field(default_factory=dict)  # "voxels", "mobs": x0, x1, y0, y1, z0, z1 from the agent


def read_step(message: str) -> StepOrder:
    """Take `<StepClient0>...</StepClient0 >` apart; verbs that nobody listens to are left out, as in the game."""
    body = message[message.index(">") + 1 : message.rindex("</StepClient")]
    order = StepOrder()
    for line in body.split("\n"):
        verb, _, rest = line.partition(" ")
        if verb in BUTTON_INDEX and rest:
            order.changes[verb] = float(rest) > 0
        elif verb == "camera":
            pitch, yaw = rest.split(" ")[:2]
            order.camera_deg = (order.camera_deg[0] + float(pitch), order.camera_deg[1] + float(yaw))
        elif verb == "chat" and rest:
            order.chat.append(rest)
        elif verb in ("voxels", "mobs"):
            order.boxes[verb] = [int(float(part)) for part in rest.split(",")]
    return order


class Keyboard:
    """Keys stay down until they are let go, as in the game."""

    def __init__(self) -> None:
        """Begin with no key held."""
        self.is_down_B = np.zeros(len(BUTTONS), bool)

    def change(self, changes: dict[str, bool]) -> None:
        """Press and let go."""
        for key, is_down in changes.items():
            self.is_down_B[BUTTON_INDEX[key]] = is_down
