"""A long-lived child process that answers one request after the other, within a time limit.

The child is ``python -m MODULE``; a request is a line of JSON on its stdin, an answer one on its stdout.  A child
that dies or does not answer in time is replaced, and the answer says so.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[2]
FIRST_SECONDS = 300.0  # a cold kernel cache


class Child:
    """The process; a context manager that ends it."""

    def __init__(self, module: str, seconds: float) -> None:
        self.module, self.seconds = module, seconds
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str] = queue.Queue()
        self._errors = b""

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def ask(self, request: Any, seconds: float | None = None) -> dict[str, Any]:
        """Return the answer, or {"crashed": ...} or {"hung": seconds}; either ends the child."""
        process = self._started()
        requests = _opened(process.stdin)
        try:
            requests.write(json.dumps(request) + "\n")
            requests.flush()
            line = self._lines.get(timeout=seconds or self.seconds)
        except queue.Empty:
            self.stop()
            return {"hung": seconds or self.seconds}
        except OSError:
            line = ""
        if not line:
            process.wait()
            self.stop()
            return {"crashed": f"exit code {process.returncode}"}
        return dict(json.loads(line))

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(
                [sys.executable, "-X", "faulthandler", "-m", self.module],
                stdin=pipe, stdout=pipe, text=True, env=environment, cwd=ROOT,
            )  # fmt: skip
            self._lines = queue.Queue()
            self._pump = threading.Thread(target=_pump, args=(self._process, self._lines), daemon=True)
            self._pump.start()
            ready = self.ask({"kind": "ready"}, FIRST_SECONDS)
            assert ready == {"ready": True}, ready
        return self._process

    def stop(self) -> None:
        """End the process, if it runs."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            with suppress(BrokenPipeError):  # a request that it did not read
                _opened(process.stdin).close()
            self._pump.join()
            _opened(process.stdout).close()


def _pump(process: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
    for line in _opened(process.stdout):
        lines.put(line)
    lines.put("")


def _opened(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe
