"""Agents by name: ``random``, ``mcts:simulations=1000``, ``policy:FILE``, a user's ``file.py:Class``; ``search``.

An agent is anything with ``act(state, rng) -> action``.  Every game that is played starts with a new agent, so
it may keep data between the moves of a game and needs no lock.  An agent is given by its text, by its class,
which is called with the game, or as an object, of which every game gets a copy:

    class Leftmost:
        def __init__(self, game: Game) -> None:
            self.game = game

        def act(self, state, rng) -> int:
            return lowest(self.game.legal(state))

Further parameters of the class are options: ``leftmost.py:Leftmost:depth=3``.  Optional methods:
``evaluate(state)`` yields evaluations (``mdplay.evaluating.evaluation``), or more simply ``values(state)`` returns
a dictionary of the values of the moves for the player to move; ``exact = True`` says that they are exact.
``game_over()`` is called when a game has ended, also by an error.  Packages offer agents by an entry point in the
group ``mdplay.agents``.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import cached_property, partial
from inspect import Signature
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from mdplay.bits import MAX_MASK_WORDS, elements, has
from mdplay.compiling.contract import need_game
from mdplay.errors import AgentError, Forfeit, GameError, MdplayError, NotCompiled, UnknownName, unknown
from mdplay.game import Game, num_players
from mdplay.naming.registry import (
    all_names,
    extra_names,
    extras_of,
    games_with_extras,
    load_named,
    make,
)
from mdplay.naming.specs import Parameter, load_module, parameters, read_parameters, read_spec
from mdplay.position import Position, as_state
from mdplay.rng import Random
from mdplay.runtime.run import Run, RunOptions, run_of

if TYPE_CHECKING:
    from mdplay.searching.result import SearchResult

SEARCH_SETTINGS = ("seconds", "memory", "threads", "progress")
MAX_ACTIONS = 64 * MAX_MASK_WORDS
AGENTS = {
    "engine": "mdplay.playing.engine.agent:EngineAgent",
    "heuristic": "mdplay.searching.depth_limited:HeuristicAgent",
    "human": "mdplay.playing.terminal:HumanAgent",
    "ida-star": "mdplay.searching.ida_star:PuzzleAgent",
    "mcts": "mdplay.searching.mcts:MCTSAgent",
    "network": "mdplay.learning.network:NetworkAgent",
    "perfect": "mdplay.playing.basic:perfect_agent",
    "points": "mdplay.learning.cell_utilities:PointsAgent",
    "policy": "mdplay.playing.basic:PolicyAgent",
    "random": "mdplay.playing.basic:RandomAgent",
}
DEFAULT_AGENT = "mcts:simulations=10000"  # the default agent and evaluator
BY_NETWORK = "mcts:network=shipped,simulations=1000"  # the same, where a network comes with the game
_NAME_FIRST = re.compile(r"\s*[\w-]+\s*=")
ASKS_THE_GAME = "perfect"  # this one takes the game's own by itself


@runtime_checkable
class Agent(Protocol):
    """A player, which chooses moves."""

    def act(self, state: Any, rng: Random) -> int:
        """Return a legal action; all randomness comes from ``rng``."""


@runtime_checkable
class Reused(Protocol):
    """An agent that keeps something costly, such as a process, from game to game."""

    def another(self) -> Agent:
        """Return an agent for another game, which shares what is kept."""

    def close(self) -> None:
        """Give up what is kept."""


Maker = Callable[..., Agent]


@dataclass(frozen=True)
class NamedAgent:
    """An agent in a game or match: its name, and how a fresh one is made."""

    name: str
    fresh: Callable[[], Agent]
    told: Callable[[], str]  # what ``identity`` is
    is_named: bool = True  # by its name any process makes it; an object is in this one only
    is_ours: bool = False  # of the package: no data of its own changes its moves, and no other random numbers
    close: Callable[[], None] = lambda: None  # after the last game: ends the processes that were kept

    @cached_property
    def identity(self) -> str:
        """The hash of the agent and of the files that it is made of, as they were when first asked for."""
        return self.told()

    @property
    def sent(self) -> str:
        """The name by which another process makes the agent; raise AgentError if it is an object of this one."""
        if not self.is_named:
            raise AgentError(
                f"agent {self.name} is an object of this process; an executor needs its name", self.name
            )
        return self.name


def default_agent(game: Game[Any]) -> str:
    """Return the default agent and evaluator: tree search, by the game's network if there is one."""
    from mdplay.learning.shipped import shipped_file

    if shipped_file(game) is None:
        return DEFAULT_AGENT
    return "network" if "network" in extra_names(game, "agents") else BY_NETWORK


