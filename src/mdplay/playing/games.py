"""One game between agents.

Game ``number`` of a seed has four random streams, 4 * number + 0 .. 2 for player 0, player 1 and chance, so that
no agent's thirst for random words changes another's luck, and threads change nothing at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mdplay.bits import some
from mdplay.errors import GameError
from mdplay.game import Game, num_players
from mdplay.playing.agents import Agent, Entrant, choose, entrant
from mdplay.playing.course import Course
from mdplay.playing.openings import Opening
from mdplay.playing.records import Record
from mdplay.rng import Random

STREAMS = 4  # of a game; the last one is left to openings
CHANCE = 2
MAX_EVENTS = 1_000_000


class Stopped(Exception):
    """The game was given up because somebody asked for it."""


def play(game: Game[Any], *agents: Agent | str, seed: int = 0, start: Any = None) -> Record:
    """Play one game between agents, given as objects or texts, and return its record.

    >>> from mdplay import make
    >>> play(make("tic-tac-toe"), "random", "random", seed=1).result
    1.0
    """
    return play_game(game, [entrant(game, agent) for agent in agents], seed=seed, opening=Opening(start))


def play_game(
    game: Game[Any],
    entrants: Sequence[Entrant],
    *,
    seed: int,
    number: int = 0,
    opening: Opening = Opening(),  # noqa: B008  a frozen value
    stopped: Callable[[], bool] = lambda: False,
) -> Record:
    """Play game ``number`` of a seed and return its record; raise Stopped once ``stopped()`` is true."""
    if len(entrants) != num_players(game):
        raise GameError(f"the game has {num_players(game)} players; {len(entrants)} agents were given")
    course = Course(game, opening.start)
    for event in opening.events:
        course.add(event)
    agents = [one.fresh() for one in entrants]
    streams = [Random(seed, STREAMS * number + role) for role in range(STREAMS)]
    while not course.over:
        if stopped():
            raise Stopped
        course.add(_next_event(course, agents, entrants, streams))
        if len(course.events) > MAX_EVENTS:
            raise GameError(f"the game did not end within {MAX_EVENTS} moves; does every game end?")
    names = tuple(one.name for one in entrants)
    given = len(opening.events)
    return Record(game, names, tuple(course.events), course.total, seed, number, opening.start, given)


def _next_event(
    course: Course, agents: Sequence[Agent], entrants: Sequence[Entrant], streams: Sequence[Random]
) -> int:
    game, s = course.game, course.state
    if some(course.chance):
        return game.draw(s, streams[CHANCE].word())
    player = game.player(s)
    return choose(agents[player], entrants[player].name, game, s, streams[player])
