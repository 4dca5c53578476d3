"""The API beyond games: plan, bandits, learn, tournament, records."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from mdplay.web.games.catalogue import agents_of
from mdplay.web.games.routes import DETAIL, MAX_SEED, PLAIN, STREAM, Params
from mdplay.web.safety import Refused
from mdplay.web.service import ServiceDep

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
MAX_PULLS = 20_000_000  # of one policy

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
    text = body.decode("utf-8", "surrogateescape")
    return await service.stream("plan", text=text, method=method, tolerance=tolerance)


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
        raise Refused(422, "policies are names of /bandits/policies")
    if steps * runs > MAX_PULLS:
        raise Refused(422, f"steps times runs may be {MAX_PULLS:,} at most")
    bandit = {"kind": kind, "means": _numbers(means), "arms": arms}
    return await service.stream("bandits", **bandit, policies=chosen, steps=steps, runs=runs, seed=seed)


def _numbers(text: str) -> list[float]:
    try:
        found = [float(word) for word in text.split(",") if word]
    except ValueError:
        raise Refused(422, "means are numbers with commas between them") from None
    if len(found) > 100 or not all(abs(number) < 1e6 for number in found):
        raise Refused(422, "at most 100 means, none beyond a million")
    return found


# ---------------------------------------------------------------- learn
GameId = Annotated[str, Query(max_length=40)]


@router.get("/games/{game}/agents", responses=PLAIN)
async def agents(game: str, service: ServiceDep, params: Params = "") -> list[dict[str, Any]]:
    """List who plays a game with these parameters, those who learned it on this page included."""
    entry = service.entry(game)
    solver = await service.solver(entry)
    made = await service.quick(lambda: entry.make(params))
    return [*agents_of(made, solver), *service.learned(entry.id, params)]


@router.get("/learn/methods", responses=PLAIN)
async def methods(service: ServiceDep, game: GameId, params: Params = "") -> list[str]:
    """List the ways to learn a game."""
    found: list[str] = await service.ask("methods", game=service.entry(game).id, params=params)
    return found


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
    asked = {"game": service.entry(game).id, "params": params}
    return await service.stream("learn", **asked, method=method, episodes=episodes, seed=seed)


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
    asked = {"game": service.entry(game).id, "params": params}
    return await service.stream("tournament", **asked, agents=agents, games=games, seed=seed)
