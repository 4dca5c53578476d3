"""What is refused before anything is read."""

import asyncio
import hmac

import pytest
from starlette.responses import JSONResponse
from starlette.testclient import TestClient

from mdplay.web.app import make_app
from mdplay.web.games.catalogue import Catalogue
from mdplay.web.safety import BODY, LARGE_BODY, Guard
from mdplay.web.service import Service

STATUS = "/api/v1/status"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8765", "localhost:1", "[::1]:8765", "LOCALHOST"])
def test_this_machine_goes_by_its_usual_names(client, host):
    assert client.get(STATUS, headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8765", "", "[::2]"]
)
def test_other_names_are_refused(client, host):
    answer = client.get(STATUS, headers={"host": host})
    assert answer.status_code == 421
    assert "evil" not in answer.text


@pytest.mark.parametrize(
    ("origin", "code"),
    [
        ("http://127.0.0.1:8765", 200),
        ("http://127.0.0.1:9999", 403),
        ("http://evil.example", 403),
        ("null", 403),
        ("http://127.0.0.1:8765.evil.example", 403),
        ("file://", 403),
    ],
)
def test_only_our_own_page_may_ask(client, origin, code):
    assert client.get(STATUS, headers={"origin": origin}).status_code == code


@pytest.mark.parametrize(
    ("path", "site", "code"),
    [
        (STATUS, "same-origin", 200),
        (STATUS, "none", 200),  # typed into the address bar
        (STATUS, "cross-site", 403),
        (STATUS, "same-site", 403),  # another port of this machine
        ("/api/v1/games/tic-tac-toe/values", "cross-site", 403),
        ("/api/v1/bandits?runs=1&steps=1", "cross-site", 403),
        ("/tic-tac-toe", "cross-site", 200),  # a link to the page
    ],
)
def test_a_page_of_another_site_makes_nothing_compute(client, path, site, code):
    """A GET of another page, as of an image, has no Origin; Sec-Fetch-Site tells where it comes from."""
    assert client.get(path, headers={"sec-fetch-site": site}).status_code == code


@pytest.mark.parametrize(
    ("path", "length", "code"),
    [
        ("/api/v1/records", BODY + 1, 413),
        ("/api/v1/records", 60_000_000, 413),
        ("/api/v1/plan", LARGE_BODY + 1, 413),
        ("/api/v1/records", "12x", 400),
        ("/api/v1/records", "-5", 400),
        ("/api/v1/records", "9" * 400, 400),
    ],
)
def test_a_body_that_is_too_long_is_refused_by_its_length(client, path, length, code):
    answer = client.post(path, content=b"{}", headers={"content-length": str(length)})
    assert answer.status_code == code


@pytest.mark.parametrize(("path", "limit"), [("/api/v1/records", BODY), ("/api/v1/plan", LARGE_BODY)])
def test_a_body_that_does_not_tell_its_length_is_counted(client, path, limit):
    def parts():
        for _ in range(limit // 10_000 + 2):
            yield b"x" * 10_000

    answer = client.post(path, content=parts(), headers={"content-type": "text/plain"})
    assert answer.status_code in (400, 413)
    assert "xxx" not in answer.text


def test_every_answer_has_the_headers(client):
    for path in ("/", STATUS, "/nowhere", "/api/v1/games/x/position"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
        "/static/",
        "/static/index.html%00.css",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/pyproject.toml",
    ],
)
def test_only_files_of_the_closed_list_are_sent(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert "root:" not in answer.text


@pytest.mark.parametrize("path", ["/nonsense", "/a/b", "/connect-fuor?moves=4"])
def test_an_unknown_address_is_a_page_that_says_so(client, path):
    answer = client.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert answer.text == client.get("/").text
    assert client.get(f"/api{path}").headers["content-type"] == "application/json"


def test_a_body_of_another_kind_is_told_without_repeating_it(client):
    answer = client.post("/api/v1/records", content=b'["<script>alert(1)</script>"]')
    assert answer.status_code == 422
    assert "script" not in answer.text


# ---------------------------------------------------------------- another host
TOKEN = "a-token-of-some-length"


@pytest.fixture(scope="module")
def guarded():
    app = make_app(Service(Catalogue()), hosts=["192.0.2.7"], token=TOKEN)
    with TestClient(app, base_url="http://192.0.2.7:8765") as opened:
        yield opened


def test_another_host_needs_the_token(guarded):
    assert guarded.get(STATUS).status_code == 401
    assert guarded.get("/").status_code == 401
    assert guarded.get(STATUS, headers={"authorization": "Bearer wrong"}).status_code == 401
    assert guarded.get(f"{STATUS}?token=wrong").status_code == 401
    assert guarded.get(STATUS, headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_the_address_that_was_printed_lets_a_browser_in(guarded):
    first = guarded.get(f"/?token={TOKEN}", follow_redirects=False)
    assert first.status_code == 303
    assert first.headers["location"] == "/"
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    guarded.cookies.set("mdplay_token", TOKEN)
    assert guarded.get("/").status_code == 200
    guarded.cookies.clear()


def test_a_redirect_never_leads_to_another_place(guarded):
    for path in ("//evil.example/", "/%2f%2fevil.example/", "/\\evil.example"):
        answer = guarded.get(f"{path}?token={TOKEN}", follow_redirects=False)
        location = answer.headers.get("location", "/")
        assert location.startswith("/")
        assert not location.startswith(("//", "/\\"))


def test_the_token_is_compared_in_constant_time(guarded, monkeypatch):
    seen, compare = [], hmac.compare_digest

    def compared(a, b):
        seen.append(a)
        return compare(a, b)

    monkeypatch.setattr("mdplay.web.safety.hmac.compare_digest", compared)
    guarded.get(STATUS, headers={"authorization": "Bearer guess"})
    assert b"guess" in seen


def test_a_crowd_is_asked_to_come_again_before_anything_is_read():
    """A job beyond the crowd is refused at once; what is no job passes, and the next job when one has ended."""
    passed = []

    async def app(scope, receive, send):
        passed.append(scope["path"])
        if len(passed) < 3:  # the crowd: asked for from within each other, so that all are under way
            inner.append(await asked("/api/v1/games/nim/search"))
        await JSONResponse({})(scope, receive, send)

    async def asked(path):
        told = []

        async def send(message):
            told.append(message)

        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "query_string": b"",
            "headers": [(b"host", b"localhost")],
        }
        await guard(scope, None, send)
        return told[0]["status"], dict(told[0]["headers"]).get(b"retry-after")

    inner, guard = [], Guard(app, most=1)
    assert asyncio.run(asked("/api/v1/games/nim/values")) == (200, None)
    assert inner == [(503, b"1")]
    assert asyncio.run(asked("/api/v1/status")) == (200, None)
    assert asyncio.run(asked("/api/v1/bandits")) == (200, None)
    assert "/api/v1/games/nim/search" in passed, "the status was under way, which is no job"
