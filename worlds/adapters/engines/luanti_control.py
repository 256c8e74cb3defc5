"""The line to the mod in Luanti's world: requests and what it tells after every step, over UDP on loopback."""

from __future__ import annotations

import json
import secrets
import select
import socket
import time
from typing import Any


class LuantiControl:
    """A socket that knows its peer by a random token, and the newest present it has heard."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.setblocking(False)
        self.port = int(self._socket.getsockname()[1])
        self.forget()

    def forget(self) -> None:
        """Expect another world: nobody is known any more."""
        self.token = secrets.token_hex(16)
        self.present: dict[str, Any] = {}
        self._peer: Any | None = None
        self._answers: dict[int, dict[str, Any]] = {}
        self._num_requests = 0

    def send(self, verb: str, **arguments: Any) -> int:
        """Send a request; return its number."""
        assert self._peer is not None, "nothing was heard of the mod yet"
        self._num_requests += 1
        text = json.dumps(dict(arguments, verb=verb, id=self._num_requests))
        self._socket.sendto((self.token + text).encode(), self._peer)
        return self._num_requests

    def answer(self, number: int) -> dict[str, Any] | None:
        """Return the answer to request `number` once it is there."""
        return self._answers.pop(number, None)

    def listen(self, time_limit_s: float) -> bool:
        """Take in what has come, waiting for at most `time_limit_s` for something; tell whether anything came."""
        deadline_s = time.monotonic() + time_limit_s
        has_heard = False
        while True:
            left_s = 0.0 if has_heard else max(0.0, deadline_s - time.monotonic())
            if not select.select([self._socket], [], [], left_s)[0]:
                return has_heard
            words, peer = self._socket.recvfrom(65536)
            text = words.decode(errors="replace")
            if not text.startswith(self.token):
                continue
            self._peer = peer
            message = json.loads(text[len(self.token) :])
            if "answer" in message:
                self._answers[int(message["answer"]["id"])] = message["answer"]
            elif message["present"].get("step", 0) >= self.present.get("step", 0):
                self.present = message["present"]
            has_heard = True

    def close(self) -> None:
        """Free the port."""
        self._socket.close()
