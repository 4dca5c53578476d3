"""A real pseudo-terminal with mdplay on the other side of it."""

import os
import pty
import select
import subprocess
import sys
import time

from tests.helpers import ROOT

LAUNCH = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # Ctrl-C is a signal only on the terminal that is one's own
os.execv(sys.executable, [sys.executable, "-m", "mdplay", *sys.argv[1:]])
"""
PATIENCE = 60.0  # seconds until a test gives up; nothing waits so long when all is well


class Terminal:
    """Start ``mdplay`` on a pseudo-terminal; a context manager that ends it."""

    def __init__(self, *arguments, cwd=None, **environment):
        self._own, other = pty.openpty()
        env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TERM": "xterm-256color", **environment}
        if "NO_COLOR" not in environment:
            env.pop("NO_COLOR", None)
        command = [sys.executable, "-c", LAUNCH, *map(str, arguments)]
        self.process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=env, cwd=cwd)
        os.close(other)
        self._unread = ""

    def read_until(self, words):
        """Return everything up to and including the words, as the screen gets it."""
        limit = time.monotonic() + PATIENCE
        while words not in self._unread:
            assert time.monotonic() < limit, f"no {words!r} in {self._unread!r}"
            more = self._more()
            assert more is not None, f"it ended without {words!r}: {self._unread!r}"
            self._unread += more
        before, _, self._unread = self._unread.partition(words)
        return (before + words).replace("\r\n", "\n")

    def _more(self):
        """Return what comes within a moment; None once the other side has left."""
        if not select.select([self._own], [], [], 0.5)[0]:
            return ""
        try:
            return os.read(self._own, 65536).decode() or None
        except OSError:
            return None

    def send(self, line):
        """Type a line."""
        os.write(self._own, f"{line}\n".encode())

    def press(self, key):
        """Press a control key: press("d") is Ctrl-D."""
        os.write(self._own, bytes([ord(key) & 31]))

    def interrupt(self):
        """Press Ctrl-C until it ends, and return its exit code.

        A signal that comes after the prompt was written and before the read began is heard after the read only.
        """
        for _ in range(int(PATIENCE)):
            self.press("c")
            if self._ended(1.0):
                break
        return self.exit_code()

    def exit_code(self):
        """Wait until it has ended; all that is still said counts as read."""
        assert self._ended(PATIENCE), f"it does not end: {self._unread!r}"
        return self.process.wait(timeout=PATIENCE)

    def _ended(self, seconds):
        """Read until the other side has left; tell whether it has, in so many seconds."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            more = self._more()
            if more is None:
                return True
            self._unread += more
        return False

    @property
    def rest(self):
        """What was said last."""
        return self._unread.replace("\r\n", "\n")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._own)
