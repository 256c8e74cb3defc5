"""The server: answers Malmo's messages as MalmoEnvServer.java does, frames from our engine."""

import contextlib
import json
import socket
import struct
import threading
from types import TracebackType

import numpy as np

from tests.worlds.malmo.chat import Chat
from tests.worlds.malmo.dialect import Dialect, OldNames
from tests.worlds.malmo.faults import Fault, FaultKind
from tests.worlds.malmo.framing import receive_message, send_message
from tests.worlds.malmo.game import Game
from tests.worlds.malmo.keys import Keyboard, StepOrder, read_step
from tests.worlds.malmo.mission import Mission, read_mission
from tests.worlds.malmo.report import boxes_part, client_part, server_part
from worlds.spec import WorldSpec

PLAYER = "MineRLAgent0"
PROTOCOL = "<MalmoEnv0.37.0"
_OK, _NO = struct.pack("!I", 1), struct.pack("!I", 0)


class MalmoServer:
    """One Minecraft of one agent on a port of its own. Use as a context manager."""

    def __init__(
        self,
        world: WorldSpec,
        *,
        dialect: Dialect | None = None,
        origin_blocks: tuple[int, int, int] = (0, 0, 0),
        num_ambient_mobs: int = 0,
        port: int = 0,
        fault: Fault | None = None,
    ) -> None:
        """Listen on a loopback port (0: a free one) and serve worlds like `world`."""
        self.game = Game(world, origin_blocks=origin_blocks, num_ambient_mobs=num_ambient_mobs)
        self.dialect = dialect or OldNames()
        self.fault = fault
        self.mission: Mission | None = None
        self.num_missions = 0
        self.sent_HWC: np.ndarray | None = None  # the frame sent last, row 0 the top
        self._chat = Chat(self.game, self.dialect, PLAYER)
        self._keyboard = Keyboard()
        self._waiting: list[str] = []  # chat lines that the game's server has not read yet
        self._known: dict[str, object] = {}  # what the game's server has told the client
        self._is_over = False
        self._is_window_open = False  # of 1.16.5: keys do nothing but leave it
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        self._is_closed = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, name="malmo-server", daemon=True)
        self._thread.start()

    def __enter__(self) -> "MalmoServer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Hang up and free the port."""
        self._is_closed.set()
        for connection in (self._listener, *self._connections):
            # A thread that waits on it is not woken by close alone.
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        self._thread.join(timeout=5)
        self.game.close()

    def _accept(self) -> None:
        while not self._is_closed.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            # Without it small answers wait for the client's next message: 48 ms a step were seen.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._connections.add(connection)
            threading.Thread(target=self._serve, args=(connection,), name="malmo-client", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            hello = receive_message(connection)
            if hello is None or not hello.startswith(PROTOCOL.encode()):
                return
            while (message := receive_message(connection)) is not None:
                if not self._answer(connection, message.decode("utf-8")):
                    return
        except (OSError, ValueError, struct.error):
            if not self._is_closed.is_set():
                raise
        finally:
            self._connections.discard(connection)
            connection.close()

    def _answer(self, connection: socket.socket, message: str) -> bool:
        """Answer one message; return whether the connection stays."""
        if self.fault is not None and self.fault.is_due(message):
            return self._fail(connection, self.fault.kind)
        with self._lock:
            if message.startswith("<StepClient"):
                order = read_step(message)
                if order.changes.get("inventory") and self.dialect.version == "1.11.2":
                    return False  # MalmoModClient.java: a window that opens ends the game
                answers = self._step(order)
            elif message.startswith("<StepServer"):
                self._step_server()
                answers = []  # the one message that is not answered
            elif message.startswith("<Peek"):
                answers = self._peek()
            elif message.startswith("<MissionInit"):
                token = receive_message(connection)
                answers = [_OK if token is not None and self._begin(message, token.decode()) else _NO]
            elif message.startswith("<Quit"):
                answers = [_OK]
            elif message.startswith(("<Init", "<Close", "<Interact", "<Exit")):
                answers = [_OK]
            elif message.startswith("<Find"):
                answers = [_NO]
            elif message.startswith("<Status"):
                answers = [b"{}"]
            elif message.startswith("<Echo"):
                answers = [f"<Echo>{message}</Echo>".encode()]
            elif message.startswith("<Disconnect"):
                return False
            else:
                raise ValueError(f"Unknown env service command: {message[:80]}")
        for answer in answers:
            send_message(connection, answer)
        return not message.startswith("<Exit")

    def _begin(self, xml: str, token: str) -> bool:
        """Start a mission; the token is uid:role:reset:agents:synchronous[:seed]."""
        mission = read_mission(xml)
        parts = token.split(":")
        if mission.seed is None and len(parts) > 5:
            mission = Mission(**{**mission.__dict__, "seed": int(parts[5])})
        self.mission, self._is_over = mission, False
        self.num_missions += 1
        self.game.begin(mission)
        for slot, item, data, count in mission.inventory:
            self.game.put_item(slot, self.dialect.read_item(item, data), count)
        self._keyboard, self._waiting, self._is_window_open = Keyboard(), [], False
        self._chat.answers.clear()
        self._step_server()
        return True

    def _step(self, order: StepOrder) -> list[bytes]:
        """Let the client's half of a tick pass."""
        assert self.mission is not None, "no mission has begun"
        self._keyboard.change(order.changes)
        self._waiting += order.chat
        if self._is_window_open and not self._is_over:
            self._is_window_open = not order.changes.get("inventory")
            self.game.play(np.zeros_like(self._keyboard.is_down_B), (0.0, 0.0))
        elif not self._is_over:
            num_uses = self.game.counters.num_windows
            self.game.play(self._keyboard.is_down_B, order.camera_deg)
            is_opened = self.game.counters.num_windows > num_uses or bool(order.changes.get("inventory"))
            self._is_window_open = is_opened and self.dialect.version != "1.11.2"
        self._is_over = bool(self.game.state.bodies.health_E[0] <= 0)
        report = self._report() | boxes_part(self.game, order.boxes, self.dialect)
        return [self._frame(), struct.pack("!dbb", 0.0, self._is_over, 1), json.dumps(report).encode()]

    def _step_server(self) -> None:
        """Let the server's half of a tick pass: it reads the chat, and tells the client what it wants to know."""
        assert self.mission is not None, "no mission has begun"
        for line in self._waiting:
            self._chat.say(line)
        self._waiting = []
        self._known = server_part(self.game, self.mission, self.dialect)

    def _peek(self) -> list[bytes]:
        self.game.render()
        return [self._frame(), json.dumps(self._report()).encode(), struct.pack("!b", self._is_over)]

    def _report(self) -> dict[str, object]:
        assert self.mission is not None, "no mission has begun"
        seen = client_part(self.game, self.mission, self.dialect, PLAYER, self._chat.answers)
        self._chat.answers.clear()
        return {**seen, **self._known} | ({"isGuiOpen": True} if self._is_window_open else {})

    def _frame(self) -> bytes:
        """Return the pixels, lowest row first."""
        self.sent_HWC = self.game.tick.image_EHWC[0].copy()
        return self.sent_HWC[::-1].tobytes()

    def _fail(self, connection: socket.socket, kind: FaultKind) -> bool:
        frame = self._frame() if self.game.backend is not None else bytes(64)
        if kind is FaultKind.CLOSE:
            return False
        if kind is FaultKind.HALF:
            connection.sendall(struct.pack("!I", len(frame)) + frame[: len(frame) // 2])
        elif kind is FaultKind.GARBAGE:
            connection.sendall(b"\x00\x00\x00\x07garbage" * 3)
        elif kind in (FaultKind.SIZE, FaultKind.JSON):
            send_message(connection, frame if kind is FaultKind.JSON else frame[:-3])
            send_message(connection, struct.pack("!dbb", 0.0, 0, 1))
            send_message(connection, b"{}" if kind is FaultKind.SIZE else b"{broken")
            return True
        self._is_closed.wait()
        return False
