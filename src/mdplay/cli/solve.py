"""``mdplay solve``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from mdplay import Evaluation, Game, MdplayError, MoveEvaluation, PositionError, best_moves
from mdplay.bits import nonempty
from mdplay.cli.common import (
    GameName,
    TextFile,
    TextLines,
    executor_option,
    json_option,
    position_option,
    print_json,
    progress,
    setting,
    state_of,
    threads_option,
)
from mdplay.errors import pluralize
from mdplay.evaluating.wording import compare_moves, describe, format_bounds, in_plies
from mdplay.game import num_players
from mdplay.runtime.signals import Terminated, mark_interrupt_handled

if TYPE_CHECKING:
    from mdplay import Solution

COUNTED = {"proof": "table entry", "chains": "node"}  # methods that prove one position, and what they count
LEAST_COMPILING = 0.05  # seconds; a shorter time of compiling is not printed
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
@click.option("--distances", is_flag=True, help="Count all positions by their distance from the end.")
@setting("file", "--save", help="Save the solution in a file, with an executor in a folder, or resume it.")
@setting("save_every")
@setting("seconds", help="Time limit of proof search; prints the bounds when it expires.  [default: none]")
@click.option(
    "--network",
    metavar="FILE",
    help="Try moves in the order of a learned network (or: shipped) where a position is proved.",
)
@setting("memory", help="Maximum size of the table, for example 2GB.  [default: most of the free memory]")
@click.option("--batch", type=TextFile(), metavar="FILE", help="Print 'position score' for each line of a file.")
@threads_option
@executor_option
@json_option
def solve_command(
    name: str,
    position: str | None,
    all_states: str | None,
    distances: bool,
    batch: TextLines | None,
    as_json: bool,
    **question: Any,
) -> None:
    """Compute the exact value of a position and of every move.

    \b
    Examples:
      mdplay solve tic-tac-toe
      mdplay solve connect-four --position 4453
      mdplay solve connect-four --batch positions.txt
      mdplay solve sliding-puzzle --distances
      mdplay solve connect-four:rows=4,cols=5 --executor processes
      mdplay solve dots-and-boxes --opponent uniform-once --objective own --all policy.csv
    """
    from mdplay import solve

    game = GameName().convert(name, None, None)
    state = state_of(game, position)
    solution: Solution | None = None
    with progress("states", status=lambda: "" if solution is None else solution.table.status) as show:
        solution = solve(game, state, progress=show, **question)
        if batch is not None:
            print_scores(solution, batch)
        else:
            facts = document(solution, state, name=name, distances=distances)
            if all_states is not None:
                solution.write_all(all_states)
    for note in solution.notes:
        click.echo(f"mdplay: {note}", err=True)
    if batch is not None:
        return
    if as_json:
        print_json(facts)
    else:
        print_facts(solution.game, state, facts, seconds=question["seconds"])


def document(solution: Solution, state: Any, **options: Any) -> dict[str, Any]:
    """Return the document of a solution; on Ctrl-C, the bounds that are proved so far."""
    try:
        return solution.document(state, **options)
    except KeyboardInterrupt as interrupt:
        if not solution.table.on_demand or isinstance(interrupt, Terminated):
            raise
        mark_interrupt_handled()
        solution.table.seconds = 0.0
        return solution.document(state, **options) | {"interrupted": True}


# ---------------------------------------------------------------- the text for one position
def print_facts(game: Game[Any], state: Any, facts: dict[str, Any], *, seconds: float | None = None) -> None:
    """Print the board, the verdict, every move with its value and the principal variation.

    ``seconds`` is the time limit that a proof had.
    """
    click.echo(f"{game.board(state)}\n")
    click.echo(verdict(game, facts, seconds))
    click.echo(
        f"{facts['method']}: {pluralize(facts['states'], COUNTED.get(facts['method'], 'state'))}, {_time(facts)}"
    )
    differ = facts["exact"] or len({(move["low"], move["high"]) for move in facts["moves"]}) > 1
    if differ and facts["moves"]:  # otherwise the bounds of the position are those of every move
        _print_moves(game, state, facts)
    if facts["line"]:
        click.echo(f"Principal variation: {' '.join(facts['line'])}")
    if "distances" in facts:
        _print_distances(facts)


def _print_moves(game: Game[Any], state: Any, facts: dict[str, Any]) -> None:
    """Print the moves as a table, the best ones first, and what the star means."""
    known = {move["action"]: _evaluated(move) for move in facts["moves"]}
    by_action = {move["action"]: move for move in facts["moves"]}
    moves, best = [by_action[action] for action, _ in Evaluation(known).ranked], _marked(game, facts)
    columns = {"move": [move["move"] for move in moves], "value": [_value_text(move) for move in moves]}
    if any("score" in move for move in moves):
        columns["score"] = [f"{move['score']:+d}" if "score" in move else "" for move in moves]
    if any(move["distance"] is not None for move in moves):
        columns["plies"] = ["" if move["distance"] is None else str(move["distance"]) for move in moves]
    widths = {name: max(len(name), *map(len, cells)) for name, cells in columns.items()}
    click.echo("  " + "  ".join(name.rjust(widths[name]) for name in columns))
    for number, move in enumerate(moves):
        row = "  ".join(cells[number].rjust(widths[name]) for name, cells in columns.items())
        click.echo(f"{'*' if move['move'] in best else ' '} {row}".rstrip())
    mark = "" if not best else "* optimal.  " if facts["exact"] else "* the best as far as is known.  "
    whose = "" if num_players(game) == 1 else f"Values are for player {facts['player'] + 1}, to move."
    click.echo(f"{mark}{whose}".rstrip())
    why = compare_moves(game, state, Evaluation(known, best=best_moves(known))) if facts["exact"] else ""
    if why:
        click.echo(why)


def _evaluated(facts: dict[str, Any]) -> MoveEvaluation:
    """Return the evaluation of a move or a position of a document."""
    value, low, high = facts["value"], facts["low"], facts["high"]
    if value is not None:
        return MoveEvaluation.of(value, True, facts["distance"], facts.get("score"))
    return MoveEvaluation(-math.inf if low is None else low, math.inf if high is None else high, False)


def _print_distances(facts: dict[str, Any]) -> None:
    """Print how many positions are won, lost and drawn, and how many are how far from the end."""
    if facts["distances"] is None:
        click.echo(f"--distances: {facts['method']} keeps no count of all positions; use --method retrograde.")
        return
    click.echo(", ".join(f"{count:,} {kind}" for kind, count in facts["tally"].items() if count))
    for distance, count in facts["distances"].items():
        click.echo(f"{distance:>6} {count:>14,}")


def _marked(game: Game[Any], facts: dict[str, Any]) -> list[str]:
    """Return the moves that get a star: the optimal ones, in a puzzle those that solve it in the fewest moves."""
    if not _is_solved_puzzle(game, facts):
        return list(facts["best"])
    optimal = {m["action"]: _evaluated(m) for m in facts["moves"] if m["move"] in facts["best"]}
    fastest = best_moves(optimal, float(game.endless))
    return [move["move"] for move in facts["moves"] if move["action"] in fastest]


def _is_solved_puzzle(game: Game[Any], facts: dict[str, Any]) -> bool:
    known = facts["method"] == "retrograde" and facts["distance"] is not None
    return num_players(game) == 1 and known and facts["value"] > game.endless


def _time(facts: dict[str, Any]) -> str:
    """Return the time that solving took, and that of compiling."""
    compiling = facts["compiling_seconds"]
    return f"{facts['seconds']:.2f} s" + (
        f" (compiling: {compiling:.2f} s)" if compiling >= LEAST_COMPILING else ""
    )


def _value_text(move: dict[str, Any]) -> str:
    return format_bounds(move["low"], move["high"]) if move["value"] is None else f"{move['value']:+.10g}"


def verdict(game: Game[Any], facts: dict[str, Any], seconds: float | None = None) -> str:
    """Return a sentence with the value and the player it is for."""
    value, single = facts["value"], num_players(game) == 1
    turn = " (chance is to move)" if facts.get("chance") else ", to move"
    player = "" if single else f" for player {facts['player'] + 1}{turn}"
    if facts.get("over"):
        return _over(game, -value if facts["player"] else value)
    if value is None and facts["exact"]:
        return f"The value{player} is infinite: the best policy earns or pays without end."
    if value is None and facts.get("interrupted"):
        return f"Interrupted.  Bounds{player}: {_value_text(facts)}."
    if value is None:
        if facts["method"] in COUNTED and seconds is not None:
            if facts["low"] is facts["high"] is None:
                return f"Not solved within {seconds:g} s: no bounds are proved.  Increase --seconds."
            bounds = f"Bounds{player}: {_value_text(facts)}"
            return f"Not solved within {seconds:g} s.  {bounds}.  Increase --seconds to narrow them."
        return f"Bounds{player}: {_value_text(facts)}.  Rounding errors keep them apart."
    if game.has_outcomes or facts["opponent"] != "perfect":
        against = "" if facts["opponent"] == "perfect" else f", against {facts['opponent']}"
        return f"Expected result{player}{against}: {value:.10g}."
    endless, distance = bool(facts.get("endless")), facts["distance"] or None
    evaluation = replace(_evaluated(facts), score=None, distance=distance, endless=endless)
    plies = in_plies(evaluation)
    if single:
        if endless:
            return "No solution: best play is infinite."
        solved = _is_solved_puzzle(game, facts)
        return (
            f"Solved in {pluralize(facts['distance'], 'move')}."
            if solved
            else f"Best result: {value:.10g}{plies}."
        )
    if value == 0:
        return f"Draw{plies}."
    words = describe(game, evaluation, margins=facts["objective"] != "win")
    is_later = game.has_reward and facts["position"] != game.text(game.initial())
    remaining = " (points to come)" if is_later else ""  # the state does not contain the points earned before
    return f"Player {facts['player'] + 1}, to move, {words}{remaining}."


def _margin(game: Game[Any], value: float) -> str:
    return f" by {abs(value):.10g}" if game.has_reward or abs(value) != 1 else ""


def _over(game: Game[Any], result: float) -> str:
    """Return a sentence with the result of a finished game, given for player 0, without points earned before."""
    if game.has_reward:
        return (
            "Game over: no points are left."
            if result == 0
            else f"Game over: {result:+.10g} for player 1 at the end."
        )
    if num_players(game) == 1:
        return f"Game over: result {result:.10g}."
    if result == 0:
        return "Game over: draw."
    return f"Game over: player {1 if result > 0 else 2} won{_margin(game, result)}."


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
    from mdplay.naming.notation import parse_position

    for number, line in enumerate(file, start=1):
        text = line.strip()
        if not text:
            continue
        try:
            state = parse_position(game, text)
        except MdplayError as error:
            raise type(error)(f"{file.name}, line {number}: {error}") from None
        if not nonempty(game.legal(state)):
            raise PositionError(f"{file.name}, line {number}: {text!r}: the game is over, so there is no move")
        yield text, state
