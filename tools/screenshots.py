"""Write pictures of every page into docs/page/: ``python tools/screenshots.py [NAME...]``.

Starts `mdplay serve` and Chromium, waits until each page has settled, and takes its picture, so that the
pictures in the documentation are the page as it is.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "page"
OWN = ROOT / "tests" / "web" / "static" / "chomp.py"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
DESKTOP, PHONE = (1280, 800), (390, 844)
READY = "document.documentElement.dataset.ready === 'yes'"
SETTLED = """!window.mdplay || (mdplay.line.node?.verdict?.done
  && mdplay.line.nodes.every((node) => node.verdict || node.asked || mdplay.info.chance))"""
CUBE, RUN = "js:mdplay.view.choose('cube')", "js:document.querySelector('.run').click()"
DONE = "!/Stop/.test(document.querySelector('.run').innerText) && document.querySelector('.facts, .outcome a')"
FIRST, CHAPTER = "js:document.querySelector('.run')?.click()", "document.querySelector('.chapter-headline')"
CALM = "!document.querySelector('#toast.up')"
PATIENCE = 600.0
COLOURS = 256


class Shot(NamedTuple):
    """A picture: where, how large, light or dark, and what is done before."""

    path: str
    size: tuple[int, int] = DESKTOP
    scheme: str = "light"
    act: str = ""  # keys to press, or JavaScript after "js:"
    until: str = "true"


FOUR = "/connect-four?moves=4,4,4,4,4,2,2,6,3,5"
TILES = "/2048?from=0121034a12580236&points=15320"
SHOTS = {
    "home": Shot("/", (1280, 1180)),
    "home-dark": Shot("/", (1280, 1180), "dark"),
    "home-phone": Shot("/", PHONE),
    "connect-four": Shot(FOUR),
    "connect-four-dark": Shot(FOUR, scheme="dark"),
    "connect-four-phone": Shot(FOUR, PHONE),
    "connect-four-search": Shot(
        "/connect-four?moves=4,4,3", (1280, 1000), act="s", until="mdplay.search.grown?.visits > 20000"
    ),
    "tic-tac-toe-random": Shot("/tic-tac-toe?against=random"),
    "anti-tic-tac-toe-dark": Shot("/anti-tic-tac-toe", scheme="dark"),
    "dots-and-boxes": Shot("/dots-and-boxes?params=rows=3,cols=3&moves=0,5,12,7,2"),
    "qubic": Shot("/qubic?moves=000,111,030,222,300,121"),
    "qubic-cube-dark": Shot("/qubic?moves=000,333,030,003,330,110,303,111,300", DESKTOP, "dark", CUBE),
    "qubic-phone": Shot("/qubic?moves=000,333", PHONE),
    "2048": Shot(TILES),
    "2048-phone-dark": Shot(TILES, PHONE, "dark"),
    "othello": Shot("/othello?moves=d3,c3,c4,e3"),
    "breakthrough": Shot("/breakthrough?moves=d2d3,e7e6"),
    "chess-ending": Shot("/chess-ending?from=Kd3,Rh2,ke6,w"),
    "mens-morris-dark": Shot("/mens-morris?moves=4,0,2,6,3,5", scheme="dark"),
    "pig-phone": Shot("/pig?params=goal=50&from=14-32%2B11x", PHONE),
    "pocket-cube": Shot("/pocket-cube"),
    "sliding-puzzle-phone": Shot("/sliding-puzzle", PHONE),
    "your-own": Shot("/own-chomp?moves=c2"),
    "keys-dark": Shot("/connect-four?moves=4,4,5", scheme="dark", act="?"),
    "new-game-phone": Shot("/connect-four?moves=4,4,5", PHONE, act="n"),
    "plan": Shot("/plan", until="document.querySelector('.value')"),
    "bandits": Shot("/bandits", (1280, 1000), until=DONE),
    "bandits-dark": Shot("/bandits", scheme="dark", until="document.querySelector('.facts')"),
    "learn": Shot("/learn", act=RUN, until=DONE),
    "tournament": Shot("/tournament", act=RUN, until=DONE),
    "learn-phone-dark": Shot("/learn", PHONE, "dark", RUN, DONE),
    "reproduction": Shot("/reproduction", act=FIRST, until=CHAPTER),
    "reproduction-phone": Shot("/reproduction", PHONE, until=CHAPTER),
    "plan-phone": Shot("/plan", PHONE, until="document.querySelector('.value')"),
}  # fmt: skip


@contextmanager
def serving() -> Iterator[str]:
    """Start the server with a game of a user; yield its address."""
    command = [sys.executable, "-m", "mdplay", "serve", f"{OWN}:Chomp", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip().rstrip("/")
        process.terminate()


def wait(page: Page, condition: str) -> None:
    """Wait until a condition holds; the page allows no eval, so it is asked again and again."""
    give_up = time.monotonic() + PATIENCE
    while not page.evaluate(f"Boolean({condition})"):
        if time.monotonic() > give_up:
            raise TimeoutError(condition)
        page.wait_for_timeout(100)


def take(browser: Browser, address: str, name: str, shot: Shot) -> None:
    """Open a page, let it settle, and write its picture."""
    width, height = shot.size
    options: dict[str, Any] = {"color_scheme": shot.scheme, "has_touch": shot.size == PHONE}
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    page = context.new_page()
    page.goto(address + shot.path)
    wait(page, READY)
    wait(page, SETTLED)
    if shot.act.startswith("js:"):
        page.evaluate(shot.act[3:])
    elif shot.act:
        page.keyboard.press(shot.act)
    wait(page, shot.until)
    wait(page, SETTLED)
    if name.endswith("search"):
        page.keyboard.press("s")
        page.locator(".twig").first.click()
    wait(page, CALM)
    page.wait_for_timeout(900)
    page.screenshot(path=FOLDER / f"{name}.png")
    context.close()
    make_small(FOLDER / f"{name}.png")


def make_small(path: Path) -> None:
    """Write a picture again with fewer colours, which nobody sees: a third of its bytes."""
    with Image.open(path) as found:
        few = found.convert("RGB").quantize(COLOURS, kmeans=2, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def main(names: list[str]) -> None:
    """Take the pictures named, or all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with serving() as address, sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name in names or SHOTS:
            take(browser, address, name, SHOTS[name])
            print(FOLDER / f"{name}.png", flush=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
