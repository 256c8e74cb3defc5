"""The mobs: how large, strong and fast every kind is, how it behaves and what it leaves. Java Edition 1.16.5.

A table row holds one drop, the item that the kind leaves most reliably, in its mean number. Left out of the game's
rules, on purpose: babies, taming, breeding, natural armour, burning in daylight, poison and the llama's spit.
"""

from dataclasses import dataclass

import numpy as np

from worlds.items import ITEM_ID
from worlds.voxel.tables import MobTables

# How a kind treats the agent: the low four bits of behaviour_K.
BEHAVIOUR_PASSIVE = 0  # wanders, flees when hurt
BEHAVIOUR_NEUTRAL = 1  # wanders, strikes back when hurt
BEHAVIOUR_MELEE = 2  # hunts the agent and strikes it
BEHAVIOUR_RANGED = 3  # hunts the agent, keeps away from it and shoots
BEHAVIOUR_CREEPER = 4  # hunts the agent and explodes beside it
BEHAVIOUR_MASK, TRAIT_MASK = 15, 240
# How it moves: flags in the high four bits.
TRAIT_CLIMBS = 16  # walks up walls and leaps: spiders
TRAIT_HOPS = 32  # moves in hops: rabbits
TRAIT_FLUTTERS = 64  # falls slowly and unhurt: chickens
TRAIT_SURE_FOOTED = 128  # a fall does not hurt it: cats, golems


@dataclass(frozen=True, kw_only=True, slots=True)
class MobKind:
    """One row of the table."""

    name: str
    health: float  # half hearts
    width: float  # blocks, of the square base
    height: float  # blocks
    eye: float = 0.0  # blocks above the feet, 0 is the game's default of 0.85 heights
    speed: float  # movement speed attribute; on flat ground the mob makes 43 * speed**2 blocks a second
    stroll: float = 1.0  # the game's factor on the speed of a mob that wanders
    behaviour: int = BEHAVIOUR_PASSIVE
    traits: int = 0
    damage: float = 0.0  # half hearts of a blow at normal difficulty
    reach_squared: float = 0.0  # of the blocks that its blow reaches; 0 is the game's default of two widths, squared
    drop: str = ""  # an item, "" nothing
    drop_count: int = 1


