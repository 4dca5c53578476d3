"""The application: the API, the page and its files, and what guards them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from importlib.resources import files
from importlib.resources.abc import Traversable
from inspect import signature
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from mdplay import __version__
from mdplay.web.games import routes as games
from mdplay.web.labs import reproduction
from mdplay.web.labs import routes as labs
from mdplay.web.safety import Guard, Refused, TooLong
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
        feeling = asyncio.create_task(service.feel())
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
