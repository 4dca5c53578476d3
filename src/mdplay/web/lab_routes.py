"""The API beyond games: plan, bandits, learn, tournament, records."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Body, HTTPException, Query, Request, Response

from mdplay.errors import MdplayError
from mdplay.game import num_players
from mdplay.web.asking import Ask
from mdplay.web.catalogue import Entry
from mdplay.web.desk import AtDesk, Desk
from mdplay.web.jobs import Job
from mdplay.web.players import MOST, agents_of, spec_of
from mdplay.web.routes import DETAIL, MAX_SEED, PLAIN, STREAM, Asked, Params, Seed

POLICIES = (
    "uniform",
    "greedy",
    "epsilon-greedy",
    "epsilon-decay",
    "softmax",
    "optimistic",
    "ucb1",
    "ucb1-tuned",
    "kl-ucb",
    "thompson",
    "thompson-gaussian",
    "gradient",
    "exp3",
)
METHODS = ("auto", "vi", "jacobi", "topological", "mpi", "hpi", "ipi", "lp")
MOST_PULLS = 20_000_000  # of one policy
MOST_AGENTS = 6

router = APIRouter(prefix="/api/v1")
PLAN: dict[int | str, dict[str, Any]] = STREAM | {413: {"description": "The file is too long", "content": DETAIL}}
FORM = {"requestBody": {"required": True, "content": {"text/plain": {"schema": {"type": "string"}}}}}


# ---------------------------------------------------------------- plan
@router.post("/plan", responses=PLAN, response_class=Response, openapi_extra=FORM)
async def plan(
    request: Request,
    desk: AtDesk,
    method: Annotated[str, Query(pattern=f"^({'|'.join(METHODS)})$")] = "auto",
    tolerance: Annotated[float, Query(ge=1e-12, le=1.0)] = 1e-7,
) -> Response:
    """Stream a plan of the MDP file in the body: values, actions, bounds, residuals."""
    body = b"".join([part async for part in request.stream()])

    def work(job: Job) -> None:
        from mdplay.web.labs import tell_plan

        tell_plan(job, desk.knowledge.workshop, body, method, tolerance)

    return desk.stream(work)


# ---------------------------------------------------------------- bandits
@router.get("/bandits/policies")
async def policies() -> list[str]:
    """List the policies."""
    return list(POLICIES)


@router.get("/bandits", responses=STREAM, response_class=Response)
async def bandits(
    desk: AtDesk,
    kind: Annotated[str, Query(pattern="^(bernoulli|gaussian)$")] = "bernoulli",
    means: Annotated[str, Query(max_length=300, pattern=r"^[-0-9.,e]*$")] = "0.9,0.8,0.7,0.5",
    arms: Annotated[int, Query(ge=2, le=100)] = 10,
    policies: Annotated[str, Query(max_length=300, pattern=r"^[a-z0-9,-]+$")] = "epsilon-greedy,ucb1,thompson",
    steps: Annotated[int, Query(ge=1, le=100_000)] = 1000,
    runs: Annotated[int, Query(ge=1, le=20_000)] = 500,
    seed: Annotated[int, Query(ge=0, le=MAX_SEED)] = 0,
) -> Response:
    """Stream regret curves; gaussian arms without means are drawn anew in every run."""
    chosen = list(dict.fromkeys(name for name in policies.split(",") if name))
    if not chosen or not set(chosen) <= set(POLICIES):
        raise HTTPException(422, "policies are names of /bandits/policies")
    if steps * runs > MOST_PULLS:
        raise HTTPException(422, f"steps times runs may be {MOST_PULLS:,} at most")
    numbers = _numbers(means)

    def work(job: Job) -> None:
        from mdplay.bandits.laboratory import Bandit
        from mdplay.web.labs import tell_bandits

        bandit = Bandit(kind, numbers, arms)
        tell_bandits(job, desk.knowledge.workshop, bandit, chosen, steps, runs, seed)

    return desk.stream(work)


def _numbers(text: str) -> tuple[float, ...]:
    try:
        found = tuple(float(word) for word in text.split(",") if word)
    except ValueError:
        raise HTTPException(422, "means are numbers with commas between them") from None
    if len(found) > 100 or not all(abs(number) < 1e6 for number in found):
        raise HTTPException(422, "at most 100 means, none beyond a million")
    return found


# ---------------------------------------------------------------- learn
GameId = Annotated[str, Query(max_length=40)]


@router.get("/games/{game}/agents", responses=PLAIN)
async def agents(game: str, desk: AtDesk, params: Params = "") -> list[dict[str, Any]]:
    """List who plays a game with these parameters, those who learned it on this page included."""
    entry = desk.entry(game)
    made = await desk.quick(lambda: entry.make(params))
    return [*agents_of(made, entry.solver), *desk.learned(entry.id, params)]


@router.get("/learn/methods", responses=PLAIN)
async def methods(desk: AtDesk, game: GameId, params: Params = "") -> list[str]:
    """List the ways to learn a game."""
    entry = desk.entry(game)

    def found() -> list[str]:
        from mdplay.web.labs import methods_of

        return methods_of(entry.make(params))

    return await desk.quick(found)


@router.get("/learn", responses=STREAM, response_class=Response)
async def learn(
    desk: AtDesk,
    game: GameId,
    params: Params = "",
    method: Annotated[str, Query(max_length=40, pattern=r"^[a-z0-9-]+$")] = "points",
    episodes: Annotated[int, Query(ge=1, le=1_000_000)] = 10_000,
    seed: Annotated[int, Query(ge=0, le=MAX_SEED)] = 0,
) -> Response:
    """Stream the curve of a training, then the id of an agent to play with."""
    entry = desk.entry(game)
    if method not in await methods(desk, game, params):
        raise HTTPException(422, "this game cannot be learned so; /learn/methods lists how")

    def work(job: Job) -> None:
        from mdplay.web.labs import tell_training

        workshop, school = desk.knowledge.workshop, desk.school
        tell_training(job, workshop, school, entry, params, method=method, episodes=episodes, seed=seed)

    return desk.stream(work)


# ---------------------------------------------------------------- tournaments
@router.get("/tournament", responses=STREAM, response_class=Response)
async def tournament(
    desk: AtDesk,
    game: GameId,
    agents: Annotated[str, Query(max_length=300, pattern=r"^[a-z0-9:,-]+$")],
    params: Params = "",
    games: Annotated[int, Query(ge=2, le=200)] = 20,
    seed: Annotated[int, Query(ge=0, le=MAX_SEED)] = 0,
) -> Response:
    """Stream the cross table of a tournament; an agent is an id, with its setting after a colon."""
    entry = desk.entry(game)
    specs = await desk.quick(lambda: _specs(entry, params, agents))

    def work(job: Job) -> None:
        from mdplay.web.labs import tell_tournament

        tell_tournament(job, desk.knowledge, entry, params, specs, games, seed)

    return desk.stream(work)


def _specs(entry: Entry, params: str, agents: str) -> list[str]:
    """Return the specs of agents of the list; nothing else of the text is used."""
    made = entry.make(params)
    if num_players(made) != 2:
        raise HTTPException(422, "a tournament needs a game for two")
    known = {one["id"]: one["setting"] for one in agents_of(made, entry.solver)}
    found = []
    for text in dict.fromkeys(agents.split(",")):
        name, _, setting = text.partition(":")
        if name not in known:
            raise HTTPException(422, "such an agent does not play this game")
        number = int(setting) if setting.isdigit() and len(setting) < 9 else (known[name] or {}).get("default", 0)
        if not 0 <= number <= MOST.get(name, MOST["mcts"]):
            raise HTTPException(422, "the setting of an agent is out of range")
        found.append(spec_of(name, number))
    if not 2 <= len(set(found)) == len(found) <= MOST_AGENTS:
        raise HTTPException(422, f"a tournament is for 2 to {MOST_AGENTS} different agents")
    return found


# ---------------------------------------------------------------- records
@router.get("/games/{game}/record", responses=PLAIN)
async def record(
    asked: Asked,
    desk: AtDesk,
    first: Annotated[str, Query(max_length=60)] = "person",
    second: Annotated[str, Query(max_length=60)] = "person",
    seed: Seed = None,
) -> dict[str, Any]:
    """Return a game as a record, the JSON line that all commands read."""
    return await desk.quick(lambda: _record(asked, (first, second), seed))


def _record(asked: Ask, agents: tuple[str, str], seed: int | None) -> dict[str, Any]:
    from mdplay.playing.records import Record

    position = asked.position
    start = position.positions[0].state
    own_start = None if start == asked.game.initial() else start
    players = agents[: num_players(asked.game)]
    return Record(asked.game, players, position.events, position.result, seed, start=own_start).document()


@router.post("/records", responses=PLAIN)
async def read_record(
    desk: AtDesk, record: Annotated[dict[str, Any], Body()], game: Annotated[str, Query(max_length=40)] = ""
) -> dict[str, Any]:
    """Read a record: the game, its parameters and moves, replayed and checked; ``game`` names one's own game."""
    return await desk.quick(lambda: _read(desk, record, game))


def _read(desk: Desk, record: dict[str, Any], game: str) -> dict[str, Any]:
    from mdplay.playing.records import Record

    try:
        found = Record.from_json(json.dumps(record), desk.entry(game).make() if game else None)
    except MdplayError:
        raise HTTPException(422, "this is no record of a game that is offered here") from None
    name = str(found.document()["game"])
    entry = desk.catalogue.get(game or name)
    if entry is None:
        raise HTTPException(422, "this is no record of a game that is offered here")
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
