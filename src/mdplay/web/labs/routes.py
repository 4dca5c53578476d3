"""The API beyond games: plan, bandits, learn, tournament, records."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response

from mdplay.game import num_players
from mdplay.web.games.agents import MOST, agents_of, spec_of
from mdplay.web.games.catalogue import Entry
from mdplay.web.games.routes import DETAIL, MAX_SEED, PLAIN, STREAM, Params
from mdplay.web.service import ServiceDep
from mdplay.web.work.jobs import Job

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
    service: ServiceDep,
    method: Annotated[str, Query(pattern=f"^({'|'.join(METHODS)})$")] = "auto",
    tolerance: Annotated[float, Query(ge=1e-12, le=1.0)] = 1e-7,
) -> Response:
    """Stream a plan of the MDP file in the body: values, actions, bounds, residuals."""
    body = b"".join([part async for part in request.stream()])

    def work(job: Job) -> None:
        from mdplay.web.labs.planning import tell_plan

        tell_plan(job, service.advisers.workshop, body, method, tolerance)

    return service.stream(work)


# ---------------------------------------------------------------- bandits
@router.get("/bandits/policies")
async def policies() -> list[str]:
    """List the policies."""
    return list(POLICIES)


@router.get("/bandits", responses=STREAM, response_class=Response)
async def bandits(
    service: ServiceDep,
    kind: Annotated[str, Query(pattern="^(bernoulli|gaussian)$")] = "bernoulli",
    means: Annotated[str, Query(max_length=300, pattern=r"^[-0-9.,e]*$")] = "",
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
        from mdplay.web.labs.bandits import tell_bandits

        bandit = Bandit(kind, numbers, arms)
        tell_bandits(job, service.advisers.workshop, bandit, chosen, steps, runs, seed)

    return service.stream(work)


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
async def agents(game: str, service: ServiceDep, params: Params = "") -> list[dict[str, Any]]:
    """List who plays a game with these parameters, those who learned it on this page included."""
    entry = service.entry(game)
    made = await service.quick(lambda: entry.make(params))
    return [*agents_of(made, entry.solver), *service.learned(entry.id, params)]


@router.get("/learn/methods", responses=PLAIN)
async def methods(service: ServiceDep, game: GameId, params: Params = "") -> list[str]:
    """List the ways to learn a game."""
    entry = service.entry(game)

    def found() -> list[str]:
        from mdplay.web.labs.training import methods_of

        return methods_of(entry.make(params))

    return await service.quick(found)


@router.get("/learn", responses=STREAM, response_class=Response)
async def learn(
    service: ServiceDep,
    game: GameId,
    params: Params = "",
    method: Annotated[str, Query(max_length=40, pattern=r"^[a-z0-9-]+$")] = "points",
    episodes: Annotated[int, Query(ge=1, le=1_000_000)] = 10_000,
    seed: Annotated[int, Query(ge=0, le=MAX_SEED)] = 0,
) -> Response:
    """Stream the curve of a training, then the id of an agent to play with."""
    entry = service.entry(game)
    if method not in await methods(service, game, params):
        raise HTTPException(422, "this game cannot be learned so; /learn/methods lists how")

    def work(job: Job) -> None:
        from mdplay.web.labs.training import tell_training

        workshop, kept = service.advisers.workshop, service.learned_agents
        tell_training(job, workshop, kept, entry, params, method=method, episodes=episodes, seed=seed)

    return service.stream(work)


# ---------------------------------------------------------------- tournaments
@router.get("/tournament", responses=STREAM, response_class=Response)
async def tournament(
    service: ServiceDep,
    game: GameId,
    agents: Annotated[str, Query(max_length=300, pattern=r"^[a-z0-9:,-]+$")],
    params: Params = "",
    games: Annotated[int, Query(ge=2, le=200)] = 20,
    seed: Annotated[int, Query(ge=0, le=MAX_SEED)] = 0,
) -> Response:
    """Stream the cross table of a tournament; an agent is an id, with its setting after a colon."""
    entry = service.entry(game)
    specs = await service.quick(lambda: _specs(entry, params, agents))

    def work(job: Job) -> None:
        from mdplay.web.labs.tournaments import tell_tournament

        tell_tournament(job, service.advisers, entry, params, specs, games, seed)

    return service.stream(work)


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
