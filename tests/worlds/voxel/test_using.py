import pytest

from tests.worlds.voxel.arena import GROUND_Y, TABLES, Arena, flat
from worlds.blocks import state_of
from worlds.types import EVENT_BLOCK_USED, EVENT_MOB_STRUCK
from worlds.voxel.inventory import change_hand

AHEAD = (16, 11, 18)


def arena_with(block, slot=0):
    arena = Arena()
    arena.put(block, *AHEAD, slot=slot)
    arena.look_at_block(*AHEAD)
    return arena


def test_both_halves_of_a_door_open_and_close():
    arena = Arena()
    for half, y in (("lower", 10), ("upper", 11)):
        arena.put(f"oak_door[facing=south,half={half}]", 16, y, 18, slot=4)
    arena.look_at_block(*AHEAD)
    arena.press("use")
    opened = [state_of(f"oak_door[facing=south,half={half},open=true]") for half in ("lower", "upper")]
    assert [arena.at(16, 10, 18), arena.at(16, 11, 18)] == opened
    before = state_of("oak_door[facing=south,half=upper]")
    assert arena.events() == [(EVENT_BLOCK_USED, before, 4, flat(*AHEAD))]
    assert int(arena.state.terrain.block_EXZY[0, 16, 18, 11]) >> 12 == 4
    arena.press()
    arena.look_at_block(*AHEAD)
    arena.press("use")
    assert arena.at(16, 10, 18) == state_of("oak_door[facing=south,half=lower]")


def test_a_held_key_uses_every_four_ticks():
    arena = arena_with("lever[facing=north]")
    arena.press("use", ticks=4)
    assert arena.at(*AHEAD) == state_of("lever[facing=north,powered=true]")
    arena.press("use")
    assert arena.at(*AHEAD) == state_of("lever[facing=north]")
    assert len(arena.events()) == 2


def test_an_iron_door_does_not_open_by_hand():
    arena = arena_with("iron_door[facing=south]")
    arena.look_at_block(*AHEAD)
    arena.press("use")
    assert arena.at(*AHEAD) == state_of("iron_door[facing=south]")
    assert arena.events() == []


@pytest.mark.parametrize(("kind", "ticks"), [("oak_button", 30), ("stone_button", 20)])
def test_a_button_comes_out_again_by_itself(kind, ticks):
    arena = arena_with(f"{kind}[facing=north]", slot=2)
    arena.press("use")
    pressed = state_of(f"{kind}[facing=north,powered=true]")
    assert arena.at(*AHEAD) == pressed
    arena.press("use", ticks=ticks - 1)
    assert arena.at(*AHEAD) == pressed
    arena.press()
    assert arena.at(*AHEAD) == state_of(f"{kind}[facing=north]")
    assert arena.events() == [(EVENT_BLOCK_USED, state_of(f"{kind}[facing=north]"), 2, flat(*AHEAD))]
    assert int(arena.state.terrain.block_EXZY[0, 16, 18, 11]) >> 12 == 2


def test_another_button_releases_the_first():
    arena = arena_with("oak_button[facing=north]")
    arena.put("oak_button[facing=north]", 18, 11, 18)
    arena.press("use")
    arena.press()
    arena.look_at_block(18, 11, 18)
    arena.press("use")
    assert arena.at(*AHEAD) == state_of("oak_button[facing=north]")
    assert arena.at(18, 11, 18) == state_of("oak_button[facing=north,powered=true]")


def test_a_button_that_was_mined_away_stays_away():
    arena = arena_with("oak_button[facing=north]")
    arena.press("use")
    arena.press("attack", ticks=40)
    assert arena.at(*AHEAD) == 0


@pytest.mark.parametrize("block", ["chest", "barrel", "furnace", "crafting_table", "oak_trapdoor", "oak_fence_gate"])
def test_using_wins_over_placing_unless_sneaking(block):
    arena = arena_with(block)
    arena.give("dirt", 5)
    arena.press("use")
    assert arena.count("dirt") == 5
    assert arena.events() == [(EVENT_BLOCK_USED, state_of(block), 0, flat(*AHEAD))]
    if block == "chest":
        assert arena.at(*AHEAD) == state_of("chest[open=true]")
    arena = arena_with(block)
    arena.give("dirt", 5)
    arena.press("use", "sneak")
    assert arena.count("dirt") == 4
    assert arena.at(*AHEAD) == state_of(block)