MOBS: tuple[MobKind, ...] = (
    MobKind(name="cow", health=10, width=0.9, height=1.4, eye=1.3, speed=0.2, drop="beef", drop_count=2),
    MobKind(name="sheep", health=8, width=0.9, height=1.3, eye=1.235, speed=0.23, drop="white_wool"),
    MobKind(name="pig", health=10, width=0.9, height=0.9, speed=0.25, drop="porkchop", drop_count=2),
    MobKind(
        name="chicken", health=4, width=0.4, height=0.7, eye=0.644, speed=0.25, traits=TRAIT_FLUTTERS, drop="chicken"
    ),
    # Horses, donkeys and llamas of the game differ from one another; these are the mean ones.
    MobKind(name="horse", health=22, width=1.3964844, height=1.6, eye=1.52, speed=0.225, stroll=0.7, drop="leather"),
    MobKind(name="wolf", health=8, width=0.6, height=0.85, eye=0.68, speed=0.3, behaviour=BEHAVIOUR_NEUTRAL, damage=4),
    MobKind(name="rabbit", health=3, width=0.4, height=0.5, speed=0.3, stroll=0.6, traits=TRAIT_HOPS, drop="rabbit"),
    MobKind(
        name="cat", health=10, width=0.6, height=0.7, eye=0.35, speed=0.3, stroll=0.8, traits=TRAIT_SURE_FOOTED,
        drop="string",
    ),
    MobKind(name="llama", health=22, width=0.9, height=1.87, eye=1.7765, speed=0.175, drop="leather"),
    MobKind(
        name="zombie", health=20, width=0.6, height=1.95, eye=1.74, speed=0.23, behaviour=BEHAVIOUR_MELEE, damage=3,
        drop="rotten_flesh",
    ),
    MobKind(
        name="skeleton", health=20, width=0.6, height=1.99, eye=1.74, speed=0.25, behaviour=BEHAVIOUR_RANGED, damage=2,
        drop="bone",
    ),
    MobKind(
        name="spider", health=16, width=1.4, height=0.9, eye=0.65, speed=0.3, behaviour=BEHAVIOUR_MELEE,
        traits=TRAIT_CLIMBS, damage=2, reach_squared=4.0, drop="string",
    ),
    MobKind(
        name="creeper", health=20, width=0.6, height=1.7, speed=0.25, behaviour=BEHAVIOUR_CREEPER,
        drop="gunpowder",
    ),
    MobKind(
        name="ocelot", health=10, width=0.6, height=0.7, eye=0.35, speed=0.3, stroll=0.8, traits=TRAIT_SURE_FOOTED
    ),
    MobKind(name="mooshroom", health=10, width=0.9, height=1.4, eye=1.3, speed=0.2, drop="beef", drop_count=2),
    MobKind(name="donkey", health=22, width=1.3964844, height=1.5, eye=1.425, speed=0.175, drop="leather"),
    MobKind(name="fox", health=10, width=0.6, height=0.7, eye=0.4, speed=0.3),
    MobKind(
        name="polar_bear", health=30, width=1.4, height=1.4, speed=0.25, behaviour=BEHAVIOUR_NEUTRAL, damage=6,
        reach_squared=4.0,
    ),
    MobKind(name="villager", health=20, width=0.6, height=1.95, eye=1.62, speed=0.5, stroll=0.6),
    MobKind(
        name="iron_golem", health=100, width=1.4, height=2.7, speed=0.25, stroll=0.6, behaviour=BEHAVIOUR_NEUTRAL,
        traits=TRAIT_SURE_FOOTED, damage=15, drop="iron_ingot", drop_count=4,
    ),
    MobKind(
        name="husk", health=20, width=0.6, height=1.95, eye=1.74, speed=0.23, behaviour=BEHAVIOUR_MELEE, damage=3,
        drop="rotten_flesh",
    ),
    MobKind(
        name="stray", health=20, width=0.6, height=1.99, eye=1.74, speed=0.25, behaviour=BEHAVIOUR_RANGED, damage=2,
        drop="bone",
    ),
    MobKind(
        name="cave_spider", health=12, width=0.7, height=0.5, eye=0.45, speed=0.3,
        behaviour=BEHAVIOUR_MELEE, traits=TRAIT_CLIMBS, damage=2, reach_squared=4.0, drop="string",
    ),
)  # fmt: skip
MOB_ID: dict[str, int] = {kind.name: index for index, kind in enumerate(MOBS)}
NUM_MOB_KINDS = len(MOBS)


def build_mob_tables() -> MobTables:
    """Return the rows of MOBS as arrays; behaviour_K is BEHAVIOUR_* with the TRAIT_* flags."""
    return MobTables(
        half_width_K=np.array([kind.width / 2.0 for kind in MOBS]),
        height_K=np.array([kind.height for kind in MOBS]),
        eye_K=np.array([kind.eye or 0.85 * kind.height for kind in MOBS]),
        max_health_K=np.array([kind.health for kind in MOBS], np.float32),
        speed_K=np.array([kind.speed * kind.stroll for kind in MOBS]),
        damage_K=np.array([kind.damage for kind in MOBS], np.float32),
        reach_squared_K=np.array([kind.reach_squared or (2.0 * kind.width) ** 2 for kind in MOBS]),
        behaviour_K=np.array([kind.behaviour | kind.traits for kind in MOBS], np.uint8),
        drop_item_K=np.array([ITEM_ID[kind.drop] if kind.drop else -1 for kind in MOBS], np.int32),
        drop_count_K=np.array([kind.drop_count if kind.drop else 0 for kind in MOBS], np.int32),
    )
