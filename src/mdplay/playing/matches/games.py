"""One game between agents.

Game ``number`` of a seed has four random streams, 4 * number + 0 .. 2 for player 0, player 1 and chance, so that
agents do not affect each other's random numbers, and the number of threads does not affect the games.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mdplay.checking.limits import Referee
from mdplay.contract import need_game
from mdplay.errors import Forfeit, GameError
from mdplay.game import Game, num_players
from mdplay.playing.agents import Agent, Maker, NamedAgent, choose, leave
from mdplay.playing.engine.limits import entering
from mdplay.playing.matches.openings import Opening
from mdplay.playing.records import Record, forfeited
from mdplay.position import Position, as_state
from mdplay.rng import Random

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
    referee = Referee(game, max_moves)
    watched = streams if all(one.is_ours for one in named_agents) else None
    names, given = tuple(one.name for one in named_agents), len(opening.events)
    record = partial(Record, game, names, seed=seed, number=number, start=opening.start, opening=given)
    try:
        while not (over := position.is_over) and not referee.calls_off(position, watched):
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
