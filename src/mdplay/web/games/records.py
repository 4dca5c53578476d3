"""Records of games, both ways: the JSON line that all commands read."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query

from mdplay.errors import MdplayError
from mdplay.game import num_players
from mdplay.web.games.asking import Ask
from mdplay.web.games.routes import PLAIN, Asked, Seed
from mdplay.web.refusing import Refused
from mdplay.web.service import Service, ServiceDep

router = APIRouter(prefix="/api/v1")


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
    from mdplay.playing.records import Record

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
    from mdplay.playing.records import Record

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
