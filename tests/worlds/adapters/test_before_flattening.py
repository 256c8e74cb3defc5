"""Claims about the names of Minecraft 1.11.2 and about what is read from the reports of its mod."""

import numpy as np
import pytest

from tests.worlds.malmo.mission import read_mission
from worlds.adapters.engine import BUTTONS, EngineError
from worlds.adapters.engines.before_flattening import new_block, new_item, new_mob, old_block, old_item, old_mob
from worlds.adapters.engines.chat_commands import MOBS as MOB_NAMES
from worlds.adapters.engines.chat_commands import block_lines, entity_line, is_entity, still_world
from worlds.adapters.engines.malmo_events import EventReader, placed_objects
from worlds.adapters.engines.malmo_mission import Mission, agent_start
from worlds.adapters.engines.malmo_report import NEARBY, Aim, Entity, Report, read_report
from worlds.adapters.engines.minecraft_look import with_field_of_view
from worlds.adapters.engines.old_scan import scan_of_old_names
from worlds.blocks import BLOCKS, STATE_ID, STATES, state_of
from worlds.items import ITEMS
from worlds.mobs.kinds import MOBS

USING = [name == "use" for name in BUTTONS]
PRESSED = [name == "attack" for name in BUTTONS]
IDLE = [False] * len(BUTTONS)
_VIDEO = "<VideoProducer><Width>8</Width><Height>8</Height></VideoProducer>"


def test_every_state_has_an_old_name_and_data_of_four_bits_that_leads_back_to_a_block_of_ours():
    for state in STATES:
        old = old_block(state.name)
        assert 0 <= old.data < 16, state.name
        assert state_of(new_block(old.name)) >= 0


@pytest.mark.parametrize(
    ("state", "name", "data"),
    [
        ("birch_log[axis=x]", "log", 6),
        ("dark_oak_planks", "planks", 5),
        ("red_wool", "wool", 14),
        ("oak_door[facing=west,half=lower,hinge=left,open=true]", "wooden_door", 6),
        ("oak_stairs[facing=south,half=top]", "oak_stairs", 6),
        ("chest[facing=east,open=false]", "chest", 5),
        ("lever[facing=up,powered=true]", "lever", 13),
        ("stone_slab[type=double]", "double_stone_slab", 0),
        ("wall_torch[facing=north]", "torch", 4),
        ("snow[layers=3]", "snow_layer", 2),
        ("diamond_block", "diamond_block", 0),
    ],
)
def test_facing_halves_and_colours_are_the_old_numbers(state, name, data):
    assert old_block(state) == (name, data)


def test_items_that_1_11_2_had_come_back_under_their_own_names():
    lost = {item.name for item in ITEMS if new_item(*old_item(item.name)) != item.name}
    # Blocks and items of later versions, and what shares its item with another.
    assert all(
        name.endswith("_concrete") or name.startswith("netherite_") or name in STATE_ID
        or name in ("sweet_berries", "dried_kelp")
        for name in lost
    )  # fmt: skip
    assert len(lost) < 45


def test_mobs_are_told_from_blocks_and_found_again_by_either_old_name():
    assert {mob.name for mob in MOBS} <= MOB_NAMES
    assert not MOB_NAMES & {block.name for block in BLOCKS}
    assert is_entity("item:apple")
    for mob in MOBS:
        summoned, seen = old_mob(mob.name)
        if summoned and mob.name != "cat":
            assert new_mob(seen) == mob.name
    assert new_mob("mushroom_cow") == "mooshroom"


def test_a_mob_that_came_later_is_refused_by_name():
    with pytest.raises(EngineError, match=r"1\.11\.2 has no fox"):
        entity_line("fox", (0, 0, 0), is_old=True)


@pytest.mark.parametrize("is_old", [True, False])
def test_a_start_is_written_in_digits_that_the_mods_schema_allows(is_old):
    start = (-1.25e-05, 64.0, 1234567.5, -725.0, 1e-12)
    (placement,) = agent_start(Mission(start=start), is_old=is_old)
    xml = f'<MissionInit xmlns="http://ProjectMalmo.microsoft.com">{_VIDEO}{placement}</MissionInit>'
    x, y, z, yaw, pitch = read_mission(xml).start
    assert (x, y, z, yaw, pitch) == pytest.approx((-1.25e-05, 64.0, 1234567.5, -5.0, 0.0), abs=1e-9)


