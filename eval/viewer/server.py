"""viser's server behind our gate, and the second socket of every page: its keys, clicks, pictures and uploads.

viser opens its own socket server and offers no hook in front of it, so while it starts `websockets`' server class is
ours: it asks the gate first, leads the pages' second sockets to us and limits what a browser may send.
"""

import contextlib
import errno
import io
import logging
import socket
import warnings
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import viser
import websockets.asyncio.server
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import InvalidMessage
from websockets.http11 import Request, Response

from eval.viewer.server_gate import Gate, check_host, tab_of_path

MAX_MESSAGE_BYTES = 8 * 1024 * 1024  # of a browser: an uploaded picture is the largest
_PING_S = 20.0  # a browser that does not answer for so long is gone
_UPLOAD = b"FileTransfer"

HandsHandler = Callable[[str, ServerConnection], Awaitable[None]]
"""Serves a page's second socket until it closes: called with the tab."""

CURRENT_TAB: ContextVar[str] = ContextVar("CURRENT_TAB")
"""The tab whose browser a coroutine serves."""


class PageServer(viser.ViserServer):
    """viser's server without its ways to the outside: nothing is shared through anyone else's machine."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Return None: a public address would go round the gate."""
        return None

    def stop(self) -> None:
        """Stop serving, without a word."""
        with contextlib.redirect_stdout(io.StringIO()):
            super().stop()


class _FewerMessages:
    """A browser's socket as viser sees it, without uploads: viser collects them without a limit."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def recv(self) -> bytes | str:
        while True:
            message = await self._connection.recv()
            # A map of msgpack: its type may stand behind any number of bytes.
            if isinstance(message, bytes) and _UPLOAD not in message:
                return message


def open_server(*, host: str, port: int, token: str | None, page: bytes, hands: HandsHandler) -> PageServer:
    """Return a running server. Close it with `stop()`.

    Args:
        host: address to bind; loopback unless there is a token.
        port: 0 takes a free one, see `get_port()`.
        token: what a browser must know, see server_gate.
        page: the HTML that a browser gets.
        hands: serves the second sockets.

    Raises:
        ValueError: others could reach it and there is no token, or the port is taken.
    """
    check_host(host, token)
    check_port(host, port)
    # A page may close between two of our lines; what was meant for it is of no use to anyone.
    warnings.filterwarnings("ignore", message="Queued a .* on a closed connection", category=UserWarning)
    gate = Gate(page, token=token)
    with _gated(gate, hands) as opened, contextlib.redirect_stdout(io.StringIO()):
        server = PageServer(host=host, port=port, label="mcrl view", verbose=False)
    if len(opened) != 1:
        server.stop()
        raise RuntimeError(f"viser {viser.__version__} opens its socket in a new way; it would be without the gate")
    return server


def page_html(*, style: str, scripts: Sequence[str]) -> bytes:
    """Return viser's page with our style, scripts and title in it."""
    html = (Path(viser.__file__).parent / "client" / "build" / "index.html").read_text(encoding="utf-8")
    html = html.replace("<title>Viser</title>", "<title>mcrl view</title>", 1)
    head, end, rest = html.partition("</head>")
    ours = "".join(f"<script>\n{script}\n</script>" for script in scripts)
    return f"{head}<style>\n{style}\n</style>{ours}{end}{rest}".encode()


@contextlib.contextmanager
def _gated(gate: Gate, hands: HandsHandler) -> Iterator[list[object]]:
    """While it lasts, a socket server that is opened has the gate in front; yields those that were."""
    plain = websockets.asyncio.server.serve
    opened: list[object] = []

    class GatedServe(plain):  # type: ignore[misc, valid-type]
        def __init__(self, handler: Callable[[Any], Awaitable[None]], *args: Any, **options: Any) -> None:
            async def handle(connection: ServerConnection) -> None:
                place = tab_of_path(connection.request.path) if connection.request else None
                assert place is not None, "the gate lets no other socket through"
                CURRENT_TAB.set(place[0])
                if place[1] == "/hands":
                    await hands(place[0], connection)
                else:
                    await handler(_FewerMessages(connection))

            def ask(connection: ServerConnection, request: Request) -> Response | None:
                return gate.answer(request)

            options |= {"process_request": ask, "max_size": MAX_MESSAGE_BYTES}
            options |= {"ping_interval": _PING_S, "ping_timeout": _PING_S, "logger": _logger()}
            super().__init__(handle, *args, **options)
            opened.append(self)

    websockets.asyncio.server.serve = GatedServe  # type: ignore[misc]
    try:
        yield opened
    finally:
        websockets.asyncio.server.serve = plain  # type: ignore[misc]


def _logger() -> logging.Logger:
    """Return what the socket server tells of; not of those who are no browser (HEAD, POST, https), a page each."""
    logger = logging.getLogger(f"{__name__}.sockets")
    logger.addFilter(_is_of_a_browser)
    return logger


def _is_of_a_browser(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, InvalidMessage)


def check_port(host: str, port: int) -> None:
    """Raise ValueError when a port is taken: viser would quietly take the next one."""
    if not 0 <= port <= 65535:
        raise ValueError(f"view: --port must be in [0, 65535], got {port}; 0 takes a free one")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            other = "--port, or 0 for a free one"
            if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
                other = "--host, an address of this machine"
            raise ValueError(
                f"view: {host}:{port} cannot be opened ({error.strerror}); choose another {other}"
            ) from error
