"""Claims about the wire server: it answers as the mod does, and its game does what commands say."""

import json
import socket
import struct

import numpy as np
import pytest

from tests.worlds.malmo.chat import Chat
from tests.worlds.malmo.dialect import NewNames, OldNames
from tests.worlds.malmo.framing import receive_message, send_message
from tests.worlds.malmo.game import Game
from tests.worlds.malmo.keys import read_step
from tests.worlds.malmo.mission import Mission, read_mission
from tests.worlds.malmo.server import MalmoServer
from worlds.blocks import STATE_ID, state_of
from worlds.items import ITEM_ID
from worlds.mobs.kinds import MOB_ID
from worlds.spec import WorldSpec

WORLD = WorldSpec(seed=3, size_blocks=(32, 64, 32), detail="plain")
ORIGIN = (500, 10, -700)
XML = """<MissionInit xmlns="http://ProjectMalmo.microsoft.com"><Mission><ServerSection><ServerHandlers>
<DefaultWorldGenerator seed="3" forceReset="true"/></ServerHandlers></ServerSection><AgentSection><AgentStart>
<Inventory><InventoryObject slot="2" type="log" metadata="2" quantity="5"/></Inventory></AgentStart><AgentHandlers>
<ObservationFromFullStats/><ObservationFromFullInventory flat="false"/><ObservationFromChat/><ObservationFromGrid>
<Grid name="feet" absoluteCoords="false"><min x="0" y="-1" z="0"/><max x="1" y="1" z="0"/></Grid></ObservationFromGrid>
<VideoProducer><Width>48</Width><Height>32</Height></VideoProducer></AgentHandlers></AgentSection></Mission>
</MissionInit>"""


class Client:
    """Speaks to a server as MineRL does."""

    def __init__(self, port: int) -> None:
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=300)  # kernels may be compiled first
        send_message(self.connection, b"<MalmoEnv0.37.0/>")

    def say(self, *messages: str) -> None:
        for message in messages:
            send_message(self.connection, message.encode())

    def hear(self) -> bytes:
        heard = receive_message(self.connection)
        assert heard is not None
        return heard

    def step(self, *lines: str) -> tuple[np.ndarray, dict]:
        self.say("<StepClient0>" + "\n".join(lines) + "</StepClient0 >")
        frame, (_, is_over, _), said = self.hear(), struct.unpack("!dbb", self.hear()), json.loads(self.hear())
        assert not is_over
        self.say("<StepServer></StepServer>")
        return np.frombuffer(frame, np.uint8).reshape(32, 48, 3)[::-1], said


@pytest.fixture(scope="module")
def server():
    with MalmoServer(WORLD, origin_blocks=ORIGIN) as running:
        yield running


@pytest.fixture
def client(server):
    speaker = Client(server.port)
    speaker.say("<Quit/>")
    assert speaker.hear() == struct.pack("!I", 1)
    speaker.say(XML, "uid:0:0:1:true")
    assert speaker.hear() == struct.pack("!I", 1)
    yield speaker
    speaker.connection.close()


def test_frames_go_out_with_the_lowest_row_first(server, client):
    image_HWC, _ = client.step()
    assert np.array_equal(image_HWC, server.game.tick.image_EHWC[0])


def test_keys_stay_down_until_they_are_let_go(client):
    _, first = client.step("forward 1")
    _, second = client.step()
    client.step("forward 0")
    for _ in range(20):
        _, last = client.step()
    _, still = client.step()
    assert second["zpos"] > first["zpos"]
    assert still["zpos"] == last["zpos"]


def test_the_camera_turns_by_pitch_then_yaw_in_degrees(client):
    _, said = client.step("camera 10.0 -30.0")
    assert (said["pitch"], said["yaw"]) == (10.0, -30.0)


def test_what_the_server_side_knows_is_one_tick_old(client):
    _, said = client.step("chat /setblock ~1 ~ ~ gold_block")
    assert said["feet"][3] == "air"  # the command is read after the client's half of this tick
    _, said = client.step()
    assert said["feet"][3] == "gold_block"


def test_the_missions_inventory_is_in_its_slots_under_old_names(client):
    _, said = client.step()
    assert said["inventory"][2] == {
        "type": "log", "quantity": 5, "metadata": 2, "index": 2, "inventory": "inventory"
    }  # fmt: skip
    assert len(said["inventory"]) == 41


def test_a_greeting_of_another_protocol_is_hung_up_on(server):
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        send_message(connection, b"<MalmoEnv0.99/>")
        assert receive_message(connection) is None


def test_a_mission_without_video_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="asks for no VideoProducer"):
        read_mission('<MissionInit xmlns="http://ProjectMalmo.microsoft.com"/>')


@pytest.mark.parametrize(("name", "number"), [("pitch", "1e-05"), ("yaw", "400.0"), ("x", "nan")])
def test_a_start_that_the_mods_schema_does_not_allow_is_refused(name, number):
    placement = f'<AgentStart><Placement x="1.5" y="-4" z="2" {name}="{number}"/>'
    if name == "x":
        placement = placement.replace('x="1.5" ', "")
    with pytest.raises(ValueError, match=f"{name} is '{number}', which the schema does not allow"):
        read_mission(XML.replace("<AgentStart>", placement))


