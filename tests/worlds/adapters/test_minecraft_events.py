"""Claims about reading Minecraft: what scans mean, and who did what."""

import pytest

from worlds.adapters.engine import BUTTONS, Event
from worlds.adapters.engines.minecraft_cells import Box, Cells
from worlds.adapters.engines.minecraft_entities import Entities
from worlds.adapters.engines.minecraft_events import Body, EventReader

FEET = (10, 64, 20)
START = (10.5, 64.0, 20.5, 0.0, 0.0)  # looks along +z
IDLE = [False] * len(BUTTONS)


def pressed(*keys):
    return [name in keys for name in BUTTONS]


def cells(**at):
    """Blocks by kind and offset from the agent's cell: stone=(0, -1, 0)."""
    rows = [{"x": x, "y": y, "z": z, "type": f"minecraft:{kind}"} for kind, (x, y, z) in at.items()]
    return Cells(Box.around(FEET, 7), rows, FEET)


def body(health=20.0, pose=START, in_hand=""):
    return Body(pose, health, True, in_hand)


def place(kind, x, y, z):
    return {"kind": kind, "position": (FEET[0] + x, FEET[1] + y, FEET[2] + z)}


def test_a_scan_is_asked_for_from_the_agents_cell_and_read_back_the_same():
    box = Box((8, 60, 18), (12, 66, 25))
    assert box.request(FEET) == [-2, 2, -4, 2, -2, 5]
    found = Cells(box, [{"x": -2, "y": -4, "z": 4, "type": "minecraft:stone"}], FEET)
    assert found[(8, 60, 24)] == "stone"
    assert found[(9, 60, 24)] == "air"


def test_what_a_scan_holds_beyond_its_far_corner_is_left_out():
    found = Cells(Box(FEET, (11, 65, 21)), [{"x": 1, "y": 0, "z": 0, "type": "stone"}], FEET)
    assert not found.kind


def test_a_box_that_moves_with_the_agent_is_compared_where_both_scans_were():
    before = Cells(Box.around((0, 64, 0), 1), [{"x": 1, "y": 0, "z": 0, "type": "stone"}], (0, 64, 0))
    after = Cells(Box.around((2, 64, 0), 1), [{"x": 1, "y": 0, "z": 0, "type": "dirt"}], (2, 64, 0))
    assert after.changed_since(before) == [((1, 64, 0), "stone", "air")]  # (3, 64, 0) was not seen before


@pytest.mark.parametrize(
    ("yaw_deg", "pitch_deg", "expected"),
    [(0.0, 0.0, (10, 65, 23)), (90.0, 0.0, (7, 65, 20)), (-90.0, 0.0, (13, 65, 20)), (0.0, 90.0, (10, 63, 20))],
)
def test_the_first_block_along_the_view_is_aimed_at(yaw_deg, pitch_deg, expected):
    near = {
        "stone": (0, 1, 3), "dirt": (-3, 1, 0), "sand": (3, 1, 0), "grass_block": (0, -1, 0), "water": (0, 1, 2),
    }  # fmt: skip
    assert cells(**near).aimed_at((10.5, 65.62, 20.5), yaw_deg, pitch_deg, 5.0) == expected
    assert cells(stone=(0, 1, 7)).aimed_at((10.5, 65.62, 20.5), 0.0, 0.0, 5.0) is None


def test_a_block_that_the_statistics_count_was_broken_by_the_agent():
    before = cells(gold_block=(0, 1, 3))
    reader = EventReader([place("gold_block", 0, 1, 3)], {"mine_block": {"gold_block": 4}}, before, body())
    events = reader.read(pressed("attack"), {"mine_block": {"gold_block": 5}}, cells(), body())
    assert events == [Event("block_broken", "gold_block", 0, (10, 65, 23), 0)]
    assert reader.changed == {(10, 65, 23): "gold_block"}


