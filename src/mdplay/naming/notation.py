"""Words of people: moves, outcomes of chance and positions, read in a game's own notation.

An *event* is an action where a player moves and an outcome where chance does; the state tells which.
"""

from __future__ import annotations

import re

from mdplay.bits import elements, nonempty
from mdplay.errors import IllegalMove, PositionError
from mdplay.game import Game, S, num_players

MOVES = "moves:"  # before the moves of a position that is named by them


# ---------------------------------------------------------------- one event
def find_action(game: Game[S], s: S, move: str) -> int:
    """Return the legal action that a move in the game's notation means, or raise IllegalMove."""
    wanted = move.strip().lower()
    legal = {game.move_text(s, a).lower(): a for a in elements(game.legal(s))}
    if wanted not in legal:
        raise IllegalMove(f"{move.strip()!r} is not a legal move in {game.text(s)}; {_choices(list(legal))}")
    return legal[wanted]


def find_outcome(game: Game[S], s: S, text: str) -> int:
    """Return the outcome of chance that a text means, or raise IllegalMove.

    The game's own words count; ``*i`` means outcome i unless the game has words with a star itself.
    """
    known = {game.outcome_text(s, i).lower(): i for i in elements(game.outcomes(s))}
    if not any(word.startswith("*") for word in known):
        known |= {f"*{i}": i for i in known.values()}
    wanted = text.strip().lower()
    if wanted not in known:
        raise IllegalMove(f"{text.strip()!r} is no outcome of chance in {game.text(s)}; {_choices(list(known))}")
    return known[wanted]


def find_event(game: Game[S], s: S, text: str) -> int:
    """Return the legal action, or the outcome where chance moves, that a text means; or raise IllegalMove."""
    return find_outcome(game, s, text) if nonempty(game.outcomes(s)) else find_action(game, s, text)


def event_text(game: Game[S], s: S, event: int) -> str:
    """Return an action, or an outcome where chance moves, in the game's notation."""
    return game.outcome_text(s, event) if nonempty(game.outcomes(s)) else game.move_text(s, event)


def follow(game: Game[S], s: S, event: int) -> S:
    """Return the state after an action, or after an outcome where chance moves."""
    return game.outcome(s, event) if nonempty(game.outcomes(s)) else game.step(s, event)


# ---------------------------------------------------------------- many
def split_moves(text: str) -> list[str]:
    """Return the moves of a text, which separates them by commas or white space."""
    return [move for move in re.split(r"[,\s]+", text) if move]


def find_numbered(game: Game[S], s: S, number: int, move: str) -> int:
    """Return the event that move ``number`` of a list means, or raise PositionError, which tells the number."""
    try:
        return find_event(game, s, move)
    except IllegalMove as error:
        raise PositionError(f"move {number}: {error}") from None


def play_moves(game: Game[S], s: S, moves: str) -> S:
    """Return the state after moves and outcomes of chance, or raise PositionError for the first bad one."""
    for number, move in enumerate(split_moves(moves), start=1):
        s = follow(game, s, find_numbered(game, s, number, move))
    return s


def parse_position(game: Game[S], text: str) -> S:
    """Return the state that a text names: ``moves:a,b,c``, or the game's own notation."""
    text = text.strip()
    if text.startswith(MOVES):
        return play_moves(game, game.initial(), text.removeprefix(MOVES))
    return game.parse(text)


def _choices(names: list[str]) -> str:
    if not names:
        return "the game is over"
    shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    return f"choose from {shown}"


# ---------------------------------------------------------------- values of terminal states
def result_text(game: Game[S], value: float) -> str:
    """Return what player 0 gets as words: a draw, player 1 wins, player 2 wins by 8; of a game for one its points.

    The margin is included where there is one: where points are earned, and of results other than 1 and -1.
    """
    if num_players(game) == 1:
        return f"{value:.10g} points"
    if value == 0:
        return "a draw"
    margin = f" by {abs(value):.10g}" if game.has_reward or abs(value) != 1 else ""
    return f"player {1 if value > 0 else 2} wins{margin}"
