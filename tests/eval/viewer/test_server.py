"""Who gets the page and who does not: asked of the real server."""

import contextlib
import http.client
import queue
import socket
import sys
import threading
import time
from urllib.parse import quote

import cv2
import numpy as np
import pytest

viser = pytest.importorskip("viser", reason="needs viser: pip install 'mcrl[view]'")

import msgspec.msgpack  # noqa: E402
import websockets.exceptions  # noqa: E402
from viser._messages import FileTransferPart, GuiUpdateMessage  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

from eval.viewer.app import ViewerApp  # noqa: E402
from eval.viewer.app_booth import Booth  # noqa: E402
from eval.viewer.server import CURRENT_TAB, MAX_MESSAGE_BYTES, open_server, page_html  # noqa: E402
from eval.viewer.session import ViewerSession  # noqa: E402
from tests.eval.viewer.made_goals import WORLD  # noqa: E402

TOKEN = "correct horse battery"  # noqa: S105
PROTOCOL = [f"viser-v{viser.__version__}"]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def _echo(tab, connection):
    async for message in connection:
        await connection.send(f"{tab} {CURRENT_TAB.get()} {len(message)}")


@pytest.fixture(scope="module")
def open_page():
    """Return the port of a server on loopback without a token."""
    server = open_server(host="127.0.0.1", port=0, token=None, page=b"<html>page</html>", hands=_echo)
    yield server.get_port()
    server.stop()


@pytest.fixture(scope="module")
def locked_page():
    """Return the port of a server that others can reach, with a token."""
    server = open_server(host="0.0.0.0", port=_free_port(), token=TOKEN, page=b"<html>page</html>", hands=_echo)
    yield server.get_port()
    server.stop()


