"""`mcrl view`: the page in the browser. Every browser has a booth with a session of its own.

It holds no logic: what can be done is in eval.viewer.session, what is drawn in eval.viewer.scene.
"""

import logging
import secrets
import socket
import threading
import time
from collections.abc import Callable
from importlib.resources import files
from urllib.parse import quote

import viser
from websockets.asyncio.server import ServerConnection

from eval.viewer.app_booth import Booth
from eval.viewer.scene import prepare
from eval.viewer.server import CURRENT_TAB, open_server, page_html
from eval.viewer.session import ViewerSession
from eval.viewer.shared import Shared
from worlds.compile_sign import is_compiling

logger = logging.getLogger(__name__)

MAX_BOOTHS = 12  # a session takes about 40 MB
_LOOK_EVERY_S = 0.5
KEPT_S = 900.0  # a session waits so long for its browser to come back


class ViewerApp:
    """The server and the booths of its browsers."""

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str | None = None,
        shared: Shared | None = None,
        opening: Callable[[ViewerSession], None] = lambda session: None,
    ) -> None:
        """Serve at once; `opening` is done to every new session. ValueError: see eval.viewer.server.open_server."""
        self._shared = shared or Shared()
        self._opening = opening
        self._token = token
        self._host = host
        self._booths: dict[str, Booth] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._id = secrets.token_urlsafe(8)
        style, *scripts = (
            files("eval.viewer").joinpath(name).read_text(encoding="utf-8")
            for name in ("app_page.css", "app_software.js", "app_drawing.js", "app_page.js")
        )
        page = page_html(style=style, scripts=scripts)
        self.server = open_server(host=host, port=port, token=token, page=page, hands=self._serve_hands)
        prepare(self.server)
        self.server.on_client_connect(self._arrive)
        self.server.on_client_disconnect(self._go)
        for name, deed in (("viewer-sweeper", self._sweep), ("viewer-compiling", self._tell_of_compiling)):
            threading.Thread(target=deed, daemon=True, name=name).start()

    @property
    def address(self) -> str:
        """Return what to open in a browser, with the token where there is one.

        Where every address of this machine is served, that is its name: others cannot open 0.0.0.0.
        """
        host = socket.gethostname() if self._host in ("", "0.0.0.0", "::") else self._host
        host = f"[{host}]" if ":" in host else host
        end = "" if self._token is None else f"?token={quote(self._token, safe='')}"
        return f"http://{host}:{self.server.get_port()}/{end}"

    def booth(self, tab: str) -> Booth:
        """Return the booth of a page, made when there is none yet. ValueError: there are too many."""
        with self._lock:
            if tab not in self._booths:
                if len(self._booths) >= MAX_BOOTHS:
                    # A session in the middle of something ends seconds later, and this is the loop of all pages.
                    threading.Thread(target=self._take_longest_left().close, daemon=True, name="viewer-ending").start()
                self._booths[tab] = Booth(lambda: ViewerSession(self._shared), self._opening)
            booth = self._booths[tab]
            booth.left_at_s = None  # whoever asks is on the way: neither a new page nor the sweeper takes it away
            return booth

    def close(self) -> None:
        """Stop serving and end all sessions."""
        self._closing.set()
        self.server.stop()
        with self._lock:
            booths = list(self._booths.values())
            self._booths.clear()
        for booth in booths:
            booth.close()

    async def _arrive(self, client: viser.ClientHandle) -> None:
        # Coroutines that viser starts for a socket know its tab by context.
        tab = CURRENT_TAB.get()
        try:
            booth = self.booth(tab)
        except ValueError as error:
            client.add_notification("mcrl view", str(error), color="red")
            return
        booth.attach(client)

    async def _go(self, client: viser.ClientHandle) -> None:
        tab = CURRENT_TAB.get()
        booth = self._booths.get(tab)
        if booth is not None:
            booth.detach(client)

    async def _serve_hands(self, tab: str, connection: ServerConnection) -> None:
        try:
            booth = self.booth(tab)
        except ValueError:
            await connection.close(1013, "too many sessions")
            return
        booth.hands.show_server(self._id)
        await booth.serve_hands(connection)

    def _take_longest_left(self) -> Booth:
        """Take out the booth whose browser went first, and return it; the lock is held. ValueError: none has gone."""
        left = {tab: booth.left_at_s for tab, booth in self._booths.items() if booth.left_at_s is not None}
        if not left:
            raise ValueError(f"viewer: {MAX_BOOTHS} pages are open, which is as many as fit; close one")
        return self._booths.pop(min(left, key=lambda tab: left[tab] or 0.0))

    def _tell_of_compiling(self) -> None:
        """Show every page that the engine is compiled, for as long as it is."""
        was_compiling = False
        while not self._closing.wait(_LOOK_EVERY_S):
            is_now = is_compiling()
            if is_now or was_compiling:
                with self._lock:
                    booths = list(self._booths.values())
                for booth in booths:
                    booth.hands.show_compiling(is_now)
            was_compiling = is_now

    def _sweep(self) -> None:
        """Let sessions go whose browser has not come back."""
        while not self._closing.wait(5.0):
            now_s = time.monotonic()
            with self._lock:
                gone = [
                    tab
                    for tab, booth in self._booths.items()
                    if booth.left_at_s is not None and now_s - booth.left_at_s > KEPT_S
                ]
                booths = [self._booths.pop(tab) for tab in gone]
            # Without the lock, for which pages would wait as long as a session takes to end.
            for booth in booths:
                booth.close()
