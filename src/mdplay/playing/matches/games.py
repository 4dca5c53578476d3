"""One game between agents.

Game ``number`` of a seed has four random streams, 4 * number + 0 .. 2 for player 0, player 1 and chance, so that
agents do not affect each other's random numbers, and the number of threads does not affect the games.

How the games of a match come to differ: the first moves are given.

``none``       every game starts at the beginning
``random:N``   N random moves; no opening comes twice before all (or as good as all) have come
``FILE``       a position a line, or ``moves:a,b,c``; taken in turn

Two agents play each opening twice, once from either side.  Opening k depends on the seed and on k alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from mdplay.compiling.contract import need_game
from mdplay.errors import Forfeit, FormatError, GameError, MdplayError, UnknownName
from mdplay.game import Game, num_players
from mdplay.playing.agents import Agent, Maker, NamedAgent, choose, leave
from mdplay.playing.records import Record, forfeited
from mdplay.playing.time_limits import entering
from mdplay.position import Position, as_state
from mdplay.rng import Random
from mdplay.states.game_length import MoveLimit
from mdplay.storage.files import read, read_text

TRIES = 50  # draws without anything new before openings may come again
STREAM = 3  # of the seed; games use the streams 4 * number + 0, 1, 2


@dataclass(frozen=True)
class Opening:
    """Where a game starts (None: at the initial state) and the events that are given."""

    start: Any = None
    events: tuple[int, ...] = ()


def make_openings(game: Game[Any], text: str, count: int, seed: int) -> list[Opening]:
    """Return the first ``count`` openings that a text describes, or raise MdplayError."""
    kind, _, number = text.partition(":")
    if text == "none":
        return [Opening()] * count
    if kind == "random" and number.isdecimal():
        return _random_openings(game, int(number), count, Random(seed, STREAM))
    if not Path(text).is_file():
        raise UnknownName(
            f"{text!r} is no kind of opening and no file; give none, random:2 or a file of positions"
        )
    listed = _listed_openings(game, Path(text))
    return [listed[k % len(listed)] for k in range(count)]


def openings_label(text: str) -> str:
    """Return a text that stands for the same openings only: a file is known by its content."""
    path = Path(text)
    return f"sha256:{sha256(read(path)).hexdigest()}" if path.is_file() else text


def _random_openings(game: Game[Any], length: int, count: int, rng: Random) -> list[Opening]:
    found: list[Opening] = []
    seen: set[Any] = set()
    while len(found) < count:
        drawn = _new_opening(game, length, seen, rng)
        if drawn is not None:
            seen.add(drawn.state)
            found.append(Opening(None, drawn.events))
        elif seen:
            seen.clear()
        else:
            raise UnknownName(f"random:{length} leaves no game to play: the games end within {length} moves")
    return found


def _new_opening(game: Game[Any], length: int, seen: set[Any], rng: Random) -> Position[Any] | None:
    for _ in range(TRIES):
        drawn = _random_start(game, length, rng)
        if not drawn.is_over and drawn.state not in seen:
            return drawn
    return None


def _random_start(game: Game[Any], length: int, rng: Random) -> Position[Any]:
    """Play ``length`` random moves, and whatever chance does before the last of them."""
    position, moves = Position.start(game), 0
    while moves < length and not position.is_over:
        if position.is_chance:
            position = position.after(position.draw(rng.word()))
        else:
            position = position.after(rng.pick(game.legal(position.state)))
            moves += 1
    return position


def _listed_openings(game: Game[Any], path: Path) -> list[Opening]:
    lines = [(number, line.strip()) for number, line in enumerate(_lines(path), start=1) if line.strip()]
    if not lines:
        raise FormatError(f"{path} is empty; write a position a line")
    return [_listed(game, path, number, line) for number, line in lines]


def _lines(path: Path) -> list[str]:
    return read_text(path).splitlines()


def _listed(game: Game[Any], path: Path, number: int, line: str) -> Opening:
    try:
        position = Position.parse(game, line)
        if position.is_over:
            raise FormatError("the game is over there")
    except MdplayError as error:
        raise FormatError(f"{path}, line {number}: {error}") from None
    return Opening(None, position.events) if position.before else Opening(position.state)


STREAMS = 4  # of a game; the last one is left to openings
CHANCE = 2


class Stopped(Exception):
    """The caller stopped the game."""


def play(
    game: Game[Any], *agents: Agent | Maker | str, seed: int = 0, start: Any = None, max_moves: int | None = None
) -> Record:
    """Play one game between agents, given as objects or texts, and return its record.

    A game that is not over after ``max_moves`` moves is truncated.  By default only a game that repeats positions
    is: as the game says (``max_moves``), when the package's own agents reach a position for the third time without
    a random number, or after
    ten times the mean length of random games (100,000 moves in games with chance).

    >>> from mdplay import make
    >>> play(make("tic-tac-toe"), "perfect", "perfect").result
    0.0
    """
    need_game(game)
    opening = Opening(None if start is None else as_state(game, start))
    with entering(game, agents) as named_agents:
        return play_game(game, named_agents, seed=seed, opening=opening, max_moves=max_moves)


def play_game(
    game: Game[Any],
    named_agents: Sequence[NamedAgent],
    *,
    seed: int,
    number: int = 0,
    opening: Opening = Opening(),  # noqa: B008  a frozen value
    max_moves: int | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Record:
    """Play game ``number`` of a seed and return its record; raise Stopped once ``stopped()`` is true.

    An agent that raises Forfeit loses.
    """
    if len(named_agents) != num_players(game):
        raise GameError(f"the game has {num_players(game)} players; {len(named_agents)} agents were given")
    position = Position.start(game, opening.start).replay(opening.events)
    agents = [one.fresh() for one in named_agents]
    streams = [Random(seed, STREAMS * number + role) for role in range(STREAMS)]
    referee = MoveLimit(game, max_moves)
    watched = streams if all(one.is_ours for one in named_agents) else None
    names, given = tuple(one.name for one in named_agents), len(opening.events)
    record = partial(Record, game, names, seed=seed, number=number, start=opening.start, opening=given)
    try:
        while not (over := position.is_over) and not referee.is_truncated(position, watched):
            if stopped():
                raise Stopped
            position = position.after(_next_event(position, agents, named_agents, streams))
    except Forfeit as fault:
        loser = position.mover
        return record(position.events, forfeited(position, loser), forfeit=loser, reason=str(fault))
    finally:
        for agent in agents:
            leave(agent)
    return record(position.events, position.total if over else position.total_if_endless, by_limit=not over)


def _next_event(
    position: Position[Any], agents: Sequence[Agent], named_agents: Sequence[NamedAgent], streams: Sequence[Random]
) -> int:
    if position.is_chance:
        return position.draw(streams[CHANCE].word())
    player = position.mover
    return choose(agents[player], named_agents[player].name, position.game, position.state, streams[player])