def test_sneaking_with_empty_hands_still_uses():
    arena = arena_with("lever[facing=north]")
    arena.press("use", "sneak")
    assert arena.at(*AHEAD) == state_of("lever[facing=north,powered=true]")


def test_a_mob_in_front_of_a_chest_shields_it():
    arena = arena_with("chest")
    arena.put_mob("cow", 16.5, GROUND_Y, 17.6)
    arena.look_at(16.5, 11.0, 17.6)
    arena.press("use")
    assert arena.events() == []


def test_food_heals_after_32_ticks_when_health_is_missing():
    arena = Arena()
    arena.give("bread", 3)
    arena.state.bodies.health_E[0] = 10.0
    arena.press("use", ticks=31)
    assert arena.state.bodies.health_E[0] == 10.0
    arena.press("use")
    assert arena.state.bodies.health_E[0] == 10.0 + TABLES.items.food_I[arena.state.hands.item_ES[0, 0]]
    assert arena.count("bread") == 2
    arena.state.bodies.health_E[0] = 20.0
    arena.press(ticks=2)
    arena.press("use", ticks=40)
    assert arena.count("bread") == 2


def test_a_meal_that_is_broken_off_is_not_eaten():
    arena = Arena()
    arena.give("apple")
    arena.state.bodies.health_E[0] = 10.0
    arena.press("use", ticks=31)
    arena.press()
    arena.press("use", ticks=31)
    assert arena.count("apple") == 1


def test_eating_hands_neither_mine_nor_hit():
    arena = arena_with("dirt")
    arena.give("apple")
    arena.state.bodies.health_E[0] = 5.0
    arena.press("use")
    arena.press("use", "attack", ticks=20)
    assert arena.at(*AHEAD) == state_of("dirt")


def test_who_mines_uses_nothing():
    arena = arena_with("chest")
    arena.press("attack", "use")
    arena.press("attack", "use", ticks=9)
    assert arena.events() == []
    assert arena.state.hands.mine_progress_E[0] > 0
    arena.press("use")  # the attack key is let go: the game notices after it has looked at the use key
    assert arena.events() == []
    arena.press("use")
    assert [event[0] for event in arena.events()] == [EVENT_BLOCK_USED]


def test_who_mines_on_does_not_place_what_comes_into_the_empty_hand():
    arena = arena_with("stone")
    arena.press("attack", "use", ticks=5)
    arena.give("dirt")
    change_hand(0, arena.state.hands)  # as move_drops does
    arena.press("attack", "use", ticks=5)
    assert arena.events() == []
    assert arena.count("dirt") == 1
    assert arena.state.hands.mine_progress_E[0] == pytest.approx(5 / 150)


@pytest.mark.parametrize("is_on_ground", [True, False])
def test_what_breaks_at_once_on_the_ground_alone_is_mined_and_not_used_in_the_air(is_on_ground):
    arena = arena_with("oak_leaves")
    arena.give("shears")
    arena.state.bodies.is_on_ground_E[0] = is_on_ground
    arena.press("attack", "use")
    assert (arena.at(*AHEAD) == 0) == is_on_ground
    assert (arena.state.hands.use_delay_ticks_E[0] > 0) == is_on_ground


def test_attack_and_use_at_once_use_what_breaks_at_once():
    arena = arena_with("poppy")
    arena.give("dirt")
    arena.press("attack", "use")
    assert arena.state.hands.use_delay_ticks_E[0] > 0


def test_a_mob_before_a_block_takes_the_blow_and_the_bow_is_drawn():
    arena = arena_with("stone")
    arena.give("bow")
    arena.give("arrow", slot=1)
    arena.look_at(16.5, 11.0, 18.5)
    arena.put_mob("cow", 16.5, GROUND_Y, 17.7)
    arena.press("attack", "use")
    assert [event[0] for event in arena.events()] == [EVENT_MOB_STRUCK]
    assert arena.state.hands.bow_ticks_E[0] == 1


def test_a_bow_is_not_drawn_while_a_block_is_mined_but_may_be_between_two():
    arena = arena_with("stone")
    arena.give("bow")
    arena.give("arrow", slot=1)
    arena.press("attack", ticks=3)
    arena.press("attack", "use", ticks=3)
    assert arena.state.hands.bow_ticks_E[0] == 0
    arena.put("air", *AHEAD)
    arena.look_at(16.5, 30.0, 18.5)
    arena.press("attack")
    arena.press("attack", "use")
    assert arena.state.hands.bow_ticks_E[0] == 1
