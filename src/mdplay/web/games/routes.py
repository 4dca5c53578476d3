"""The API of games under ``/api/v1``: all GET, and without memory, since the client holds the game.

Records of games, both ways: the JSON line that all commands read.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Query, Response

from mdplay import MdplayError
from mdplay.evaluating.wording import is_puzzle
from mdplay.game import num_players
from mdplay.web.games.catalogue import MOST, Entry, agents_of, rules_of
from mdplay.web.games.requests import Ask, ask, document, drawn, picture_of
from mdplay.web.games.requests import status as status_of
from mdplay.web.safety import Refused
from mdplay.web.service import Service, ServiceDep

MAX_SEED = (1 << 53) - 1  # what a script of the page can count
MAX_SECONDS = 60.0
MAX_SIMULATIONS = 50_000_000

router = APIRouter(prefix="/api/v1")

Params = Annotated[str, Query(max_length=100, pattern=r"^[a-z0-9_=,.]*$")]
Start = Annotated[str, Query(alias="from", max_length=400)]
Moves = Annotated[str, Query(max_length=6000)]
Base = Annotated[str, Query(max_length=60, pattern=r"^[-0-9.,e+]*$")]
Seed = Annotated[int | None, Query(ge=0, le=MAX_SEED)]


async def named_position(
    game: str, service: ServiceDep, params: Params = "", start: Start = "", moves: Moves = "", base: Base = ""
) -> dict[str, str]:
    """Return the arguments by which a request names a position; they are not checked yet."""
    return {"game": service.entry(game).id, "params": params, "start": start, "moves": moves, "base": base}


Named = Annotated[dict[str, str], Depends(named_position)]


async def asked_position(service: ServiceDep, named: Named) -> Ask:
    """Return the position that a request names."""
    game, *words = named.values()
    return await service.quick(lambda: ask(service.catalogue[game], *words))


Asked = Annotated[Ask, Depends(asked_position)]
DETAIL = {"application/json": {"schema": {"type": "object", "properties": {"detail": {"type": "string"}}}}}
PLAIN: dict[int | str, dict[str, Any]] = {
    404: {"description": "No such game", "content": DETAIL},
    409: {"description": "The file of this game has changed; restart the server", "content": DETAIL},
    422: {"description": "Not a position of this game, or a parameter out of range", "content": DETAIL},
}
STREAM: dict[int | str, dict[str, Any]] = PLAIN | {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "A stream of events"},
    503: {"description": "Too many requests; see Retry-After", "content": DETAIL},
}


# ---------------------------------------------------------------- lists
@router.get("/games")
async def games(service: ServiceDep, pictures: bool = True) -> list[dict[str, Any]]:
    """List the games: titles, parameters, agents, a picture."""
    if pictures not in service.listed:
        entries = [(entry, await service.solver(entry)) for entry in service.catalogue.values()]
        service.listed[pictures] = await service.pool.quick(lambda: [listing(*one, pictures) for one in entries])
    return service.listed[pictures]


def listing(entry: Entry, solver: str, pictures: bool = True) -> dict[str, Any]:
    """Return a game for the gallery, or without its picture, which takes longest."""
    game = entry.make()
    return {
        "id": entry.id,
        "title": entry.about.title,
        "fact": entry.about.summary,
        "rules": rules_of(entry, game),
        "facts": list(entry.about.facts),
        "own": entry.own,
        "view": game.view,
        "sides": list(entry.about.sides),
        "players": num_players(game),
        "chance": bool(game.has_outcomes),
        "points": bool(game.has_reward),
        "puzzle": is_puzzle(game),
        "solver": solver,
        "opponents": ["perfect", "uniform"] if num_players(game) == 2 and solver == "table" else ["perfect"],
        "parameters": [_parameter(parameter) for parameter in entry.parameters],
        "presets": [{"title": title, "params": params} for title, params in entry.about.presets.items()],
        "agents": agents_of(game, solver),
        "starts": dict(entry.about.starts),
        **(_pictured(entry) if pictures else {}),
    }


def _pictured(entry: Entry) -> dict[str, Any]:
    position = entry.position()
    return {
        "position": position.text,
        "svg": picture_of(position),
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
async def status(service: ServiceDep) -> dict[str, Any]:
    """Return what is being prepared, and the load of the server."""
    return service.status()


# ---------------------------------------------------------------- positions
@router.get("/games/{game}/position", responses=PLAIN)
async def position(asked: Asked, service: ServiceDep, draw: bool = True, seed: Seed = None) -> dict[str, Any]:
    """Return a position: picture, legal moves, status; pending chance is drawn unless draw=false."""

    def found() -> dict[str, Any]:
        after = drawn(asked, seed) if draw else asked
        return document(after, status_of(after))

    return await service.quick(found)


@router.get("/games/{game}/values", responses=STREAM, response_class=Response)
async def values(
    position: Named,
    service: ServiceDep,
    opponent: Annotated[str, Query(pattern="^(perfect|uniform)$")] = "perfect",
    brief: bool = False,
) -> Response:
    """Stream every move's value as it becomes known, and the verdict."""
    return await service.stream("values", position=position, opponent=opponent, brief=brief)