def test_a_block_that_vanishes_uncounted_was_not_the_agents_doing():
    placed, near = [place("gold_block", 0, 1, 3)], {"mobs": [mob("creeper", 1.0, 0.0, 3.0)]}
    for keys, info in ((IDLE, {}), (pressed("attack"), near)):  # nobody hit it, or a creeper may have
        reader = EventReader(placed, info, cells(gold_block=(0, 1, 3)), body())
        assert reader.read(keys, info, cells(), body()) == []
        assert reader.changed == {(10, 65, 23): "gold_block"}  # but it is put back


def test_of_two_blocks_that_vanish_the_counted_one_is_the_one_aimed_at():
    placed = [place("stone", 1, 1, 3), place("stone", 0, 1, 2)]
    rows = [{"x": x, "y": 1, "z": z, "type": "stone"} for x, z in ((1, 3), (0, 2))]
    reader = EventReader(placed, {}, Cells(Box.around(FEET, 7), rows, FEET), body())
    (event,) = reader.read(pressed("attack"), {"mine_block": {"stone": 1}}, cells(), body())
    assert event.object_index == 1


def test_a_door_is_used_when_use_goes_down_on_it_and_again_every_four_ticks():
    door = {"oak_door": (0, 1, 2)}
    reader = EventReader([place("oak_door[open=false]", 0, 0, 2)], {}, cells(**door), body())
    used = [bool(reader.read(pressed("use"), {}, cells(**door), body())) for _ in range(9)]
    assert used == [True, False, False, False, True, False, False, False, True]
    (event,) = EventReader([place("oak_door", 0, 0, 2)], {}, cells(**door), body()).read(
        pressed("use"), {}, cells(**door), body()
    )
    assert (event.name, event.object_index, event.subject) == ("block_used", 0, "oak_door[half=upper]")


@pytest.mark.parametrize(("z", "is_used"), [(20.1, True), (20.0, True), (19.9, False), (19.55, False)])
def test_a_door_is_used_as_far_as_a_hand_reaches_and_no_farther(z, is_used):
    door, pose = {"oak_door": (0, 1, 5)}, (10.5, 64.0, z + 0.5, 0.0, 0.0)
    reader = EventReader([], {}, cells(**door), body(pose=pose))
    assert bool(reader.read(pressed("use"), {}, cells(**door), body(pose=pose))) == is_used


@pytest.mark.parametrize(("keys", "object_index"), [(("use",), 1), (("use", "sneak"), 0)])
def test_who_sneaks_looks_from_lower(keys, object_index):
    pose = (10.5, 64.0, 20.5, 0.0, 15.0)  # the view enters the levers' column 1.22 above the feet, 0.87 sneaking
    rows = [{"x": 0, "y": y, "z": 2, "type": "lever"} for y in (0, 1)]
    levers = Cells(Box.around(FEET, 7), rows, FEET)
    reader = EventReader([place("lever", 0, 0, 2), place("lever", 0, 1, 2)], {}, levers, body(pose=pose))
    (event,) = reader.read(pressed(*keys), {}, levers, body(pose=pose))
    assert event.object_index == object_index


def test_who_sneaks_with_something_in_hand_uses_that_and_not_the_door():
    door = {"oak_door": (0, 1, 2)}
    reader = EventReader([], {}, cells(**door), body(in_hand="stone"))
    assert reader.read(pressed("use", "sneak"), {}, cells(**door), body(in_hand="stone")) == []


def test_a_chest_is_used_when_the_game_counts_it():
    chest = {"chest": (0, 1, 2)}
    reader = EventReader([place("chest", 0, 1, 2)], {}, cells(**chest), body())
    assert reader.read(pressed("use"), {"custom": {"open_chest": 0}}, cells(**chest), body()) == []
    (event,) = reader.read(pressed("use"), {"custom": {"open_chest": 1}}, cells(**chest), body())
    assert (event.name, event.object_index) == ("block_used", 0)


def test_a_placed_block_is_an_item_used_and_a_cell_filled():
    reader = EventReader([], {}, cells(), body())
    events = reader.read(pressed("use"), {"use_item": {"torch": 1}}, cells(wall_torch=(0, 1, 2)), body())
    assert events == [Event("block_placed", "wall_torch", 0, (10, 65, 22))]


