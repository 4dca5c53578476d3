"""``mdplay solve``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from mdplay.bits import nonempty
from mdplay.cli.common import (
    GIGABYTES,
    SECONDS,
    GameName,
    TextFile,
    TextLines,
    engine_option,
    in_bytes,
    json_option,
    position_option,
    print_json,
    progress,
    state_of,
    threads_option,
)
from mdplay.errors import MdplayError, PositionError
from mdplay.game import Game, num_players
from mdplay.notation import parse_position, result_text
from mdplay.words import counted

if TYPE_CHECKING:
    from mdplay.solving.solution import Solution

KEEPS = "(* keeps the value; of these the page marks the soonest win or the latest loss)"
BEST_KNOWN = "(* the best as far as is known)"
LEAST_COMPILING = 0.05  # seconds that are worth a word
CHUNK = 256  # lines of a file that are solved together


@click.command()
@click.argument("name", metavar="GAME")
@position_option
@click.option(
    "--opponent",
    default="perfect",
    show_default=True,
    metavar="O",
    help="perfect, uniform (random moves), uniform-once (one random move, no points), or a policy FILE.",
)
@click.option(
    "--objective",
    default="difference",
    show_default=True,
    metavar="O",
    help="difference of points, own points (and wins) alone, win: who wins, not how soon (much quicker in "
    "Connect Four), or in 2048 tile=N: the probability of reaching it.",
)
@click.option("--method", default="auto", show_default=True, metavar="M", help="A solver by its name.")
@click.option("--all", "all_states", metavar="FILE", help="Write state,value,action of every state as CSV.")
@click.option("--distances", is_flag=True, help="Count all positions by their distance from the end (retrograde).")
@click.option(
    "--save",
    metavar="FILE",
    help="Keep the solution in a file, with an engine in a folder; an interrupted one goes on.",
)
@click.option(
    "--seconds",
    type=SECONDS,
    default=60.0,
    show_default=True,
    help="Time for a position that is proved by search; then bounds are told.",
)
@click.option(
    "--network",
    metavar="FILE",
    help="Try moves in the order of a learned network (or: shipped) where a position is proved.",
)
@click.option("--memory", type=GIGABYTES, help="Use at most so many gigabytes.")
@click.option("--batch", type=TextFile(), metavar="FILE", help="Print 'position score' for each line of a file.")
@threads_option
@engine_option
@json_option
def command(
    name: str,
    position: str | None,
    all_states: str | None,
    distances: bool,
    save: str | None,
    memory: float | None,
    batch: TextLines | None,
    as_json: bool,
    **question: Any,
) -> None:
    """Solve a game exactly: the value of a position and of every move.

    \b
    Examples:
      mdplay solve tic-tac-toe
      mdplay solve connect-four --position 4453
      mdplay solve connect-four --batch positions.txt
      mdplay solve sliding-puzzle --distances
      mdplay solve connect-four:rows=4,cols=5 --engine processes
      mdplay solve dots-and-boxes --opponent uniform-once --objective own --all policy.csv
    """
    from mdplay.solving.solvers import solve

    game = GameName().convert(name, None, None)
    state = state_of(game, position)
    with progress("states") as show:
        solution = solve(game, state, memory=in_bytes(memory), file=save, show=show, **question)
        if batch is not None:
            print_scores(solution, batch)
            return
        facts = solution.document(state, name=name, distances=distances)
        if all_states is not None:
            solution.write_all(all_states)
    if as_json:
        print_json(facts)
    else:
        print_facts(solution.game, state, facts)


# ---------------------------------------------------------------- one position in words
def print_facts(game: Game[Any], state: Any, facts: dict[str, Any]) -> None:
    """Print the board, the verdict, every move with its value and the best line."""
    click.echo(f"{game.board(state)}\n")
    click.echo(f"{verdict(game, facts)}.  {counted(facts['states'], 'state')}, {_time(facts)}")
    if not facts["exact"] and len({(move["low"], move["high"]) for move in facts["moves"]}) == 1:
        return  # nothing is known of one move that is not known of all
    for move in sorted(facts["moves"], key=_most_first):
        mark = "*" if move["move"] in facts["best"] else " "
        click.echo(f"{mark} {move['move']:>6}  {_value_text(move)}{_end(move['distance'])}")
    if facts["moves"]:
        click.echo(KEEPS if facts["exact"] else BEST_KNOWN)
    if facts["line"]:
        click.echo(f"best line: {' '.join(facts['line'])}")
    if "distances" in facts:
        click.echo(", ".join(f"{count:,} {kind}" for kind, count in facts["tally"].items() if count))
        for distance, count in facts["distances"].items():
            click.echo(f"{distance:>6} {count:>14,}")


def _time(facts: dict[str, Any]) -> str:
    """Return what solving took, and apart from it what compiling took."""
    compiling = facts["compiling_seconds"]
    return f"{facts['seconds']:.2f} s" + (f"; compiling {compiling:.2f} s" if compiling >= LEAST_COMPILING else "")


def _most_first(move: dict[str, Any]) -> tuple[float, float, int, int]:
    low, high = (-math.inf if move["low"] is None else move["low"]), (move["high"] or 0.0)
    return -low, -high, -move.get("score", 0), move["action"]


def _range(facts: dict[str, Any]) -> str:
    """Return the bounds of a value in words."""
    low, high = facts["low"], facts["high"]
    if low is None:
        return "any value" if high is None else f"at most {high:+g}"
    return f"at least {low:+g}" if high is None else f"{low:+g} to {high:+g}"


def _value_text(move: dict[str, Any]) -> str:
    if move["value"] is None:
        return _range(move)
    score = f"  score {move['score']:+d}" if "score" in move else ""
    return f"{move['value']:+.10g}{score}"


def _end(distance: int | None) -> str:
    return "" if not distance else f"  in {counted(distance, 'ply')}"


def verdict(game: Game[Any], facts: dict[str, Any]) -> str:
    """Return the value in words."""
    value, mover = facts["value"], facts["player"]
    if value is None:
        best = min(facts["moves"], key=_most_first)
        seen = len({(move["low"], move["high"]) for move in facts["moves"]}) > 1
        found = f"; the best move found is {best['move']}" if seen else ""
        if facts["low"] is facts["high"] is None:
            return f"not decided in the time given (--seconds){found}"
        return f"not decided in the time given: worth {_range(facts)} to player {mover + 1}{found}"
    if facts.get("endless"):
        return (
            "never solved: play goes on for ever" if num_players(game) == 1 else _endless_words(game, value, mover)
        )
    if num_players(game) == 1 and facts["method"] == "retrograde" and value > game.endless:
        return f"solved in {counted(facts['distance'], 'move')}"
    if num_players(game) == 1 or game.has_outcomes or facts["opponent"] != "perfect":
        words = f"worth {value:.10g}"
    else:
        words = result_text(game, -value if mover else value)
    return words + (f",{_end(facts['distance'])[1:]}" if facts["distance"] else "")


def _endless_words(game: Game[Any], value: float, mover: int) -> str:
    """Return what endless play comes to."""
    result = "a draw" if value == 0 else result_text(game, -value if mover else value)
    return f"{result} by endless play"


# ---------------------------------------------------------------- a file of positions
def print_scores(solution: Solution, file: TextLines) -> None:
    """Print ``position score`` for each line of a file, in its order; what is proved is kept between positions."""
    lines = positions_of(solution.game, file)
    while chunk := list(islice(lines, CHUNK)):
        scores = solution.scores(state for _, state in chunk)
        for (text, _), score in zip(chunk, scores, strict=True):
            click.echo(f"{text} {score:g}")


def positions_of(game: Game[Any], file: TextLines) -> Iterator[tuple[str, Any]]:
    """Yield the positions of a file, a line each; a bad one is an error that names the line."""
    for number, line in enumerate(file, start=1):
        text = line.strip()
        if not text:
            continue
        try:
            state = parse_position(game, text)
        except MdplayError as error:
            raise type(error)(f"{file.name}, line {number}: {error}") from None
        if not nonempty(game.legal(state)):
            raise PositionError(f"{file.name}, line {number}: {text!r}: the game is over, nobody is to move")
        yield text, state
