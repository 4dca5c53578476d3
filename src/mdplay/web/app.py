"""The application (the API, the page and its files) and ``serve``, which runs it on a server of this machine."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from importlib.resources import files
from importlib.resources.abc import Traversable
from inspect import signature
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from mdplay import MdplayError, __version__
from mdplay.runtime.executors import Executor, using
from mdplay.runtime.signals import mark_interrupt_handled
from mdplay.web.games import routes as games
from mdplay.web.games.catalogue import Catalogue
from mdplay.web.labs import reproduction
from mdplay.web.labs import routes as labs
from mdplay.web.safety import LOOPBACK, Guard, Refused, TooLong
from mdplay.web.service import Service

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
PAGE_CSP = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'none'"
PAGES = frozenset({"", "plan", "bandits", "learn", "tournament", "reproduction"})


def make_app(service: Service, *, hosts: Iterable[str] = (), token: str | None = None) -> FastAPI:
    """Return the application; ``hosts`` are further names of this server."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        feeling = asyncio.create_task(service.monitor_event_loop_lag())
        yield
        feeling.cancel()
        service.close()
        await service.pool.ended()

    app = FastAPI(
        title="mdplay",
        version=__version__,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        **_no_telemetry(),
    )
    app.state.service = service
    for part in (games, labs, reproduction):
        app.include_router(part.router)
    _add_pages(app, service)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(TooLong, _too_long)
    app.add_exception_handler(Refused, _refused)
    app.add_middleware(Guard, hosts=hosts, token=token, most=2 * service.pool.size)
    return app


def _no_telemetry() -> dict[str, Any]:
    """Return what keeps FastAPI from reporting to anybody, whatever the environment says; older ones never do."""
    if "telemetry" not in signature(FastAPI).parameters:
        return {}
    return {"telemetry": dict.fromkeys(("tracing", "metrics", "logs", "auto_configure"), False)}


def _invalid(_: Request, __: Exception) -> Response:
    return JSONResponse({"detail": "a parameter is missing, too long or out of range"}, 422)  # never the input


def _too_long(_: Request, __: Exception) -> Response:
    return JSONResponse({"detail": "the body is too long"}, 413)


def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return JSONResponse({"detail": error.words}, error.code, {"retry-after": "1"} if error.code == 503 else None)


# ---------------------------------------------------------------- the page
def _add_pages(app: FastAPI, service: Service) -> None:
    shipped = dict(static_files())

    @app.get("/api/{rest:path}", include_in_schema=False)
    async def nothing(rest: str) -> Response:
        raise Refused(404, "no such address")

    @app.get("/static/{name:path}", include_in_schema=False)
    async def static(name: str, request: Request) -> Response:
        if name not in shipped:
            raise Refused(404, "no such file")
        return _sent(shipped[name], request)

    @app.get("/reproduction/page", include_in_schema=False)
    async def reproduction_page() -> Response:
        try:
            body = await service.pool.quick(service.reproduction.read_bytes)
        except OSError:
            raise Refused(404, "mdplay reproduce has written no page yet") from None
        return Response(body, media_type=TYPES[".html"], headers={"content-security-policy": PAGE_CSP})

    @app.get("/favicon.ico", include_in_schema=False)
    async def favicon(request: Request) -> Response:
        return await static("icon.svg", request)

    @app.get("/{page:path}", include_in_schema=False)
    async def page(page: str, request: Request) -> Response:
        answer = await static("index.html", request)
        if page not in PAGES and page not in service.catalogue:
            answer = Response(shipped["index.html"]["body"], 404, media_type=TYPES[".html"])  # the page says so
        return answer


