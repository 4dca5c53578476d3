"""``serve``: the server on this machine, its address, and its end."""

from __future__ import annotations

import asyncio
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from types import FrameType

import uvicorn

from mdplay.errors import MdplayError
from mdplay.runtime.executors import Executor, using
from mdplay.runtime.signals import mark_interrupt_handled
from mdplay.web.app import make_app
from mdplay.web.games.catalogue import Catalogue
from mdplay.web.safety import LOOPBACK
from mdplay.web.service import Service

HOST, PORT = "127.0.0.1", 8765
SWITCH_SECONDS = 0.001  # after which a thread hands on the GIL: the event loop never waits long for it
CONNECTIONS = 512
AT_ONCE = 8  # connections taken in one turn of the event loop: between two of them everybody else is answered
PREPARE_SECONDS = 1.0  # after the start: the page that is opened at once comes first


class Server(uvicorn.Server):
    """A server that ends at once: streams are closed and nobody is waited for."""

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
    except (OSError, TypeError, UnicodeError) as error:  # the last two: the host is not a valid name
        listener.close()
        why = getattr(error, "strerror", None) or error
        raise MdplayError(f"cannot listen on {host!r}, port {port}: {why}; choose another --port or --host") from None
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