def mob(name, x, y, z):
    return {"name": name, "x": x, "y": y, "z": z}


def test_the_mob_in_front_is_struck_and_killed_and_the_other_of_its_kind_is_not():
    placed = [place("cow", 3, 0, 0), place("cow", 0, 0, 2)]
    both = [mob("cow", 3.0, 0.0, 0.0), mob("cow", 0.0, 0.0, 2.0)]
    reader = EventReader(placed, {"mobs": both}, cells(), body())
    (blow,) = reader.read(pressed("attack"), {"mobs": both, "custom": {"damage_dealt": 70}}, cells(), body())
    assert blow == Event("mob_struck", "cow", 7, None, 1)
    assert [found.health for found in reader.mobs if found.object_index == 1] == [10.0]
    last = {"mobs": both[:1], "custom": {"damage_dealt": 100}, "kill_entity": {"cow": 1}}
    events = reader.read(pressed("attack"), last, cells(), body())
    assert [(event.name, event.object_index, event.amount) for event in events] == [
        ("mob_struck", 1, 3),
        ("mob_killed", 1, 0),
    ]


@pytest.mark.parametrize("pitch_deg", [8.0, 10.0, 15.0, 25.0])
def test_the_first_body_along_the_view_is_struck_and_not_one_behind_it(pitch_deg):
    placed = [place("cow", 0, 0, 7), place("cow", 0, 0, 2)]
    both = [mob("cow", 0.0, 0.0, 7.0), mob("cow", 0.0, 0.0, 2.0)]
    looking = body(pose=(*START[:4], pitch_deg))
    reader = EventReader(placed, {"mobs": both}, cells(), looking)
    (blow,) = reader.read(pressed("attack"), {"mobs": both, "custom": {"damage_dealt": 10}}, cells(), looking)
    assert blow.object_index == 1


def test_a_mob_of_no_placement_that_is_killed_in_front_of_the_tasks_own_is_no_deed_of_the_task():
    target, other = mob("cow", 0.0, 0.0, 7.0), mob("cow", 0.0, 0.0, 2.0)
    looking = body(pose=(*START[:4], 10.0))
    reader = EventReader([place("cow", 0, 0, 7)], {"mobs": [target, other]}, cells(), looking)
    last = {"mobs": [target], "custom": {"damage_dealt": 100}, "kill_entity": {"cow": 1}}
    events = reader.read(pressed("attack"), last, cells(), looking)
    assert [(event.name, event.object_index) for event in events] == [("mob_struck", -1), ("mob_killed", -1)]


def test_a_sneaking_blow_meets_what_it_would_miss_standing():
    placed = [place("cow", 0, 0, 5), place("pig", 0, 0, 3)]
    both = [mob("cow", 0.0, 0.0, 5.0), mob("pig", 0.0, 0.0, 3.0)]
    looking = body(pose=(*START[:4], 10.0))  # over the pig's back from a standing eye, into it from a sneaking one
    struck = [
        EventReader(placed, {"mobs": both}, cells(), looking).read(
            pressed("attack", *keys), {"mobs": both, "custom": {"damage_dealt": 10}}, cells(), looking
        )
        for keys in ((), ("sneak",))
    ]
    assert [event.object_index for (event,) in struck] == [0, 1]


def test_an_arrow_meets_what_a_hand_does_not_reach():
    placed = [place("zombie", 0, 0, 20), place("zombie", 0, 0, 6)]
    both = [mob("zombie", 0.0, 0.0, 20.0), mob("zombie", 0.0, 0.0, 6.0)]
    looking = body(pose=(*START[:4], 2.0), in_hand="bow")
    reader = EventReader(placed, {"mobs": both}, cells(), looking)
    reader.read(IDLE, {"mobs": both, "use_item": {"bow": 1}}, cells(), looking)
    told = {"mobs": both[:1], "use_item": {"bow": 1}, "kill_entity": {"zombie": 1}}
    assert reader.read(IDLE, told, cells(), looking) == [
        Event("mob_shot", "zombie", 20, None, 1),
        Event("mob_killed", "zombie", 1, None, 1),
    ]


