"""What the worker does beyond games: a function for each kind of request, as in ``games/answering.py``."""

from __future__ import annotations

from collections.abc import Callable

from mdplay.bandits.laboratory import Bandit
from mdplay.game import num_players
from mdplay.web.games.agents import MOST, agents_of, spec_of
from mdplay.web.games.catalogue import Entry
from mdplay.web.labs.bandits import tell_bandits
from mdplay.web.labs.planning import tell_plan
from mdplay.web.labs.reproduction import tell_system
from mdplay.web.labs.tournaments import tell_tournament
from mdplay.web.labs.training import methods_of, tell_training
from mdplay.web.refusing import Refused
from mdplay.web.work.jobs import Job
from mdplay.web.work.worker import Worker

Work = Callable[[Job], None]
MOST_AGENTS = 6  # of a tournament


def plan(worker: Worker, text: str, method: str, tolerance: float) -> Work:
    """Plan in the MDP of a text."""
    body = text.encode("utf-8", "surrogateescape")
    return lambda job: tell_plan(job, worker.advisers.workshop, body, method, tolerance)


def bandits(
    worker: Worker, kind: str, means: list[float], arms: int, policies: list[str], steps: int, runs: int, seed: int
) -> Work:
    """Play policies on a bandit."""

    def work(job: Job) -> None:
        bandit = Bandit(kind, tuple(means), arms)
        tell_bandits(job, worker.advisers.workshop, bandit, policies, steps, runs, seed)

    return work


def methods(worker: Worker, game: str, params: str) -> list[str]:
    """Answer by which ways a game can be learned."""
    return methods_of(worker.catalogue[game].make(params))


def learn(worker: Worker, game: str, params: str, method: str, episodes: int, seed: int) -> Work:
    """Learn a game, and keep who learned it."""
    entry = worker.catalogue[game]
    if method not in methods(worker, game, params):
        raise Refused(422, "this game cannot be learned so; /learn/methods lists how")
    return lambda job: tell_training(
        job, worker.advisers.workshop, worker.learned, entry, params, method=method, episodes=episodes, seed=seed
    )


def tournament(worker: Worker, game: str, params: str, agents: str, games: int, seed: int) -> Work:
    """Let agents play each other."""
    entry = worker.catalogue[game]
    specs = _specs(entry, params, agents)
    return lambda job: tell_tournament(job, worker.advisers, entry, params, specs, games, seed)


def reproduce(worker: Worker, number: int) -> Work:
    """Compute one of the five systems."""
    return lambda job: tell_system(job, number)


def _specs(entry: Entry, params: str, agents: str) -> list[str]:
    """Return the specs of agents of the list; nothing else of the text is used."""
    made = entry.make(params)
    if num_players(made) != 2:
        raise Refused(422, "a tournament needs a game for two")
    known = {one["id"]: one["setting"] for one in agents_of(made, entry.solver)}
    found = []
    for text in dict.fromkeys(agents.split(",")):
        name, _, setting = text.partition(":")
        if name not in known:
            raise Refused(422, "such an agent does not play this game")
        number = int(setting) if setting.isdigit() and len(setting) < 9 else (known[name] or {}).get("default", 0)
        if not 0 <= number <= MOST.get(name, MOST["mcts"]):
            raise Refused(422, "the setting of an agent is out of range")
        found.append(spec_of(name, number))
    if not 2 <= len(set(found)) == len(found) <= MOST_AGENTS:
        raise Refused(422, f"a tournament is for 2 to {MOST_AGENTS} different agents")
    return found
