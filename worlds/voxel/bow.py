"""The bow: how far it is drawn, and the shot. Constants of Java Edition 1.16.5's BowItem."""

from worlds.types import EVENT_ARROW_SHOT
from worlds.voxel.arrows import OWNER_AGENT, OWNER_AGENT_CRITICAL, shoot_arrow
from worlds.voxel.inventory import find_arrows, take_one
from worlds.voxel.link import Kernel
from worlds.voxel.log import push_event

FULL_DRAW_TICKS = 20.0
WEAKEST_SHOT = 0.1
BOW_SPEED = 3.0  # blocks a tick at full power
BOW_SPREAD = 0.0075
BOW_BELOW_EYE_BLOCKS = 0.1


def bow_power(ticks):
    """Return the power 0 .. 1 of a bow drawn for so many ticks: (f * f + 2 f) / 3 with f in seconds, at most 1."""
    drawn = ticks / FULL_DRAW_TICKS
    return min(1.0, (drawn * drawn + 2.0 * drawn) / 3.0)


def release_bow(e, bodies, hands, arrows, log, clock, items, ticks, eye_y, dx, dy, dz):
    """Shoot an arrow of the inventory along (dx, dy, dz), if there is one and the bow was drawn far enough."""
    power = bow_power(ticks)
    slot = find_arrows(e, hands, items)
    if power < WEAKEST_SHOT or slot < 0:
        return
    item = hands.item_ES[e, slot]
    take_one(e, hands, slot)
    owner = OWNER_AGENT_CRITICAL if power >= 1.0 else OWNER_AGENT
    row = shoot_arrow(
        e, arrows, clock, bodies.position_E3[e, 0], eye_y - BOW_BELOW_EYE_BLOCKS, bodies.position_E3[e, 2], dx, dy, dz,
        power * BOW_SPEED, BOW_SPREAD, owner,
    )  # fmt: skip
    # As in Minecraft, an arrow keeps the motion of who shot it; standing on the ground counts as no fall.
    arrows.velocity_EA3[e, row, 0] += bodies.velocity_E3[e, 0]
    if not bodies.is_on_ground_E[e]:
        arrows.velocity_EA3[e, row, 1] += bodies.velocity_E3[e, 1]
    arrows.velocity_EA3[e, row, 2] += bodies.velocity_E3[e, 2]
    push_event(e, log, EVENT_ARROW_SHOT, item, int(power * 100.0 + 0.5), 0)


SOURCES: tuple[Kernel, ...] = (bow_power, release_bow)
