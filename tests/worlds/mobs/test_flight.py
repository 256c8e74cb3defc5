"""What puts an animal to flight beside a blow."""

from tests.worlds.mobs.mob_yard import FLOOR_Y, Yard
from worlds.voxel.mob_moods import MOOD_IDLE, MOOD_PANIC


def test_an_animal_takes_flight_from_lava_and_not_from_a_fall():
    yard = Yard()
    yard.mob("cow", 8.5, 8.5, y=FLOOR_Y + 9)
    yard.play(40)
    assert yard.state.mobs.health_EM[0, 0] < 10
    assert yard.state.mobs.mood_EM[0, 0] == MOOD_IDLE
    yard.wall("lava", range(20, 24), range(FLOOR_Y, FLOOR_Y + 1), range(20, 24))
    yard.mob("cow", 22.0, 22.0, row=1)
    yard.play(6)
    assert yard.state.mobs.health_EM[0, 1] < 10
    assert yard.state.mobs.mood_EM[0, 1] == MOOD_PANIC