def agent_names() -> list[str]:
    """Return the names of all agents, those of installed packages included."""
    return all_names("agent", AGENTS)


def make_agent(game: Game[Any], text: str, **options: Any) -> Agent:
    """Return the agent that a text names, made for a game; raise MdplayError if there is none.

    Options may be given by keyword as well, which count before those in the text; None is an option not given.
    """
    need_game(game)
    maker, given = _maker_and_options(game, text)
    chosen = {name: value for name, value in options.items() if value is not None}
    known = [option.name for option in options_of(maker)]
    for name in chosen:
        if name not in known:
            raise _no_option(text, name, known)
    given |= chosen
    _check_whole(maker, text, given)
    return _make(maker, game, text, given)


def search(
    game: Game[Any],
    state: Any = None,
    *,
    agent: str | Maker = "mcts",
    seed: int = 0,
    interruptible: bool = False,
    run: Run | None = None,
    **options: Any,
) -> SearchResult:
    """Search a position (default: the start) within a budget and return the best move found.

    ``agent``: a spec such as ``mcts:selector=thompson`` or ``heuristic:depth=6``, a name whose options are
    keywords, as in ``search(game, agent="heuristic", depth=6)``, or the options themselves, ``MCTS(...)`` or
    ``DepthLimited(...)``.  The settings of the run are ``progress`` and, if the agent has them, ``seconds``,
    ``memory`` and ``threads``.  ``interruptible``: Ctrl-C ends the search, not the program, and the best move so
    far is returned.

    >>> from mdplay import make
    >>> search(make("connect-four"), agent="heuristic", depth=2).depth
    2
    """
    from mdplay.searching.result import SearchAgent

    start = as_state(game, state)
    limits = {name: options.pop(name) for name in RunOptions.__annotations__ if name in options}
    run = run_of(
        "search", SEARCH_SETTINGS, run, {name: limits[name] for name in limits if limits[name] is not None}
    )
    options |= {name: getattr(run, name) for name in SEARCH_SETTINGS if name != "progress"}
    if isinstance(agent, str):
        searcher = make_agent(game, agent, **options)
    else:
        searcher = agent(game, **{name: value for name, value in options.items() if value is not None})
    if not isinstance(searcher, SearchAgent):
        raise UnknownName(f"agent {agent} does not search; choose mcts, heuristic or ida-star")
    return searcher.search(start, seed=seed, show=run.progress, interruptible=interruptible)


def _no_option(agent: str, name: str, known: list[str]) -> UnknownName:
    if not known:
        return UnknownName(f"agent {agent}: no parameters here, not {name!r}")
    return UnknownName(f"agent {agent}: {unknown('parameter', name, known)}")


def _identity(agent: Any, maker: Any = None, options: Mapping[str, Any] | None = None) -> str:
    from mdplay.compiling.identity import agent_identity  # late: most matches save nothing

    return agent_identity(agent, maker, options)