def static_files() -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the files of the page, each by its path below ``static``: a closed list, read once."""
    for name, file in _walk(files("mdplay.web") / "static", ""):
        kind = TYPES.get(f".{name.rpartition('.')[2]}")
        if kind is not None:
            content = file.read_bytes()
            yield name, {"body": content, "kind": kind, "tag": f'"{hashlib.sha256(content).hexdigest()[:32]}"'}


def _walk(folder: Traversable, prefix: str) -> Iterable[tuple[str, Traversable]]:
    for child in sorted(folder.iterdir(), key=lambda child: child.name):
        if child.is_dir():
            yield from _walk(child, f"{prefix}{child.name}/")
        else:
            yield prefix + child.name, child


def _sent(file: dict[str, Any], request: Request) -> Response:
    headers = {"cache-control": "no-cache", "etag": file["tag"]}
    if request.headers.get("if-none-match") == file["tag"]:
        return Response(status_code=304, headers=headers)
    return Response(file["body"], media_type=file["kind"], headers=headers)


HOST, PORT = "127.0.0.1", 8765
SWITCH_SECONDS = 0.001  # after which a thread hands on the GIL: the event loop never waits long for it
CONNECTIONS = 512
AT_ONCE = 8  # connections taken in one turn of the event loop: between two of them everybody else is answered
PREPARE_SECONDS = 1.0  # after the start: the page that is opened at once comes first


class Server(uvicorn.Server):
    """A server that ends at once and closes its streams."""

    def __init__(self, config: uvicorn.Config, began: Callable[[], None], ended: Callable[[], None]) -> None:
        super().__init__(config)
        self._began, self._ended = began, ended
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if self.started:
            self._began()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End on Ctrl-C or SIGTERM."""
        mark_interrupt_handled()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._ended)
        self.should_exit = True


def serve(
    games: Sequence[str] = (),
    *,
    host: str = HOST,
    port: int = PORT,
    token: str | None = None,
    open_browser: bool = False,
    executor: Executor | str | None = None,
    tell: Callable[[str], None] = print,
) -> None:
    """Serve the page until Ctrl-C; ``games`` are specs that come first, among them a user's ``file.py:Class``.

    Only this machine is served, unless ``host`` is another address: then everybody who asks must bring a token,
    and one is made if none is given.  Port 0 takes a free one.  The workers of an ``executor`` do tree searches.
    """
    if host not in LOOPBACK and not token:
        token = secrets.token_urlsafe(24)
    elif host in LOOPBACK:
        token = token or None
    with ExitStack() as stack:
        opened = None if executor is None else stack.enter_context(using(executor))
        service = Service(Catalogue(games), apart=games, executor=opened)
        _serve(service, host, port, token, open_browser, tell)


def _serve(
    service: Service, host: str, port: int, token: str | None, open_browser: bool, tell: Callable[[str], None]
) -> None:
    listener = _listen(host, port)
    app = make_app(service, hosts=_names(host), token=token)
    address = _address(host, listener.getsockname()[1], token)
    sys.setswitchinterval(SWITCH_SECONDS)

    def began() -> None:
        listener.listen(CONNECTIONS)  # that may wait to be taken; asyncio knows one number for this and AT_ONCE
        tell(address)
        loop = asyncio.get_running_loop()
        loop.call_later(PREPARE_SECONDS, lambda: loop.create_task(service.prepare()))
        if open_browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        backlog=AT_ONCE,
        proxy_headers=False,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=1,
        lifespan="on",
        ws="none",
    )
    Server(config, began, service.close).run([listener])


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or raise MdplayError.

    Its protocol is named: of sockets without one asyncio does not know that they are TCP, and leaves Nagle's
    algorithm on, by which the second part of every answer waits 40 ms for the client's acknowledgement.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, TypeError, UnicodeError) as error:  # the last two: no name can be spelled so
        listener.close()
        why = getattr(error, "strerror", None) or error
        advice = "choose another --port or --host"
        raise MdplayError(f"cannot listen on {host!r}, port {port}: {why}; {advice}") from None
    return listener


def _names(host: str) -> list[str]:
    """Return the names by which others may ask for this server."""
    if host in ("0.0.0.0", "::"):  # every address of this machine
        found = {socket.gethostname(), socket.getfqdn()}
        with suppress(OSError):
            found |= {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)}
        return sorted(found)
    return [host]


def _address(host: str, port: int, token: str | None) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/" + (f"?token={token}" if token else "")