def test_a_world_is_told_to_be_silent_before_it_is_told_anything_else():
    assert still_world({})[0] == "/gamerule sendCommandFeedback false"


def test_a_games_settings_get_our_field_of_view_and_keep_all_others():
    assert with_field_of_view("version:922\nfov:1.5\ngamma:2.0\n") == "version:922\ngamma:2.0\nfov:0.0\n"


def test_doors_and_tall_plants_are_set_with_both_halves():
    lines = block_lines("oak_door[facing=north,half=lower,hinge=left,open=false]", (1, 2, 3), is_old=True)
    assert lines == ["/setblock 1 2 3 minecraft:wooden_door 3", "/setblock 1 3 3 minecraft:wooden_door 8"]
    assert len(block_lines("sunflower[half=lower]", (0, 0, 0), is_old=False)) == 2


def test_of_two_plants_or_doors_on_each_other_the_upper_one_is_the_upper_half():
    names = {"air": 0, "double_plant": 1, "wooden_door": 2, "log": 3}
    scan = scan_of_old_names(names, np.array([[[3, 1, 1, 0], [2, 2, 2, 2]]], np.uint16))
    halves = ["oak_door", "oak_door[half=upper]"]
    assert [scan.names[number] for number in scan.index_XZY[0, 0]] == [
        "oak_log", "tall_grass", "tall_grass[half=upper]", "air"
    ]  # fmt: skip
    assert [scan.names[number] for number in scan.index_XZY[0, 1]] == halves * 2


def aim_at(cell, name="gold_block"):
    x, y, z = cell
    return Aim(True, name, cell, (x, y, z - 1), (x + 0.5, y + 0.5, float(z)))


def test_a_block_counts_as_broken_by_the_agent_only_when_the_games_statistics_say_so():
    cell = (5, 6, 7)
    placed = placed_objects([("gold_block", cell)], is_old=True)
    first = Report(aim=aim_at(cell), watched={0: "gold_block"}, counters={"mine_block": {}})
    events = EventReader(placed, first, is_old=True)
    assert events.read(first, PRESSED) == []
    taken = Report(aim=aim_at((5, 6, 8), "stone"), watched={0: "air"}, counters={"mine_block": {}})
    assert events.read(taken, PRESSED) == []  # a creeper took it
    assert events.changed() == [(cell, "air")]
    mined = Report(aim=aim_at((5, 6, 8), "stone"), watched={0: "air"}, counters={"mine_block": {"gold_block": 1}})
    (event,) = events.read(mined, PRESSED)
    assert (event.name, event.cell, event.object_index) == ("block_broken", cell, 0)


def test_of_two_objects_of_a_kind_the_one_under_the_crosshair_was_broken():
    cells = [(5, 6, 7), (5, 6, 8)]
    placed = placed_objects([("gold_block", cell) for cell in cells], is_old=True)
    watched = {0: "gold_block", 1: "gold_block"}
    events = EventReader(placed, Report(watched=watched), is_old=True)
    events.read(Report(aim=aim_at(cells[0]), watched=watched), PRESSED)
    mined = Report(aim=aim_at(cells[1]), watched=watched, counters={"mine_block": {"gold_block": 1}})
    (event,) = events.read(mined, PRESSED)
    assert event.object_index == 0


def test_a_mob_that_loses_life_without_a_blow_is_not_struck_by_the_agent():
    cow, hurt = Entity("cow", 1, 2, 3, 10, 0), Entity("cow", 1, 2, 3, 8, 0)
    events = EventReader(placed_objects([("cow", (0, 2, 2))], is_old=True), Report(entities={"a": cow}), is_old=True)
    assert events.object_of("a") == 0
    assert events.read(Report(entities={"a": hurt}), IDLE) == []