def named_agent(game: Game[Any], agent: Agent | Maker | NamedAgent | str) -> NamedAgent:
    """Return an agent given by its text, by its class or as an object, as one that enters a match.

    Each game gets a new agent: made by the class (or any function of the game), or a copy of the object.  Raise
    AgentError if it cannot be made or copied.
    """
    need_game(game)
    if isinstance(agent, NamedAgent):
        return agent
    if isinstance(agent, type) or (callable(agent) and not isinstance(agent, Agent)):
        return _named_class(game, agent)
    if not isinstance(agent, str):
        if not isinstance(agent, Agent):
            raise AgentError(f"{agent!r} is not an agent: it has no method act(state, rng)", str(agent))
        name = getattr(agent, "name", type(agent).__name__)
        fresh = agent.another if isinstance(agent, Reused) else partial(_copied, agent, name)
        ours = _is_ours(agent) and not getattr(agent, "remembers", False)
        return NamedAgent(name, fresh, lambda: _identity(agent), is_named=False, is_ours=ours)
    maker, options = _maker_and_options(game, agent)
    _check_whole(maker, agent, options)

    def told() -> str:
        return _identity(agent, maker, _with_shipped(game, maker, options))

    ours = maker.__module__.partition(".")[0] == "mdplay"
    if hasattr(maker, "another"):
        first = _make(maker, game, agent, options)
        assert isinstance(first, Reused)
        return NamedAgent(agent, first.another, told, is_ours=ours, close=first.close)
    return NamedAgent(agent, lambda: _make(maker, game, agent, options), told, is_ours=ours)


def _named_class(game: Game[Any], maker: Maker) -> NamedAgent:
    """Return an agent given by its class, which is called with the game unless its constructor takes nothing."""
    name = getattr(maker, "__name__", type(maker).__name__)
    takes_game = bool(Signature.from_callable(maker).parameters)
    fresh = partial(_make, maker if takes_game else lambda game: maker(), game, name, {})
    return NamedAgent(name, fresh, lambda: _identity(fresh()), is_named=False)


def _copied(agent: Agent, name: str) -> Agent:
    """Return a copy of an agent for one game.

    Agents of the package keep no data that a copy may not share.  Of other agents everything is copied but
    frozen objects of the package, such as games and solutions.
    """
    if _is_ours(agent):
        return copy(agent)
    shared = {id(value): value for value in getattr(agent, "__dict__", {}).values() if _is_frozen(value)}
    try:
        return deepcopy(agent, shared)
    except Exception as error:
        why = f"cannot be copied for each game ({type(error).__name__}: {error})"
        raise AgentError(
            f"agent {name} {why}; give its class, or a function of the game that makes one", name
        ) from error


def _is_ours(thing: Any) -> bool:
    return type(thing).__module__.partition(".")[0] == "mdplay"


def _is_frozen(thing: Any) -> bool:
    is_frozen = getattr(getattr(type(thing), "__dataclass_params__", None), "frozen", False)
    return isinstance(thing, Game) or (is_frozen and _is_ours(thing))


