"""Install the wheel of dist/ into an empty environment and use it as a newcomer would, from the wheel alone.

python tools/try_wheel.py        commands, a new game of one's own, a plot, the page over HTTP
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 300  # for one command; the first ones compile


def main() -> None:
    """Try everything; the first thing that fails ends it."""
    [wheel] = (ROOT / "dist").glob("*.whl")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "venv", with_pip=True)
        tools = place / "venv" / "bin"
        subprocess.run([tools / "pip", "install", "--quiet", f"{wheel}[plot,web]"], check=True)
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        try_commands(tools / "mdplay", place, clean | {"MDPLAY_CACHE": str(place / "cache")})
    print(f"{wheel.name} works from an empty environment")


def try_commands(mdplay: Path, place: Path, env: dict[str, str]) -> None:
    """Run commands in a folder of their own."""

    def run(words: str) -> str:
        print("mdplay", words, flush=True)
        done = subprocess.run(
            [mdplay, *words.split()], cwd=place, env=env, capture_output=True, text=True, timeout=SECONDS
        )
        if done.returncode:
            sys.exit(f"mdplay {words} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    assert wheel_version() in run("--version")
    assert "connect-four" in run("games")
    assert json.loads(run("solve tic-tac-toe --json"))["value"] == 0
    assert json.loads(run("solve connect-four --position 44444421 --json"))["exact"] is True
    run("new my_game.py")
    for words in ("check", "solve", "search", "learn --episodes 500 --out my.safetensors --plot my.png"):
        verb, *options = words.split()
        run(" ".join([verb, "my_game.py", *options]))
    assert (place / "my.png").stat().st_size > 1000
    try_page(mdplay, place, env)


def wheel_version() -> str:
    """Return the version in the wheel's name."""
    [wheel] = (ROOT / "dist").glob("*.whl")
    return wheel.name.split("-")[1]


def try_page(mdplay: Path, place: Path, env: dict[str, str]) -> None:
    """Serve the page with the new game, ask for both, and stop it."""
    print("mdplay serve my_game.py", flush=True)
    words = [mdplay, "serve", "my_game.py", "--port", "0"]
    with subprocess.Popen(words, cwd=place, env=env | {"PYTHONUNBUFFERED": "1"}, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().decode().strip().rstrip("/")
            for path, what in (("/", b"<html"), ("/api/v1/games", b"own-my-game"), ("/connect-four", b"<html")):
                with urllib.request.urlopen(address + path, timeout=60) as answer:
                    assert what in answer.read(), path
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