def _get(port, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read()


def _status(port, asked):
    with socket.create_connection(("127.0.0.1", port), timeout=10) as stranger:
        stranger.sendall(asked + b"\r\n")
        return int(stranger.recv(64).split()[1])


def _socket_status(port, path, **options):
    try:
        with connect(f"ws://127.0.0.1:{port}{path}", subprotocols=PROTOCOL, **options):
            return 101
    except websockets.exceptions.InvalidStatus as refused:
        return refused.response.status_code


def test_a_page_for_all_is_printed_by_the_name_of_this_machine():
    app = ViewerApp(host="0.0.0.0", port=_free_port(), token=TOKEN)
    try:
        assert app.address == f"http://{socket.gethostname()}:{app.server.get_port()}/?token={quote(TOKEN)}"
    finally:
        app.close()


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.7", "::", "example.org"])
def test_a_host_that_others_reach_is_not_served_without_a_token(host):
    with pytest.raises(ValueError, match="needs --token"):
        open_server(host=host, port=0, token=None, page=b"", hands=_echo)


def test_a_token_that_can_be_guessed_is_refused():
    with pytest.raises(ValueError, match="--token has 3 characters"):
        open_server(host="0.0.0.0", port=0, token="abc", page=b"", hands=_echo)


def test_a_port_that_is_taken_is_said_and_not_replaced(open_page):
    with pytest.raises(ValueError, match=f"127.0.0.1:{open_page} cannot be opened"):
        open_server(host="127.0.0.1", port=open_page, token=None, page=b"", hands=_echo)


@pytest.mark.parametrize(
    "path", ["/", "/tab/abc/", "/index.html", "/?token=wrong", "/tab/abc/?token=", "/..%2f..%2fetc/passwd"]
)
@pytest.mark.parametrize("cookie", ["", "mcrl_view_{port}=wrong", "mcrl_view_{port}=", "other=" + TOKEN, "=;=;["])
def test_without_the_token_no_request_gets_anything(locked_page, path, cookie):
    status, headers, body = _get(locked_page, path, Cookie=cookie.format(port=locked_page))
    assert status == 403
    assert b"page" not in body.replace(b"the address that `mcrl view` printed", b"")
    assert "Set-Cookie" not in headers


def test_without_the_token_no_socket_opens(locked_page):
    for path in ("/tab/abc", "/tab/abc/hands", "/"):
        assert _socket_status(locked_page, path) == 403


def test_the_token_becomes_a_cookie_that_opens_page_and_sockets(locked_page):
    status, headers, _ = _get(locked_page, f"/?token={TOKEN.replace(' ', '%20')}")
    assert status == 303
    cookie = headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert TOKEN not in headers["Location"]
    sent = cookie.partition(";")[0]
    status, _, body = _get(locked_page, headers["Location"], Cookie=sent)
    assert (status, body) == (200, b"<html>page</html>")
    tab = headers["Location"].rstrip("/")
    assert _socket_status(locked_page, tab, additional_headers={"Cookie": sent}) == 101
    assert _socket_status(locked_page, tab + "/hands", additional_headers={"Cookie": sent}) == 101


def test_what_else_stands_in_the_address_goes_along(open_page, locked_page):
    assert _get(open_page, "/?fixedDpr=1")[1]["Location"].endswith("/?fixedDpr=1")
    headers = _get(locked_page, f"/?fixedDpr=1&token={TOKEN.replace(' ', '%20')}&at=%0d%0aX:%20y")[1]
    assert headers["Location"].endswith("/?fixedDpr=1&at=%0D%0AX%3A+y")


def test_on_loopback_a_page_is_served_and_every_visit_has_a_tab_of_its_own(open_page):
    first, second = (_get(open_page, "/")[1]["Location"] for _ in range(2))
    assert first != second
    assert _get(open_page, first)[::2] == (200, b"<html>page</html>")
    assert _get(open_page, "/elsewhere")[0] == 404


def test_pages_of_other_sites_are_kept_out(open_page):
    # A name of another site that resolves to 127.0.0.1, and a socket that another site's page opens.
    assert _get(open_page, "/", Host=f"evil.example:{open_page}")[0] == 403
    assert _socket_status(open_page, "/tab/abc", origin="http://evil.example") == 403
    assert _socket_status(open_page, "/tab/abc", origin=f"http://127.0.0.1:{open_page}") == 101


def test_a_message_above_the_limit_ends_only_its_own_socket(open_page):
    address = f"ws://127.0.0.1:{open_page}/tab"
    with connect(f"{address}/t1/hands") as modest, connect(f"{address}/t2/hands") as greedy:
        with contextlib.suppress(websockets.exceptions.ConnectionClosed, ConnectionError):
            greedy.send(b"\0" * (MAX_MESSAGE_BYTES + 1))
        with pytest.raises((websockets.exceptions.ConnectionClosed, ConnectionError)):
            greedy.recv(timeout=20)
        modest.send("hello")
        assert modest.recv(timeout=20) == "t1 t1 5"


@pytest.mark.parametrize(
    "opening", [b"HEAD / HTTP/1.1\r\n\r\n", b"POST / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00", b""]
)
def test_who_does_not_speak_as_a_browser_does_is_left_without_a_word(open_page, opening, caplog):
    with socket.create_connection(("127.0.0.1", open_page), timeout=10) as stranger:
        stranger.sendall(opening)
        stranger.shutdown(socket.SHUT_WR)
        stranger.recv(1)
    assert _get(open_page, "/")[1]["Location"]
    assert "opening handshake failed" not in caplog.text


@pytest.mark.parametrize(
    "asked",
    [
        b"GET / HTTP/1.1\r\nHost: [::1\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1:abc\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1:99999999\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: localhost\r\n",
        b"GET //[x HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        b"GET /tab/abc HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nOrigin: http://[x\r\n",
    ],
)
@pytest.mark.parametrize("with_token", [False, True])
def test_what_is_no_address_is_a_bad_request(open_page, locked_page, asked, with_token):
    assert _status(locked_page if with_token else open_page, asked) == 400


def test_bytes_that_are_no_text_are_neither_the_token_nor_an_error(open_page, locked_page):
    host = b"Host: 127.0.0.1:%d\r\n" % locked_page
    assert _status(locked_page, b"GET /?token=\xff HTTP/1.1\r\n" + host) == 403
    cookie = b'Cookie: mcrl_view_%d="\xff"\r\n' % locked_page
    assert _status(locked_page, b"GET / HTTP/1.1\r\n" + host + cookie) == 403
    assert _status(open_page, b"GET /?at=\xff HTTP/1.1\r\nHost: 127.0.0.1\r\n") == 303


def test_a_session_that_takes_its_time_to_end_keeps_no_page_waiting(monkeypatch):
    monkeypatch.setattr("eval.viewer.app.MAX_BOOTHS", 1)
    may_end = threading.Event()
    served = ViewerApp(opening=lambda session: may_end.wait(60))
    try:
        served.booth("left").detach(None)
        began_s = time.monotonic()
        served.booth("new")
        assert time.monotonic() - began_s < 2.0  # a session has 5 s to end
    finally:
        may_end.set()
        served.close()


def test_a_page_that_sends_picture_after_picture_keeps_the_last_one_alone(shared):
    may_begin = threading.Event()

    def opening(session):
        may_begin.wait(60)

    booth = Booth(lambda: ViewerSession(shared, world=WORLD), opening)
    pictures = [cv2.imencode(".png", np.full((256, 256, 3), shade, np.uint8))[1].tobytes() for shade in range(9)]
    try:
        for picture in pictures:
            booth.hear(picture)
        del picture
        num_holders = [sys.getrefcount(picture) for picture in pictures]
        assert num_holders == [num_holders[0]] * 8 + [num_holders[0] + 1]
        assert sum("takes its place" in sentence for sentence in booth.hands._sentences) == 8
        may_begin.set()
        done = threading.Event()
        booth.do(done.set)
        assert done.wait(60)
        assert (booth.session.goal.draft.picture.image_HWC == 8).all()
        booth.session.goal.undo()
        assert booth.session.goal.draft.picture is None
    finally:
        may_begin.set()
        booth.close()


@pytest.mark.parametrize("host", ["203.0.113.77", "no such host"])
def test_an_address_of_another_machine_is_not_taken_for_a_port_in_use(host):
    with pytest.raises(ValueError, match=f"{host}:0 cannot be opened .* choose another --host, an address of this"):
        open_server(host=host, port=0, token=TOKEN, page=b"", hands=_echo)


def test_visers_share_links_are_closed():
    server = open_server(host="127.0.0.1", port=0, token=None, page=b"", hands=_echo)
    try:
        assert server.request_share_url() is None
    finally:
        server.stop()


def test_visers_own_uploads_are_closed_wherever_a_message_says_that_it_is_one():
    server = open_server(host="127.0.0.1", port=0, token=None, page=b"", hands=_echo)
    of_part = {"source_component_uuid": "button", "transfer_uuid": "one", "part_index": 0, "content": bytes(9000)}
    heard: queue.Queue[str] = queue.Queue()
    for kind in (FileTransferPart, GuiUpdateMessage):
        server._websock_server.register_handler(kind, lambda _, message: heard.put(type(message).__name__))
    try:
        with connect(f"ws://127.0.0.1:{server.get_port()}/tab/abc", subprotocols=PROTOCOL) as page:
            page.send(msgspec.msgpack.encode({"type": "FileTransferPart"} | of_part))
            page.send(msgspec.msgpack.encode(of_part | {"type": "FileTransferPart"}))
            page.send(msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": "none", "updates": {}}))
            assert heard.get(timeout=20) == "GuiUpdateMessage"
    finally:
        server.stop()


def test_the_page_is_visers_with_our_style_and_scripts_in_order():
    page = page_html(style="#ours {}", scripts=["console.log('ours')", "let also_ours"]).decode()
    assert "<title>mcrl view</title>" in page
    places = [page.index(text) for text in ("#ours {}", "console.log('ours')", "let also_ours", "</head>")]
    assert places == sorted(places)
