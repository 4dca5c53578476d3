"""What is refused before anything of it is read, and the headers that tell a browser what a page may do.

    400  a length that is no number          413  a body that is too long, told by its length or counted on the way
    401  another host without the token      421  a name of this server that is not ours (DNS rebinding)
    403  a request of another site's page    503  a job while twice as many as there are workers are asked for

No answer repeats what was asked.

Questions that cannot be answered: a code and a sentence that repeats nothing of what was asked.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable, Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mdplay import IllegalMove, MdplayError, PositionError
from mdplay.errors import pluralize

IMPOSSIBLE = (ValueError, OverflowError, RecursionError, IndexError, KeyError, TypeError)  # of rules, on odd texts


class Refused(Exception):
    """What was asked has no answer: the code and the words of the response."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(code, words)
        self.code, self.words = code, words


def busy(tasks: int) -> Refused:
    """Return the refusal of a request that exceeds the number of requests at a time."""
    return Refused(503, f"the solver is busy with {pluralize(tasks, 'other task')}")


def refusal(error: Exception) -> Refused | None:
    """Return how a question that raised this is refused; None if the fault is not the question's."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, (PositionError, IllegalMove)):
        return Refused(422, "these moves, or this position, are not possible in this game")
    if isinstance(error, MdplayError):
        return Refused(422, f"these parameters make no game{_rule(str(error))}")
    if isinstance(error, IMPOSSIBLE):
        return Refused(422, "that is not a position")
    return None


def _rule(message: str) -> str:
    """Return what a message says is possible, without the part before it, which repeats what was given."""
    rule = re.split(r"[:;] ", message)[-1]
    return f": {rule}" if rule != message else ""


BODY = 64 << 10
LARGE_BODY = 2 << 20
LARGE = frozenset({"/api/v1/plan"})
JOBS = frozenset(
    {"values", "search", "agent", "plan", "bandits", "learn", "tournament", "run"}
)  # ends of addresses
OWN_SITES = ("same-origin", "none")  # of Sec-Fetch-Site, which browsers send: our page, or the user
LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "mdplay_token"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)


class TooLong(Exception):
    """More of a body came than is allowed."""


class Guard:
    """Let only those requests pass that a page of ours could have made, and ``most`` jobs at a time."""

    def __init__(
        self, app: ASGIApp, hosts: Iterable[str] = (), token: str | None = None, most: int | None = None
    ) -> None:
        self._app = app
        self._most, self._jobs = most, 0
        self._hosts = frozenset({*LOOPBACK, *(host.lower() for host in hosts)})
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on; every answer gets the headers."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        sending = _with_headers(send)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, sending)
            return
        limit = LARGE_BODY if scope["path"] in LARGE else BODY
        job = _is_job(scope["path"])
        self._jobs += job
        try:
            await self._app(scope, _counted(receive, limit), sending)
        except TooLong:
            await _refused(413, "the body is too long")(scope, receive, sending)
        finally:
            self._jobs -= job

    def _refusal(self, scope: Scope, headers: dict[bytes, str]) -> Response | None:
        if not self._is_ours(headers.get(b"host", "")):
            return _refused(421, "this server does not go by that name")
        origin = headers.get(b"origin")
        if origin is not None and not self._is_own_origin(origin, headers[b"host"]):
            return _refused(403, "another page may not ask here")
        if scope["path"].startswith("/api/") and headers.get(b"sec-fetch-site", "none") not in OWN_SITES:
            return _refused(403, "another page may not ask here")  # a GET of another page has no Origin
        length = headers.get(b"content-length", "0")
        if not (length.isascii() and length.isdigit()) or len(length) > 15:
            return _refused(400, "content-length is not a number")
        if int(length) > (LARGE_BODY if scope["path"] in LARGE else BODY):
            return _refused(413, "the body is too long")
        if self._token is not None and (refusal := self._without_token(scope, headers)) is not None:
            return refusal
        if self._most is not None and self._jobs >= self._most and _is_job(scope["path"]):
            return _refused(503, "the solver is busy with other tasks", {"retry-after": "1"})
        return None

    def _is_ours(self, host: str) -> bool:
        return _bare(host) in self._hosts

    def _is_own_origin(self, origin: str, host: str) -> bool:
        """Return whether a page's origin is this server: the same name and port."""
        scheme, _, place = origin.partition("://")
        return scheme in ("http", "https") and place.lower() == host.lower()

    def _without_token(self, scope: Scope, headers: dict[bytes, str]) -> Response | None:
        """Return None for who brings the token; by the address once, which becomes a cookie."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if given and self._fits(given):
            if scope["path"].startswith("/api/"):
                return None
            answer = RedirectResponse("/" + scope["path"].lstrip("/"), 303)
            answer.set_cookie(COOKIE, given, httponly=True, samesite="strict")
            return answer
        bearer = headers.get(b"authorization", "").removeprefix("Bearer ")
        if self._fits(bearer) or self._fits(_cookie(headers.get(b"cookie", ""))):
            return None
        return _refused(401, "open the address that the server printed: it has the token")

    def _fits(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), (self._token or "").encode())


def _bare(host: str) -> str:
    """Return a host without its port and brackets."""
    name = host.lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.rpartition(":")[0] if ":" in name else name


def _cookie(text: str) -> str:
    try:
        found = SimpleCookie(text).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


def _is_job(path: str) -> bool:
    return path.startswith("/api/v1/") and path.rpartition("/")[2] in JOBS


def _refused(code: int, words: str, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"detail": words}, code, {"connection": "close", **(headers or {})})


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = message.get("headers", [])
            set_already = {name for name, _ in own}
            message = {**message, "headers": [*own, *(pair for pair in HEADERS if pair[0] not in set_already)]}
        await send(message)

    return sending


def _counted(receive: Receive, limit: int) -> Receive:
    """Count what comes: a body may not tell its length, or tell a wrong one."""
    left = limit

    async def receiving() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise TooLong
        return message

    return receiving
