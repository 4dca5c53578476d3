"""Agents, and agents by name: ``random``, ``mcts:simulations=1000``, ``policy:FILE``, a user's ``file.py:Class``.

An agent is anything with ``act(state, rng) -> action``.  It is made for one game, and a fresh one for every game
that is played, so it may remember what it likes between moves and needs no lock:

    class Leftmost:
        def __init__(self, game: Game) -> None:
            self.game = game

        def act(self, state, rng) -> int:
            return lowest(self.game.legal(state))

Further parameters of the class are options: ``leftmost.py:Leftmost:depth=3``.  Two things are optional:
``values(state) -> {action: value}`` tells what the moves are worth to the player to move, and ``exact = True``
that these are facts and not estimates.  Packages offer agents by an entry point in the group ``mdplay.agents``.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import Signature
from operator import index
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from mdplay.bits import has, members
from mdplay.errors import AgentError, MdplayError, UnknownName, unknown
from mdplay.game import Game
from mdplay.registry import Parameter, all_names, load_module, load_named, parameters, read_parameters
from mdplay.rng import Random

MAX_ACTIONS = 128
AGENTS = {
    "heuristic": "mdplay.searching.agents:HeuristicAgent",
    "human": "mdplay.playing.terminal:HumanAgent",
    "mcts": "mdplay.searching.agents:MCTSAgent",
    "network": "mdplay.learning.player:NetworkAgent",
    "perfect": "mdplay.playing.perfect:perfect_agent",
    "points": "mdplay.learning.points:PointsAgent",
    "policy": "mdplay.playing.basic:PolicyAgent",
    "random": "mdplay.playing.basic:RandomAgent",
    "threats": "mdplay.playing.qubic:ThreatsAgent",
}


@runtime_checkable
class Agent(Protocol):
    """Whoever chooses moves."""

    def act(self, state: Any, rng: Random) -> int:
        """Return a legal action; all randomness comes from ``rng``."""


Maker = Callable[..., Agent]


@dataclass(frozen=True)
class Entrant:
    """An agent in a game or match: its name, and how a fresh one is made."""

    name: str
    fresh: Callable[[], Agent]


def agent_names() -> list[str]:
    """Return the names of all agents, those of installed packages included."""
    return all_names("agent", AGENTS)


def make_agent(game: Game[Any], text: str) -> Agent:
    """Return the agent that a text names, made for a game; raise MdplayError if there is none."""
    return entrant(game, text).fresh()


def entrant(game: Game[Any], agent: Agent | Entrant | str) -> Entrant:
    """Return an agent, or the agent that a text names, as one who enters a match.

    An agent given as an object plays all its games itself.
    """
    if isinstance(agent, Entrant):
        return agent
    if not isinstance(agent, str):
        return Entrant(getattr(agent, "name", type(agent).__name__), lambda: agent)
    maker, rest = _maker_of_file(agent) if ".py" in agent else _maker_of_name(agent)
    options = _options(maker, agent, rest)
    return Entrant(agent, lambda: _make(maker, game, agent, options))


def options_of(maker: Maker) -> list[Parameter]:
    """Return the options of an agent's maker: its parameters but the first, which is the game."""
    return parameters(maker)[1:]


def _options(maker: Maker, name: str, rest: str) -> dict[str, Any]:
    known = options_of(maker)
    if known and rest and "=" not in rest.partition(",")[0]:
        rest = f"{known[0].name}={rest}"  # policy:FILE
    try:
        given = read_parameters(known, rest)
    except MdplayError as error:
        raise type(error)(f"agent {name}: {error}") from None
    if missing := [p.name for p in known if p.default is Signature.empty and p.name not in given]:
        raise UnknownName(f"agent {name} needs {', '.join(f'{option}=...' for option in missing)}")
    return given


def _make(maker: Maker, game: Game[Any], name: str, options: Mapping[str, Any]) -> Agent:
    try:
        agent = maker(game, **options)
    except MdplayError as error:
        raise AgentError(f"agent {name}: {error}", name) from None
    except Exception as error:
        raise AgentError(f"agent {name} cannot be made: {_blame(error)}", name) from error
    if not isinstance(agent, Agent):
        raise AgentError(f"agent {name} has no method act(state, rng)", name)
    return agent


# ---------------------------------------------------------------- makers by name
def _maker_of_name(text: str) -> tuple[Maker, str]:
    name, _, rest = text.partition(":")
    return agent_maker(name.strip()), rest.strip()


def agent_maker(name: str) -> Maker:
    """Return the maker behind a registered name."""
    found: Maker = load_named("agent", name, AGENTS)
    return found


def _maker_of_file(text: str) -> tuple[Maker, str]:
    stem, dot_py, rest = text.partition(".py")
    class_name, _, options = rest.removeprefix(":").partition(":")
    path = Path(stem + dot_py).expanduser()
    if not class_name:
        raise UnknownName(f"name the class of the agent, as in {path.name}:Class")
    module = load_module(path)
    if not hasattr(module, class_name):
        known = [name for name, value in vars(module).items() if hasattr(value, "act")]
        raise unknown(f"agent in {path.name}:", class_name, known)
    maker: Maker = getattr(module, class_name)
    return maker, options


# ---------------------------------------------------------------- asking for a move
def choose(agent: Agent, name: str, game: Game[Any], state: Any, rng: Random) -> int:
    """Return the agent's action; raise AgentError if it raises or the action is not legal."""
    with blaming(name, game, state):
        answer = agent.act(state, rng)
    action = _whole(answer)
    if not 0 <= action < MAX_ACTIONS or not has(game.legal(state), action):
        legal = ", ".join(map(str, members(game.legal(state))))
        place = f"returned {answer!r} in {game.text(state)}"
        raise AgentError(f"agent {name} {place}; the legal actions are {legal}", name)
    return action


@contextmanager
def blaming(name: str, game: Game[Any], state: Any) -> Iterator[None]:
    """Turn whatever an agent raises into an AgentError: who, where, what."""
    try:
        yield
    except MdplayError as error:
        raise AgentError(f"agent {name} in {game.text(state)}: {error}", name) from None
    except (Exception, SystemExit) as error:
        raise AgentError(f"agent {name} in {game.text(state)} raised {_blame(error)}", name) from error


def _whole(answer: Any) -> int:
    try:
        return index(answer)
    except TypeError:
        return -1


def _blame(error: BaseException) -> str:
    """Return the error and the last line on the way to it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}".replace("\n", " ")
