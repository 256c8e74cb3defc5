"""The second socket of a page: what it is shown besides the 3-D scene, and what its person does with keys and mouse.

Outgoing pictures replace those that a slow browser has not taken yet, so nothing piles up.
"""

import asyncio
import io
import json
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import websockets.exceptions
from PIL import Image
from websockets.asyncio.server import ServerConnection

TAG_GOAL, TAG_MASK, TAG_AGENT, TAG_RIVAL = 1, 2, 3, 4
_JPEG_QUALITY = 88
_MAX_TEXT_BYTES = 4096
_LOSE_AFTER = 16  # sentences kept for a page that is not there


class Hands:
    """What one page is shown, and the socket that takes it there while there is one."""

    def __init__(self) -> None:
        """Begin without a page; what is offered waits for it."""
        self._lock = threading.Lock()  # of what waits: the session's thread adds to it, the server's loop takes
        self._offered: dict[str, bytes | str] = {}
        self._sentences: list[str] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_news: asyncio.Event | None = None
        self._connection: ServerConnection | None = None

    @property
    def is_open(self) -> bool:
        """Return whether a page is there."""
        return self._connection is not None

    # ---- from the session's thread ----

    def show_state(self, state: dict[str, Any]) -> None:
        """Show words and numbers; see `hear` in app_page.js."""
        self._offer("state", json.dumps(state, separators=(",", ":")))

    def show_goal(self, image_HWC: np.ndarray | None, mask_HW: np.ndarray | None) -> None:
        """Show the goal picture, uint8 [256, 256, 3], with its mask, bool [256, 256], to the pixel; None clears it."""
        self._offer("goal", bytes([TAG_GOAL]) + (b"" if image_HWC is None else _encoded(image_HWC, "PNG")))
        if mask_HW is None:
            with self._lock:
                self._offered.pop("mask", None)  # of a picture that no browser has taken yet
        else:
            self._offer("mask", bytes([TAG_MASK]) + np.packbits(mask_HW).tobytes())

    def show_agent(self, image_HWC: np.ndarray | None, *, is_rival: bool = False) -> None:
        """Show what an agent sees, uint8 [H, W, 3]; None clears it."""
        tag = bytes([TAG_RIVAL if is_rival else TAG_AGENT])
        self._offer("rival" if is_rival else "agent", tag + (b"" if image_HWC is None else _encoded(image_HWC, "JPEG")))

    def show_compiling(self, is_compiling: bool) -> None:
        """Show that the engine is compiled, which keeps everything waiting, or that it is over."""
        self._offer("compiling", json.dumps({"compiling": is_compiling}))

    def show_server(self, server_id: str) -> None:
        """Let the page know which start of the viewer this is: another one has no session of it."""
        self._offer("server", json.dumps({"server": server_id}))

    def use_tool(self, tool: str) -> None:
        """Let the mouse click, brush or erase in the goal picture."""
        self._offer("tool", json.dumps({"tool": tool}))

    def say(self, sentence: str, *, is_fine: bool = False) -> None:
        """Show a sentence to the person."""
        with self._lock:
            self._sentences = [*self._sentences, json.dumps({"said": sentence, "fine": is_fine})][-_LOSE_AFTER:]
        self._wake()

    # ---- on the server's loop ----

    async def serve(self, connection: ServerConnection, hear: Callable[[dict[str, Any] | bytes], None]) -> None:
        """Serve a page until it is gone; `hear` gets what it says, an object of JSON or an uploaded picture."""
        self._loop, self._is_news = asyncio.get_running_loop(), asyncio.Event()
        self._connection = connection
        self._is_news.set()
        sender = asyncio.create_task(self._send(connection, self._is_news))
        try:
            async for message in connection:
                if isinstance(message, bytes):
                    hear(message)
                elif len(message) <= _MAX_TEXT_BYTES:
                    spoken = _parsed(message)
                    if spoken is not None:
                        hear(spoken)
        except websockets.exceptions.ConnectionClosed:
            pass
        finally:
            sender.cancel()
            if self._connection is connection:
                self._connection = None

    async def _send(self, connection: ServerConnection, is_news: asyncio.Event) -> None:
        while True:
            await is_news.wait()
            is_news.clear()
            while (message := self._taken()) is not None:
                try:
                    await connection.send(message)
                except websockets.exceptions.ConnectionClosed:
                    return

    def _taken(self) -> bytes | str | None:
        """Take out what the page hears next, None where nothing waits."""
        with self._lock:
            if self._sentences:
                return self._sentences.pop(0)
            return self._offered.pop(next(iter(self._offered))) if self._offered else None

    def _offer(self, name: str, content: bytes | str) -> None:
        with self._lock:
            self._offered[name] = content
        self._wake()

    def _wake(self) -> None:
        if self._loop is not None and self._is_news is not None and self._connection is not None:
            self._loop.call_soon_threadsafe(self._is_news.set)


def _encoded(image_HWC: np.ndarray, kind: str) -> bytes:
    out = io.BytesIO()
    options: dict[str, Any] = {"quality": _JPEG_QUALITY} if kind == "JPEG" else {"compress_level": 1}
    Image.fromarray(np.ascontiguousarray(image_HWC)).save(out, kind, **options)
    return out.getvalue()


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        spoken = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None
    return spoken if isinstance(spoken, dict) else None
