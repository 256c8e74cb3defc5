"""Who may open the page, asked of the gate itself: which cookie it hears among those of a host's other servers."""

import pytest

pytest.importorskip("websockets", reason="needs websockets, which comes with viser: pip install 'mcrl[view]'")

from websockets.datastructures import Headers  # noqa: E402
from websockets.http11 import Request, Response  # noqa: E402

from eval.viewer.server_gate import Gate  # noqa: E402

HOST = "lab.example:8080"


def answer(token: str, path: str, *cookies: str) -> Response:
    """What a browser gets that sends these cookies."""
    headers = Headers([("Host", HOST), *(("Cookie", cookie) for cookie in cookies)])
    response = Gate(b"the page", token=token).answer(Request(path, headers))
    assert response is not None
    return response


def own_cookie(token: str, in_address: str) -> str:
    """What the gate lets a browser keep that has the token in the address."""
    moved = answer(token, f"/?token={in_address}")
    assert moved.status_code == 303
    return moved.headers["Set-Cookie"].partition(";")[0]


@pytest.mark.parametrize(
    "other", ['prefs={"lang":"en"}', "version=3", "path=/", "consent", "user=a b", "user=\xfcber", "x=a,b", 'x="']
)
def test_cookies_of_other_servers_of_the_host_do_not_hide_the_token(other):
    own = own_cookie("correct horse", "correct%20horse")
    assert answer("correct horse", "/tab/abc/", f"{other}; {own}; {other}").status_code == 200
    assert answer("correct horse", "/tab/abc/", other, own).status_code == 200
    assert answer("correct horse", "/tab/abc/", other).status_code == 403


@pytest.mark.parametrize(
    ("token", "in_address"),
    [("p\xe4ssw\xf6rd \u20ac", "p%C3%A4ssw%C3%B6rd%20%E2%82%AC"), ('a;"b",c=%d', "a%3B%22b%22%2Cc%3D%25d")],
)
def test_a_token_of_any_letters_becomes_a_cookie_that_headers_can_hold(token, in_address):
    own = own_cookie(token, in_address)
    assert own.isascii()
    assert answer(token, "/tab/abc/", own).status_code == 200


def test_nothing_that_is_answered_may_be_kept_framed_or_tell_others_of_its_address():
    own = own_cookie("correct horse", "correct%20horse")
    answers = [answer("correct horse", path, own) for path in ("/", "/tab/abc/", "/elsewhere", "/?token=correct+horse")]
    answers.append(answer("correct horse", "/"))
    assert [each.status_code for each in answers] == [303, 200, 404, 303, 403]
    for each in answers:
        assert each.headers["Cache-Control"] == "no-store"
        assert each.headers["X-Frame-Options"] == "DENY"
        assert each.headers["Referrer-Policy"] == "no-referrer"
        assert each.headers["X-Content-Type-Options"] == "nosniff"