def test_the_old_game_ends_when_a_window_opens(server):
    speaker = Client(server.port)
    speaker.say(XML, "uid:0:0:1:true")
    assert speaker.hear() == struct.pack("!I", 1)
    speaker.step("inventory 0")
    speaker.say("<StepClient0>inventory 1</StepClient0 >")
    assert receive_message(speaker.connection) is None
    speaker.connection.close()


def test_lines_of_a_step_are_keys_camera_chat_and_scans():
    order = read_step(
        "<StepClient0>forward 1\nhotbar.3 0\ncamera 1 2\nchat /say hi\nvoxels -1,1,0,0,2,3\n</StepClient0 >"
    )
    assert order.changes == {"forward": True, "hotbar.3": False}
    assert order.camera_deg == (1.0, 2.0)
    assert order.chat == ["/say hi"]
    assert order.boxes == {"voxels": [-1, 1, 0, 0, 2, 3]}


@pytest.fixture(scope="module")
def game():
    begun = Game(WORLD, origin_blocks=ORIGIN, num_ambient_mobs=0)
    begun.begin(Mission(image_px=(16, 16)))
    yield begun
    begun.close()


@pytest.fixture
def old(game):
    return Chat(game, OldNames(), "Agent")


@pytest.fixture
def new(game):
    return Chat(game, NewNames(), "Agent")


def test_tp_puts_the_agent_where_it_is_told(game, old):
    old.say("/tp @p 510.25 60 -690.5 90 -10")
    assert game.feet() == (510.25, 60.0, -690.5, 90.0, -10.0)


def test_blocks_are_set_by_the_names_of_either_version(game, old, new):
    old.say("/setblock 505 60 -695 minecraft:log 6")
    new.say("/setblock 506 60 -695 minecraft:birch_log[axis=x]")
    wanted = state_of("birch_log", axis="x")
    assert game.states_in((505, 60, -695), (506, 60, -695)).tolist() == [[[wanted, wanted]]]


def test_fill_replaces_only_what_it_is_told_to(game, new):
    new.say("/fill 510 65 -690 512 65 -690 stone")
    new.say("/setblock 511 65 -690 dirt")
    new.say("/fill 510 65 -690 512 65 -690 gold_block replace stone")
    stone, dirt = STATE_ID["gold_block"], STATE_ID["dirt"]
    assert game.states_in((510, 65, -690), (512, 65, -690)).ravel().tolist() == [stone, dirt, stone]


def test_what_is_too_much_or_unknown_is_answered_and_changes_nothing(game, new):
    before = game.states_in((500, 10, -700), (531, 73, -669)).copy()
    for line, answer in (
        ("/fill 500 10 -700 531 73 -669 stone", "Too many blocks"),
        ("/setblock 500 300 -700 stone", "outside of the world"),
        ("/setblock 500 60 -700 unobtainium", "Unknown block type"),
        ("/setblock 500 60 -700 lever[facing=up]", "does not accept 'up' for facing"),
        ("/dance", "Unknown command"),
    ):
        new.say(line)
        assert answer in new.answers[-1]
    assert np.array_equal(game.states_in((500, 10, -700), (531, 73, -669)), before)


def test_a_game_without_feedback_says_what_went_wrong_alone(old):
    old.say("/gamerule sendCommandFeedback false")
    old.say("/time set 6000")
    assert old.answers == []
    old.say("/dance")
    assert len(old.answers) == 1
    old.say("/gamerule sendCommandFeedback true")
    assert len(old.answers) == 2


def test_mobs_and_items_come_and_go(game, old):
    old.say("/summon mooshroom 510.5 60 -690.5 {PersistenceRequired:1}")
    old.say('/summon item 511.5 60 -690.5 {Item:{id:"minecraft:coal",Count:1,Damage:1},Age:-32768}')
    assert game.state.mobs.kind_EM[0].max() == MOB_ID["mooshroom"]
    assert game.drops()[0]["item"] == "charcoal"
    old.say("/kill @e[type=!player]")
    assert not game.mobs()
    assert not game.drops()


def test_slots_are_filled_and_cleared(game, old):
    old.say("/replaceitem entity @p slot.hotbar.3 diamond_axe 1 0")
    old.say("/give @p wool 7 14")
    assert game.items()[3] == ("diamond_axe", 1)
    assert ("red_wool", 7) in game.items()
    old.say("/clear")
    assert set(game.items()) == {("air", 0)}
    assert "red_wool" in ITEM_ID


def test_a_spectator_hovers(game, old):
    old.say("/gamemode 3 @p")
    old.say("/tp @p 510 70 -690 0 0")
    for _ in range(5):
        game.play(np.ones(20, bool), (0.0, 0.0))
    assert game.feet()[1] == 70.0
    old.say("/gamemode 0 @p")
    game.play(np.zeros(20, bool), (0.0, 0.0))
    game.play(np.zeros(20, bool), (0.0, 0.0))
    assert game.feet()[1] < 70.0