@router.get("/games/{game}/line", responses=STREAM, response_class=Response)
async def line(
    position: Named,
    service: ServiceDep,
    opponent: Annotated[str, Query(pattern="^(perfect|uniform)$")] = "perfect",
    action: Annotated[int | None, Query(ge=0, le=4096)] = None,
) -> Response:
    """Stream the line of best play, after an action if it is given."""
    return await service.stream("line", position=position, opponent=opponent, action=action)


@router.get("/games/{game}/search", responses=STREAM, response_class=Response)
async def search(
    position: Named,
    service: ServiceDep,
    seconds: Annotated[float, Query(gt=0, le=MAX_SECONDS)] = 20.0,
    simulations: Annotated[int, Query(ge=1, le=MAX_SIMULATIONS)] = 5_000_000,
) -> Response:
    """Stream the statistics of a tree search while it runs."""
    return await service.stream("search", position=position, seconds=seconds, simulations=simulations)


@router.get("/games/{game}/agent", responses=STREAM, response_class=Response)
async def agent(
    position: Named,
    service: ServiceDep,
    agent: Annotated[str, Query(max_length=40, pattern="^[a-z0-9-]+$")] = "mcts",
    setting: Annotated[int, Query(ge=0, le=MOST["mcts"])] = 0,
    seed: Annotated[int, Query(ge=0, le=MAX_SEED)] = 0,
) -> Response:
    """Stream an agent's thoughts, then its move; setting 0 is the agent's own."""
    return await service.stream("agent", position=position, agent=agent, setting=setting, seed=seed)


@router.get("/games/{game}/record", responses=PLAIN)
async def record(
    asked: Asked,
    service: ServiceDep,
    first: Annotated[str, Query(max_length=60)] = "person",
    second: Annotated[str, Query(max_length=60)] = "person",
    seed: Seed = None,
) -> dict[str, Any]:
    """Return a game as a record, the JSON line that all commands read."""
    return await service.quick(lambda: _record(asked, (first, second), seed))


def _record(asked: Ask, agents: tuple[str, str], seed: int | None) -> dict[str, Any]:
    from mdplay import Record

    position = asked.position
    start = position.positions[0].state
    own_start = None if start == asked.game.initial() else start
    players = agents[: num_players(asked.game)]
    return Record(asked.game, players, position.events, position.result, seed, start=own_start).document()


@router.post("/records", responses=PLAIN)
async def read_record(
    service: ServiceDep, record: Annotated[dict[str, Any], Body()], game: Annotated[str, Query(max_length=40)] = ""
) -> dict[str, Any]:
    """Read a record: the game, its parameters and moves, replayed and checked; ``game`` names one's own game."""
    return await service.quick(lambda: _read(service, record, game))


def _read(service: Service, record: dict[str, Any], game: str) -> dict[str, Any]:
    from mdplay import Record

    try:
        found = Record.from_json(json.dumps(record), service.entry(game).make() if game else None)
    except MdplayError:
        raise Refused(422, "this is no record of a game that is offered here") from None
    name = str(found.document()["game"])
    entry = service.catalogue.get(game or name)
    if entry is None:
        raise Refused(422, "this is no record of a game that is offered here")
    given = {
        p.name: getattr(found.game, p.name) for p in entry.parameters if getattr(found.game, p.name) != p.default
    }
    end = found.replay()
    start = "" if found.start is None else found.game.text(found.start)
    return {
        "game": entry.id,
        "params": ",".join(f"{name}={value}" for name, value in given.items()),
        "from": start,
        "moves": end.played,
        "agents": list(found.agents),
        "result": found.result,
    }
