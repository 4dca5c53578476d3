"""A real server in a process of its own, and a plain client over sockets."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from tests.helpers import ROOT


class Served:
    """A server that runs."""

    def __init__(self, process, port, token=None):
        self.process, self.port, self.token = process, port, token

    def ask(self, path, *, method="GET", headers=(), body=b"", timeout=60.0):
        """Return (status, headers and body as bytes) of one request; the connection is closed after it."""
        with self.open(path, method=method, headers=headers, body=body, timeout=timeout) as connection:
            return read_all(connection)

    def open(self, path, *, method="GET", headers=(), body=b"", timeout=60.0):
        """Return a connection on which a request was sent."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=timeout)
        given = {"host": f"127.0.0.1:{self.port}", "connection": "close", **dict(headers)}
        if body:
            given.setdefault("content-length", str(len(body)))
        lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        connection.sendall(f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
        return connection

    def children(self):
        """Return the processes that the server has started, of which the first is the worker."""
        return sorted(pid for pid, parent in _parents().items() if parent == self.process.pid)

    def family(self):
        """Return the server's process and all that it and its children have started."""
        parents, found = _parents(), [self.process.pid]
        for one in found:
            found += [pid for pid, parent in parents.items() if parent == one]
        return found

    def resident_bytes(self):
        """Return how much memory the server and its worker hold."""
        processes = [self.process.pid, *self.children()]
        pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in processes)
        return pages * os.sysconf("SC_PAGE_SIZE")

    def stop(self, number=signal.SIGINT, timeout=60):
        """Send a signal and return the exit code and what stderr has."""
        self.process.send_signal(number)
        code = self.process.wait(timeout=timeout)
        return code, self.process.stderr.read()


def _parents():
    return {int(stat.parent.name): _parent(stat) for stat in Path("/proc").glob("[0-9]*/stat")}


def _parent(stat):
    try:
        return int(stat.read_text().rsplit(")", 1)[1].split()[1])
    except OSError:  # it has ended meanwhile
        return 0


def read_all(connection):
    data = b""
    while part := connection.recv(65536):
        data += part
    status = int(data.split(b" ", 2)[1]) if data else 0
    return status, data


@contextmanager
def server(*arguments, **environment):
    """Run ``mdplay serve`` on a free port."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment}
    process = subprocess.Popen(
        [sys.executable, "-m", "mdplay", "serve", "--port", "0", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    )
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+?:(\d+)/(?:\?token=(\S+))?", line)
        assert found, line + process.stderr.read()
        yield Served(process, int(found[1]), found[2])
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def wait_for(condition, seconds=120.0):
    """Wait until something holds; a busy machine may take its time."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.05)
