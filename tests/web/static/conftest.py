"""A real server and a real browser; every page must stay quiet, and ask nobody but the server."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import COMPILED, NIM, ROOT, write
from tests.web.static.driver import Table

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
DESKTOP, PHONE = (1280, 900), (390, 844)
AXE = "axe-core@4.10.3"
REFUSALS = ("status of 404", "status of 422", "status of 503", "ERR_CONNECTION_REFUSED", "Content Security Policy")


def _missing(what):
    assert os.environ.get("E2E_REQUIRED") != "1", f"{what} is required here"
    pytest.skip(f"no {what} on this machine")


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """Start `mdplay serve` with two games of a user; return its address."""
    if not COMPILED:
        pytest.skip("the page is tried with compiled kernels")
    folder = tmp_path_factory.mktemp("games")
    nim, chomp = write(folder, "nim.py", NIM), Path(__file__).with_name("chomp.py")
    command = [sys.executable, "-m", "mdplay", "serve", f"{chomp}:Chomp", f"{nim}:Nim", "--port", "0"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=folder)
    with process:
        yield process.stdout.readline().strip().rstrip("/")
        process.terminate()
        process.stdout.close()


@pytest.fixture(scope="module")
def browser():
    """Start a browser for one file of tests: playwright's event loop must not run on under the tests of others."""
    if BROWSER is None:
        _missing("browser")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as tool:
        running = tool.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def visit(server, browser):
    """Return a function that opens a page and drives it; at the end nothing may have complained."""
    contexts, noise, strangers = [], [], []

    def open_page(path, *, size=DESKTOP, refusals=False, **options):
        """``refusals``: the page will meet something impossible, and Chromium notes every refusal."""
        width, height = size
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda told: _is_noise(told, refusals) and noise.append(told.text))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("request", lambda request: _is_ours(request.url, server) or strangers.append(request.url))
        return Table(page, server).open(path)

    yield open_page
    for context in contexts:
        context.close()
    assert noise == []
    assert strangers == []


def _is_noise(told, refusals):
    expected = refusals and any(words in told.text for words in REFUSALS)
    return told.type in ("error", "warning") and not expected


def _is_ours(url, server):
    return url.startswith((server, "data:", "blob:"))


@pytest.fixture(scope="session")
def axe(pytestconfig):
    """Return axe-core's text; it is fetched once into the tests' cache, and never part of the package."""
    folder = Path(pytestconfig.cache.mkdir("axe"))
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        if shutil.which("npm") is None:
            _missing("npm")
        command = ["npm", "install", "--no-audit", "--no-fund", "--no-save", "--silent", AXE]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=180)
        if done.returncode:
            _missing("axe-core")
    return script.read_text()
