"""The five systems on the page: computed by ``mdplay reproduce`` in a process of its own, read from its folder.

The folder is the server's (in the cache), one for each system; what is finished there is shown at once.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Response
from fastapi import Path as InPath

from mdplay import LimitError
from mdplay.storage.folders import cache_folder
from mdplay.views.html import safe_picture
from mdplay.web.games.routes import PLAIN, STREAM
from mdplay.web.safety import Refused
from mdplay.web.service import ServiceDep
from mdplay.web.work.jobs import Job

TITLES = {
    1: "Dots and Boxes, solved by policy iteration",
    2: "The MDP planner, and Anti-Tic-Tac-Toe",
    3: "2048, learned by an n-tuple network",
    4: "Connect Four: heuristic, MCTS, bandits",
    5: "Qubic, learned by Monte Carlo",
}
TELL_SECONDS = 0.5

router = APIRouter(prefix="/api/v1")
Number = Annotated[int, InPath(ge=1, le=len(TITLES))]


def folder_of(number: int) -> Path:
    """Return where a system's figures are kept."""
    return cache_folder() / "reproduction" / str(number)


@router.get("/reproduction")
async def systems(service: ServiceDep) -> dict[str, Any]:
    """List the systems, and whether each is finished; tell where a page that the command wrote is served."""

    def found() -> dict[str, Any]:
        listed = [{"number": n, "title": title, "done": chapter(n) is not None} for n, title in TITLES.items()]
        page = "/reproduction/page" if service.reproduction.is_file() else None
        return {"systems": listed, "page": page, "command": "mdplay reproduce"}

    return await service.quick(found)


@router.get("/reproduction/{number}", responses=PLAIN)
async def finished(number: Number, service: ServiceDep) -> dict[str, Any]:
    """Return a finished system with its figures."""
    made = await service.quick(lambda: chapter(number))
    if made is None:
        raise Refused(404, "this system was not computed yet")
    return made


@router.get("/reproduction/{number}/run", responses=STREAM, response_class=Response)
async def run(number: Number, service: ServiceDep) -> Response:
    """Stream the making of a system, with small numbers: how many figures there are, then all of them."""
    return await service.stream("reproduce", number=number)


def tell_system(job: Job, number: int) -> None:
    """Let another process compute a system; it is ended when the client has left."""
    folder = folder_of(number)
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "mdplay", "reproduce", str(number), "--quick", "--out", str(folder)]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True) as child:
        try:
            while child.poll() is None:
                job.emit("stats", {"done": len(list((folder / "parts").glob("*.json")))})
                job.stopped.wait(TELL_SECONDS)
        finally:
            child.kill()
    made = chapter(number)
    if child.returncode or made is None:
        raise LimitError("it came to no end; mdplay reproduce tells why on the command line")
    job.emit("chapter", made)


def chapter(number: int) -> dict[str, Any] | None:
    """Return a system as it lies in its folder; None if it is not finished."""
    folder = folder_of(number)
    try:
        told = json.loads((folder / "figures.json").read_text())["systems"][str(number)]
        parts = [json.loads((folder / "parts" / f"{name}.json").read_text()) for name in told["figures"]]
        figures = [_figure(part["figure"]) for part in parts]
    except (OSError, ValueError, KeyError, TypeError):  # not there yet, or damaged: it is made again
        return None
    shown = [_claims(told["claims"]), *figures] if told.get("claims") else figures
    return {"number": number, "title": told["title"], "headline": told["headline"], "figures": shown}


def _claims(table: dict[str, Any]) -> dict[str, Any]:
    """Return what the report says beside what came out, as a figure of its own."""
    title = "What the report says, and what came out here"
    return {
        "title": title,
        "text": "",
        "command": "mdplay reproduce",
        "table": table,
        "drawings": [],
        "picture": None,
    }


def _figure(figure: dict[str, Any]) -> dict[str, Any]:
    light, dark = figure["picture"] or (None, None)
    shown = {name: figure[name] for name in ("title", "text", "command", "table")}
    drawings = [{**drawing, "svg": safe_picture(drawing["svg"], "")} for drawing in figure["drawings"]]
    return shown | {"drawings": drawings, "picture": {"light": light, "dark": dark} if light else None}