def test_of_an_arrow_the_game_tells_that_it_killed():
    cow = [mob("cow", 0.0, 0.0, 20.0)]
    reader = EventReader([place("cow", 0, 0, 20)], {"mobs": cow}, cells(), body(in_hand="bow"), is_frail=True)
    for _ in range(20):
        assert reader.read(pressed("use"), {"mobs": cow}, cells(), body(in_hand="bow")) == []
    counts = {"mobs": cow, "use_item": {"bow": 1}}
    assert reader.read(IDLE, counts, cells(), body(in_hand="bow")) == [Event("arrow_shot", "arrow", 100)]
    killed = counts | {"mobs": [], "kill_entity": {"cow": 1}}
    assert reader.read(IDLE, killed, cells(), body(in_hand="bow")) == [
        Event("mob_shot", "cow", 1, None, 0),
        Event("mob_killed", "cow", 1, None, 0),
    ]


def test_a_block_that_goes_under_the_attack_key_was_broken_also_where_the_game_does_not_count_it():
    wall = cells(stone=(0, 1, 2))
    for lag in (0, 1, 2):  # by how many ticks a count comes after the change; 2 never does
        reader = EventReader([], {}, wall, body())
        told = [
            reader.read(pressed("attack"), {"mine_block": {"stone": 1}} if tick >= lag < 2 else {}, cells(), body())
            for tick in range(8)
        ]
        assert [event for events in told for event in events] == [Event("block_broken", "stone", 0, (10, 65, 22))]
    assert EventReader([], {}, wall, body()).read(IDLE, {}, cells(), body()) == []  # nobody hit it


def test_mobs_of_one_kind_keep_their_numbers_when_they_walk_past_each_other():
    entities = Entities([place("cow", 0, 0, 5), place("cow", 8, 0, 5)])
    for step in range(9):
        rows = [mob("cow", 8.0 - step, 0.0, 7.0), mob("cow", float(step), 0.0, 5.0)]
        entities.look(rows, START)
    assert {found.object_index: round(found.x - START[0]) for found in entities.mobs} == {0: 8, 1: 0}


def test_mobs_by_whole_offsets_stand_in_the_middle_of_their_cell():
    entities = Entities([])
    entities.look([mob("Polar Bear", 2, -1, 3), mob("item", 0, 0, 1)], (10.2, 64.5, 20.9, 0.0, 0.0))
    ((kind, x, y, z, *_),) = entities.mobs
    assert (kind, x, y, z) == ("polar_bear", 12.5, 63.0, 23.5)


def test_only_the_item_at_hand_is_the_placed_one():
    reader = EventReader([place("item:apple", 0, 0, 2), place("item:apple", 0, 0, 30)], {}, cells(), body())
    picked = [{"pickup": {"apple": count}} for count in (1, 2)]
    assert [event.object_index for event in reader.read(IDLE, picked[0], cells(), body())] == [0]
    assert [event.object_index for event in reader.read(IDLE, picked[1], cells(), body())] == [-1]


def test_health_lost_is_damage_and_the_last_of_it_death():
    zombie = [mob("zombie", 0.0, 0.0, 1.5)]
    reader = EventReader([], {"mobs": zombie}, cells(), body())
    assert reader.read(IDLE, {"mobs": zombie}, cells(), body(17.0)) == [Event("damage", "mob", 3)]
    assert [event.name for event in reader.read(IDLE, {"mobs": zombie}, cells(), body(0.0))] == ["damage", "death"]


def test_a_fall_is_known_by_the_way_down():
    reader = EventReader([], {}, cells(), body())
    for height in range(6, 0, -1):
        high = (*START[:1], START[1] + height, *START[2:])
        assert reader.read(IDLE, {}, cells(), Body(high, 20.0, False, "")) == []
    (event,) = reader.read(IDLE, {}, cells(), body(17.0))
    assert event == Event("damage", "fall", 3)