@pytest.mark.parametrize(("kind", "seen"), [("cat", "Ozelot"), ("mooshroom", "MushroomCow"), ("iron_golem", None)])
def test_a_placed_mob_is_found_by_the_name_that_the_old_game_shows(kind, seen):
    row = {"name": seen or old_mob(kind)[1], "id": "a", "life": 10.0, "x": 0.5, "y": 2.0, "z": 2.5}
    said = {"xpos": 0, "ypos": 2, "zpos": 0, "yaw": 0, "pitch": 0, NEARBY: [row]}
    first = read_report(said, is_old=True, player="MineRLAgent0")
    assert EventReader(placed_objects([(kind, (0, 2, 2))], is_old=True), first, is_old=True).object_of("a") == 0


def test_health_lost_is_damage_whether_or_not_the_game_says_of_what_it_was():
    events = EventReader([], Report(), is_old=False)
    (told,) = events.read(Report(health=15.0), IDLE)
    assert (told.name, told.subject, told.amount) == ("damage", "block", 5)
    assert [event.name for event in events.read(Report(health=0.0), IDLE)] == ["damage", "death"]


def test_the_cause_of_harm_may_be_told_a_tick_before_the_health_that_it_takes():
    events = EventReader([], Report(), is_old=True)
    assert events.read(Report(damage_type="fall"), IDLE) == []
    assert [event.subject for event in events.read(Report(health=0.0), IDLE)] == ["fall", "fall"]


@pytest.mark.parametrize("num_late_ticks", [0, 1, 3])
@pytest.mark.parametrize(("num_ticks", "charge"), [(5, 19), (10, 42), (20, 100), (40, 100)])
def test_a_shot_is_as_strong_as_the_bow_was_drawn_however_late_it_is_told(num_ticks, charge, num_late_ticks):
    events = EventReader([], bow(0), is_old=True)
    for _ in range(num_ticks):
        assert events.read(bow(0), USING) == []
    for _ in range(num_late_ticks):
        assert events.read(bow(0), IDLE) == []
    (shot,) = events.read(bow(1), IDLE)
    assert (shot.name, shot.amount) == ("arrow_shot", charge)


def bow(num_shots):
    return Report(items=[("bow", 1)], counters={"use_item": {"bow": num_shots}})


@pytest.mark.parametrize(("agent_x", "object_index"), [(1.0, 0), (60.0, -1)])
def test_an_item_that_vanishes_is_the_one_picked_up_only_where_the_agent_stood_beside_it(agent_x, object_index):
    apple = Entity("item:apple", 0.5, 0.0, 0.5, 0.0, 0.0)

    def report(num_picked, entities):
        return Report(pose=(agent_x, 0, 0, 0, 0), entities=entities, counters={"pickup": {"apple": num_picked}})

    placed = placed_objects([("item:apple", (0, 0, 0))], is_old=False)
    events = EventReader(placed, report(0, {"a": apple}), is_old=False)
    assert events.read(report(0, {}), IDLE) == []  # out of sight, or taken, of which the game tells late
    (picked,) = events.read(report(1, {}), IDLE)
    assert (picked.name, picked.object_index) == ("item_picked", object_index)


def test_an_item_that_was_never_seen_is_not_picked_up():
    placed = placed_objects([("item:apple", (0, 0, 0))], is_old=False)
    events = EventReader(placed, Report(counters={"pickup": {"apple": 0}}), is_old=False)
    (picked,) = events.read(Report(counters={"pickup": {"apple": 1}}), IDLE)
    assert picked.object_index == -1


def test_a_report_without_what_only_old_games_say_is_read_all_the_same():
    said = {"xpos": 1, "ypos": 2, "zpos": 3, "yaw": 4, "pitch": 5, "mine_block": {"oak_log": 2}, "health": 7.0,
            "inventory": [{"slot_id": 4, "type": "apple", "quantity": 3}]}  # fmt: skip
    report = read_report(said, is_old=False, player="MineRLAgent0")
    assert report.pose == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert report.health == 7.0
    assert report.items[4] == ("apple", 3)
    assert report.counters["mine_block"] == {"oak_log": 2}
    with pytest.raises(KeyError):
        read_report({}, is_old=True, player="MineRLAgent0")
