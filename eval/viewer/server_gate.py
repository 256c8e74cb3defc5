"""Who may open the page: checks every request before anything is served.

A page has an address of its own, /tab/<id>/, which the web socket of its scene shares; a browser that reloads it, or
whose line broke, finds its session again. /tab/<id>/hands is the socket of its keys, clicks and pictures.
"""

import hmac
import http
import re
import secrets
from dataclasses import dataclass
from urllib.parse import parse_qs, parse_qsl, quote, unquote, urlencode, urlsplit

from websockets.datastructures import Headers, MultipleValuesError
from websockets.http11 import Request, Response

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
_TAB = re.compile(r"/tab/([A-Za-z0-9_-]{1,64})(/hands|/)?")
_ESCAPED = "surrogateescape"  # as websockets reads bytes that are no ASCII
_SAFE = (
    ("Cache-Control", "no-store"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
)


def check_host(host: str, token: str | None) -> None:
    """Refuse to serve strangers. ValueError: `host` is not loopback and there is no token, or a weak one."""
    if token is not None and len(token) < 8:
        raise ValueError(f"view: --token has {len(token)} characters, at least 8 are wanted; choose a longer one")
    if host not in LOOPBACK_HOSTS and token is None:
        raise ValueError(
            f"view: --host {host} can be reached by others, so it needs --token; without one only 127.0.0.1 is served"
        )


def tab_of_path(path: str) -> tuple[str, str] | None:
    """Return (tab, "" | "/" | "/hands") of a request's path, or None when it is of no tab."""
    match = _TAB.fullmatch(urlsplit(path).path)
    return (match[1], match[2] or "") if match else None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """What a request says of where it goes and whence it comes, taken apart."""

    host: str
    name: str
    """Of the host, without its port."""
    port: int
    path: str
    query: str
    origin: str | None
    """The host whose page opens a socket; None where no page does."""
    is_socket: bool

    @classmethod
    def of(cls, request: Request) -> "_Asked":
        """Take a request apart. ValueError, MultipleValuesError: no browser sends such a one."""
        host, origin = request.headers.get("Host", ""), request.headers.get("Origin")
        to, place = urlsplit(f"//{host}"), urlsplit(request.path)
        return cls(
            host=host,
            name=to.hostname or "",
            port=to.port or 80,
            path=place.path,
            query=place.query,
            origin=None if origin is None else urlsplit(origin).netloc,
            is_socket=request.headers.get("Upgrade", "").lower() == "websocket",
        )


class Gate:
    """Answers requests: with the page, with a refusal, or by letting a web socket through."""

    def __init__(self, page: bytes, *, token: str | None) -> None:
        """Serve `page` to whoever has the token, or, without one, to whoever asks for a loopback name."""
        self._page, self._token = page, token

    def answer(self, request: Request) -> Response | None:
        """Return the answer to a request, or None where a web socket may be opened."""
        try:
            asked = _Asked.of(request)
        except (ValueError, MultipleValuesError):
            return _text(http.HTTPStatus.BAD_REQUEST, "This is no address; open the one that `mcrl view` printed.")
        # Another site's page may have its own name resolve to 127.0.0.1: its requests then carry that name.
        if self._token is None and asked.name not in LOOPBACK_HOSTS:
            return _text(http.HTTPStatus.FORBIDDEN, "This viewer answers to 127.0.0.1 only; start it with --token.")
        given = self._token is not None and self._given_by_address(asked)
        if self._token is not None and not given and not self._given_by_cookie(request, asked):
            return _text(
                http.HTTPStatus.FORBIDDEN, "This viewer needs its token: open the address that `mcrl view` printed."
            )
        tab = tab_of_path(request.path)
        if asked.is_socket:
            return self._socket(asked, tab)
        is_page = tab is not None and tab[1] == "/"
        if asked.path != "/" and not is_page:
            return _text(http.HTTPStatus.NOT_FOUND, "There is nothing here; the viewer is at /.")
        if is_page and not given:
            return Response(
                http.HTTPStatus.OK,
                "OK",
                Headers([*_SAFE, ("Content-Type", "text/html; charset=utf-8"), _length(self._page)]),
                self._page,
            )
        # A new page, or a token to be moved out of the address into a cookie.
        place = f"/tab/{tab[0] if is_page and tab else secrets.token_urlsafe(12)}/{_query_without_token(asked.query)}"
        headers = Headers([*_SAFE, ("Location", place), ("Content-Length", "0")])
        if given and self._token is not None:
            value = quote(self._token, safe="", errors=_ESCAPED)
            headers["Set-Cookie"] = f"{_cookie_name(asked)}={value}; Path=/; HttpOnly; SameSite=Strict"
        return Response(http.HTTPStatus.SEE_OTHER, "See Other", headers, b"")

    def _socket(self, asked: _Asked, tab: tuple[str, str] | None) -> Response | None:
        # A page of another site can open a socket to here, with the cookies; its origin gives it away.
        if asked.origin is not None and asked.origin != asked.host:
            return _text(http.HTTPStatus.FORBIDDEN, "Pages of other sites may not connect.")
        if tab is None or tab[1] == "/":
            return _text(http.HTTPStatus.NOT_FOUND, "There is no such socket.")
        return None

    def _given_by_address(self, asked: _Asked) -> bool:
        return any(self._is_token(given) for given in parse_qs(asked.query).get("token", ()))

    def _given_by_cookie(self, request: Request, asked: _Asked) -> bool:
        # Other servers of this host set cookies too, and http.cookies loses all that stand behind an odd one.
        pairs = [pair.strip().partition("=") for pair in ";".join(request.headers.get_all("Cookie")).split(";")]
        own = _cookie_name(asked)
        return any(name == own and self._is_token(unquote(value, errors=_ESCAPED)) for name, _, value in pairs)

    def _is_token(self, given: str) -> bool:
        # Comparing takes the same time wherever the first difference is.
        return hmac.compare_digest(given.encode(errors=_ESCAPED), (self._token or "").encode(errors=_ESCAPED))


def _cookie_name(asked: _Asked) -> str:
    # Cookies do not know of ports, and two viewers may run on one machine.
    return f"mcrl_view_{asked.port}"


def _query_without_token(query: str) -> str:
    """Return what stands behind a path from its ? on, "" where that is the token alone."""
    rest = [(name, value) for name, value in parse_qsl(query) if name != "token"]
    return f"?{urlencode(rest, errors=_ESCAPED)}" if rest else ""


def _text(status: http.HTTPStatus, sentence: str) -> Response:
    body = (sentence + "\n").encode()
    headers = Headers([*_SAFE, ("Content-Type", "text/plain; charset=utf-8"), _length(body)])
    return Response(status, status.phrase, headers, body)


def _length(body: bytes) -> tuple[str, str]:
    return "Content-Length", str(len(body))