def _with_shipped(game: Game[Any], maker: Maker, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options; where the network that comes with the game is meant, its file."""
    from mdplay.learning.shipped import SHIPPED, shipped_file

    given = {option.name: option.default for option in options_of(maker)} | dict(options)
    return {name: str(shipped_file(game)) if value == SHIPPED else value for name, value in given.items()}


def _maker_and_options(game: Game[Any], text: str) -> tuple[Maker, dict[str, Any]]:
    """Return what makes the agent of a text, and the options that the text gives."""
    spec = read_spec(text)
    maker = agent_maker(spec.name, game) if spec.file is None else _maker_of_file(spec.file, spec.name)
    return maker, _options(maker, text, spec.options)


def options_of(maker: Maker) -> list[Parameter]:
    """Return the options of an agent's maker: those it lists, or its parameters after the first, the game."""
    listed = getattr(maker, "parameters", None)
    return parameters(maker)[1:] if listed is None else listed()


def option_names(game: Game[Any], text: str) -> list[str]:
    """Return the names of the options that the agent of a text has."""
    return [option.name for option in options_of(_maker_and_options(game, text)[0])]


def _options(maker: Maker, name: str, rest: str) -> dict[str, Any]:
    known = options_of(maker)
    if known and rest and not _NAME_FIRST.match(rest):
        rest = f"{known[0].name}={rest}"  # policy:FILE, engine:./bot --depth=3
    try:
        given = read_parameters(known, rest)
    except MdplayError as error:
        raise type(error)(f"agent {name}: {error}") from None
    return given


def _check_whole(maker: Maker, name: str, given: Mapping[str, Any]) -> None:
    """Raise UnknownName if an option that has no default is missing."""
    known = options_of(maker)
    if missing := [p.name for p in known if p.default is Signature.empty and p.name not in given]:
        raise UnknownName(f"agent {name} needs {', '.join(f'{option}=...' for option in missing)}")


def _make(maker: Maker, game: Game[Any], name: str, options: Mapping[str, Any]) -> Agent:
    try:
        agent = maker(game, **options)
    except NotCompiled:
        raise
    except MdplayError as error:
        raise AgentError(f"agent {name}: {error}", name) from None
    except Exception as error:
        raise AgentError(f"agent {name} cannot be made: {_blame(error)}", name) from error
    if not isinstance(agent, Agent):
        raise AgentError(f"agent {name} has no method act(state, rng)", name)
    return agent


# ---------------------------------------------------------------- makers by name
def agent_maker(name: str, game: Game[Any]) -> Maker:
    """Return the maker behind a name: one that everybody knows, or one that the game brings."""
    own = extras_of(game, "agents")
    if name in own and name != ASKS_THE_GAME:
        mine: Maker = own[name]
        return mine
    try:
        found: Maker = load_named("agent", name, AGENTS)
    except UnknownName:
        if friends := [other for other in games_with_extras("agents") if name in extras_of(make(other), "agents")]:
            raise UnknownName(f"only {', '.join(friends)} has an agent {name!r}") from None
        raise unknown("agent", name, [*agent_names(), *own]) from None
    return found


def _maker_of_file(path: Path, class_name: str) -> Maker:
    if not class_name:
        raise UnknownName(f"name the class of the agent, as in {path.name}:Class")
    module = load_module(path)
    if not hasattr(module, class_name):
        known = [name for name, value in vars(module).items() if hasattr(value, "act")]
        raise unknown(f"agent in {path.name}:", class_name, known)
    maker: Maker = getattr(module, class_name)
    return maker


def leave(agent: Agent) -> None:
    """Notify an agent that its game has ended, if it has the method ``game_over``."""
    if game_over := getattr(agent, "game_over", None):
        game_over()


# ---------------------------------------------------------------- asking for a move
def choose(agent: Agent, name: str, game: Game[Any], state: Any, rng: Random) -> int:
    """Return the agent's action; raise AgentError if it raises or the action is not legal."""
    with blaming(name, game, state):
        answer = agent.act(state, rng)
    action = _whole(answer)
    if not 0 <= action < MAX_ACTIONS or not has(game.legal(state), action):
        legal = ", ".join(map(str, elements(game.legal(state))))
        place = f"returned {answer!r} in {game.text(state)}"
        raise AgentError(f"agent {name} {place}; the legal actions are {legal}", name)
    return action


@contextmanager
def blaming(name: str, game: Game[Any], state: Any) -> Iterator[None]:
    """Turn whatever an agent raises into an AgentError: who, where, what."""
    try:
        yield
    except NotCompiled:  # no fault of the agent
        raise
    except Forfeit as error:
        raise Forfeit(f"agent {name} {error}", name) from None
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


# ---------------------------------------------------------------- a game against an agent
CHANCE, OPPONENT = range(2)  # random streams of a game


def check_player(game: Game[Any], player: int, name: str = "player") -> None:
    """Raise GameError if the game has no such player; ``name`` is that of the argument."""
    if player not in range(num_players(game)):
        raise GameError(f"{name}={player} is not a player of {type(game).__name__}")


class Answering:
    """The moves of chance and of an opponent in one game, reproducible by a seed."""

    def __init__(self, opponent: NamedAgent, side: int, seed: int) -> None:
        self._name, self._agent, self._side = opponent.name, opponent.fresh(), side
        self._rngs = [Random(seed, number) for number in (CHANCE, OPPONENT)]

    def answer(self, position: Position[Any]) -> Position[Any]:
        """Return the position in which the side moves next, or the end."""
        while not position.is_over and position.player != self._side:
            position = position.after(self._event(position))
        return position

    def _event(self, position: Position[Any]) -> int:
        if position.is_chance:
            return position.draw(self._rngs[CHANCE].word())
        return choose(self._agent, self._name, position.game, position.state, self._rngs[OPPONENT])
