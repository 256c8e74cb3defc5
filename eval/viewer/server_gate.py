"""Who may open the page: checks every request before anything is served.

A page has an address of its own, /tab/<id>/, which the web socket of its scene shares; a browser that reloads it, or
whose line broke, finds its session again. /tab/<id>/hands is the socket of its keys, clicks and pictures.
"""

import hmac
import http
import re
import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
_TAB = re.compile(r"/tab/([A-Za-z0-9_-]{1,64})(/hands|/)?")
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


class Gate:
    """Answers requests: with the page, with a refusal, or by letting a web socket through."""

    def __init__(self, page: bytes, *, token: str | None) -> None:
        """Serve `page` to whoever has the token, or, without one, to whoever asks for a loopback name."""
        self._page, self._token = page, token

    def answer(self, request: Request) -> Response | None:
        """Return the answer to a request, or None where a web socket may be opened."""
        host = request.headers.get("Host", "")
        name = urlsplit(f"//{host}").hostname or ""
        # Another site's page may have its own name resolve to 127.0.0.1: its requests then carry that name.
        if self._token is None and name not in LOOPBACK_HOSTS:
            return _text(http.HTTPStatus.FORBIDDEN, "This viewer answers to 127.0.0.1 only; start it with --token.")
        given = self._token is not None and self._given_by_address(request.path)
        if self._token is not None and not given and not self._given_by_cookie(request, host):
            return _text(
                http.HTTPStatus.FORBIDDEN, "This viewer needs its token: open the address that `mcrl view` printed."
            )
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return self._socket(request, host)
        tab = tab_of_path(request.path)
        is_page = tab is not None and tab[1] == "/"
        if urlsplit(request.path).path != "/" and not is_page:
            return _text(http.HTTPStatus.NOT_FOUND, "There is nothing here; the viewer is at /.")
        if is_page and not given:
            return Response(
                http.HTTPStatus.OK,
                "OK",
                Headers([*_SAFE, ("Content-Type", "text/html; charset=utf-8"), _length(self._page)]),
                self._page,
            )
        # A new page, or a token to be moved out of the address into a cookie.
        place = f"/tab/{tab[0] if is_page and tab else secrets.token_urlsafe(12)}/{_query_without_token(request.path)}"
        headers = Headers([*_SAFE, ("Location", place), ("Content-Length", "0")])
        if given and self._token is not None:
            cookie: SimpleCookie = SimpleCookie({self._cookie_name(host): self._token})
            for morsel in cookie.values():
                headers["Set-Cookie"] = f"{morsel.OutputString()}; Path=/; HttpOnly; SameSite=Strict"
        return Response(http.HTTPStatus.SEE_OTHER, "See Other", headers, b"")

    def _socket(self, request: Request, host: str) -> Response | None:
        origin = request.headers.get("Origin")
        # A page of another site can open a socket to here, with the cookies; its origin gives it away.
        if origin is not None and urlsplit(origin).netloc != host:
            return _text(http.HTTPStatus.FORBIDDEN, "Pages of other sites may not connect.")
        tab = tab_of_path(request.path)
        if tab is None or tab[1] == "/":
            return _text(http.HTTPStatus.NOT_FOUND, "There is no such socket.")
        return None

    def _given_by_address(self, path: str) -> bool:
        return any(self._is_token(given) for given in parse_qs(urlsplit(path).query).get("token", ()))

    def _given_by_cookie(self, request: Request, host: str) -> bool:
        try:
            cookies = SimpleCookie("; ".join(request.headers.get_all("Cookie")))
        except CookieError:
            return False
        morsel = cookies.get(self._cookie_name(host))
        return morsel is not None and self._is_token(morsel.value)

    def _is_token(self, given: str) -> bool:
        # Comparing takes the same time wherever the first difference is.
        return hmac.compare_digest(given.encode(), (self._token or "").encode())

    @staticmethod
    def _cookie_name(host: str) -> str:
        # Cookies do not know of ports, and two viewers may run on one machine.
        return f"mcrl_view_{urlsplit(f'//{host}').port or 80}"


def _query_without_token(path: str) -> str:
    """Return what stands behind a path from its ? on, "" where that is the token alone."""
    rest = [(name, value) for name, value in parse_qsl(urlsplit(path).query) if name != "token"]
    return f"?{urlencode(rest)}" if rest else ""


def _text(status: http.HTTPStatus, sentence: str) -> Response:
    body = (sentence + "\n").encode()
    headers = Headers([*_SAFE, ("Content-Type", "text/plain; charset=utf-8"), _length(body)])
    return Response(status, status.phrase, headers, body)


def _length(body: bytes) -> tuple[str, str]:
    return "Content-Length", str(len(body))
