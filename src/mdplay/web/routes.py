"""The API of games under ``/api/v1``: all GET, and without memory, since the client holds the game."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Response

from mdplay.game import num_players
from mdplay.pictures import safe_picture
from mdplay.web.asking import Ask, ask, document, drawn
from mdplay.web.catalogue import Entry
from mdplay.web.desk import AtDesk
from mdplay.web.jobs import Job
from mdplay.web.players import MOST, agents_of
from mdplay.web.words import status as status_of

MAX_SEED = (1 << 53) - 1  # what a script of the page can count
MAX_SECONDS = 60.0
MAX_SIMULATIONS = 50_000_000

router = APIRouter(prefix="/api/v1")

Params = Annotated[str, Query(max_length=100, pattern=r"^[a-z0-9_=,.]*$")]
Start = Annotated[str, Query(alias="from", max_length=400)]
Moves = Annotated[str, Query(max_length=6000)]
Base = Annotated[str, Query(max_length=60, pattern=r"^[-0-9.,e+]*$")]
Seed = Annotated[int | None, Query(ge=0, le=MAX_SEED)]


async def asked_position(
    game: str, desk: AtDesk, params: Params = "", start: Start = "", moves: Moves = "", base: Base = ""
) -> Ask:
    """Return the position that a request names."""
    entry = desk.entry(game)
    return await desk.quick(lambda: ask(entry, params, start, moves, base))


Asked = Annotated[Ask, Depends(asked_position)]
DETAIL = {"application/json": {"schema": {"type": "object", "properties": {"detail": {"type": "string"}}}}}
PLAIN: dict[int | str, dict[str, Any]] = {
    404: {"description": "No such game", "content": DETAIL},
    422: {"description": "Not a position of this game, or a parameter out of range", "content": DETAIL},
}
STREAM: dict[int | str, dict[str, Any]] = PLAIN | {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "A stream of events"},
    503: {"description": "Too much at once; Retry-After tells when to come again", "content": DETAIL},
}


# ---------------------------------------------------------------- lists
@router.get("/games")
async def games(desk: AtDesk, pictures: bool = True) -> list[dict[str, Any]]:
    """List the games: titles, parameters, agents, a picture."""
    if pictures not in desk.listed:
        listed = await desk.pool.quick(lambda: [listing(entry, pictures) for entry in desk.catalogue.values()])
        desk.listed[pictures] = listed
    return desk.listed[pictures]


def listing(entry: Entry, pictures: bool = True) -> dict[str, Any]:
    """Return a game for the gallery, or without its picture, which takes longest."""
    game, solver = entry.make(), entry.solver
    return {
        "id": entry.id,
        "title": entry.look.title,
        "fact": entry.look.fact,
        "own": entry.own,
        "view": game.view,
        "sides": list(entry.look.sides),
        "players": num_players(game),
        "chance": bool(game.has_outcomes),
        "points": bool(game.has_reward),
        "solver": solver,
        "opponents": ["perfect"] if num_players(game) == 1 else ["perfect", "uniform"],
        "parameters": [_parameter(parameter) for parameter in entry.parameters],
        "presets": [{"title": title, "params": params} for title, params in entry.look.presets.items()],
        "agents": agents_of(game, solver),
        "starts": dict(entry.look.starts),
        **(_pictured(entry) if pictures else {}),
    }


def _pictured(entry: Entry) -> dict[str, Any]:
    position = entry.position()
    return {
        "position": position.text,
        "svg": safe_picture(position.svg, position.board),
        "demo": position.played,
    }


def _parameter(parameter: Any) -> dict[str, Any]:
    between = parameter.between
    plain = isinstance(parameter.default, (int, float, str, bool))
    return {
        "name": parameter.name,
        "kind": getattr(parameter.kind, "__name__", "str"),
        "default": parameter.default if plain else None,
        "low": between.low if between else None,
        "high": between.high if between else None,
    }


@router.get("/status")
async def status(desk: AtDesk) -> dict[str, Any]:
    """Tell what is being prepared, and how the server feels."""
    return desk.status()


# ---------------------------------------------------------------- positions
@router.get("/games/{game}/position", responses=PLAIN)
async def position(asked: Asked, desk: AtDesk, draw: bool = True, seed: Seed = None) -> dict[str, Any]:
    """Return a position: picture, legal moves, status; pending chance is drawn unless draw=false."""

    def found() -> dict[str, Any]:
        after = drawn(asked, seed) if draw else asked
        return document(after, status_of(after))

    return await desk.quick(found)


@router.get("/games/{game}/values", responses=STREAM, response_class=Response)
async def values(
    asked: Asked,
    desk: AtDesk,
    opponent: Annotated[str, Query(pattern="^(perfect|uniform)$")] = "perfect",
    brief: bool = False,
) -> Response:
    """Stream every move's value as it becomes known, and the verdict."""
    if opponent != "perfect" and asked.single:
        raise HTTPException(422, "a game for one has no opponent")

    def work(job: Job) -> None:
        from mdplay.web.telling import tell_values

        tell_values(job, asked, desk.knowledge, opponent, brief)

    return desk.stream(work)


@router.get("/games/{game}/search", responses=STREAM, response_class=Response)
async def search(
    asked: Asked,
    desk: AtDesk,
    seconds: Annotated[float, Query(gt=0, le=MAX_SECONDS)] = 20.0,
    simulations: Annotated[int, Query(ge=1, le=MAX_SIMULATIONS)] = 5_000_000,
) -> Response:
    """Stream the statistics of a tree search while it runs."""
    _somebody_moves(asked)

    def work(job: Job) -> None:
        from mdplay.web.telling import tell_search

        tell_search(job, asked, desk.knowledge, seconds, simulations)

    return desk.stream(work)


@router.get("/games/{game}/agent", responses=STREAM, response_class=Response)
async def agent(
    asked: Asked,
    desk: AtDesk,
    agent: Annotated[str, Query(max_length=40, pattern="^[a-z0-9-]+$")] = "mcts",
    setting: Annotated[int, Query(ge=0, le=MOST["mcts"])] = 0,
    seed: Annotated[int, Query(ge=0, le=MAX_SEED)] = 0,
) -> Response:
    """Stream an agent's thoughts, then its move; setting 0 is the agent's own."""
    _somebody_moves(asked)
    learned = desk.learned(asked.entry.id, asked.params)
    known = {one["id"]: one for one in [*agents_of(asked.game, asked.entry.solver), *learned]}
    if agent not in known:
        raise HTTPException(422, "this agent does not play this game")
    number = setting or (known[agent]["setting"] or {}).get("default", 0)
    if number > MOST.get(agent, MOST["mcts"]):
        raise HTTPException(422, "the setting of this agent is out of range")

    def work(job: Job) -> None:
        from mdplay.web.telling import tell_agent, tell_learned

        if any(one["id"] == agent for one in learned):
            tell_learned(job, asked, desk.knowledge, desk.school, agent, seed)
        else:
            tell_agent(job, asked, desk.knowledge, agent, number, seed)

    return desk.stream(work)


def _somebody_moves(asked: Ask) -> None:
    if not asked.position.actions:
        raise HTTPException(422, "nobody is to move there")
