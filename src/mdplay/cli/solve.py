"""``mdplay solve``."""

from __future__ import annotations

from typing import Any, TextIO

import click

from mdplay.bits import some
from mdplay.cli.common import (
    GameName,
    json_option,
    position_option,
    print_json,
    progress,
    state_of,
    threads_option,
)
from mdplay.cli.opponents import needs_chains, prove_by_chains, solution_against, with_objective, write_all
from mdplay.cli.proving import Request, solve_batch, solve_position
from mdplay.game import Game, num_players

GIGABYTE = 1e9


def document(game: Game[Any], name: str, state: Any, solution: Any) -> dict[str, Any]:
    """Return what is known of a position, as the command's JSON document; values for the player to move."""
    best = set(solution.best(state))
    moves = [
        {"move": game.move_text(state, c.action), "action": c.action, "value": c.value, "distance": c.distance}
        for c in solution.choices(state)
    ]
    return {
        "game": name,
        "position": game.text(state),
        "player": None if some(game.outcomes(state)) or not moves else game.player(state),
        "value": solution.value(state),
        "distance": solution.distance(state),
        "exact": True,
        "best": [move["move"] for move in moves if move["action"] in best],
        "moves": moves,
        "states": solution.states,
        "seconds": solution.seconds,
    }


def verdict(game: Game[Any], facts: dict[str, Any], mover: int) -> str:
    """Return the value in words."""
    value, distance = facts["value"], facts["distance"]
    if value is None:
        return (
            f"not decided in the time given: worth {facts['low']:+g} to {facts['high']:+g} to player {mover + 1}"
        )
    if num_players(game) == 1 or game.has_outcomes or facts["opponent"] != "perfect":
        words = f"worth {value:.10g}"
    elif value == 0:
        words = "a draw"
    else:
        winner = mover if value > 0 else 1 - mover
        margin = f" by {abs(value):g}" if game.has_reward else ""
        words = f"player {winner + 1} wins{margin}"
    return words + (f", in {distance} plies" if distance else "")


def print_moves(facts: dict[str, Any]) -> None:
    """Print every move with its value, best first."""
    for move in sorted(facts["moves"], key=lambda move: (-_least(move), move["action"])):
        mark = "*" if move["move"] in facts["best"] else " "
        end = f"  in {move['distance']} plies" if move["distance"] is not None else ""
        worth = f"{move['low']:+g} to {move['high']:+g}" if move["value"] is None else f"{move['value']:+.10g}"
        click.echo(f"{mark} {move['move']:>6}  {worth}{end}")


def _least(move: dict[str, Any]) -> float:
    return float(move["low"] if move["value"] is None else move["value"])


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
    help="difference of points, own points (and wins) alone, or in 2048 tile=N: the probability of reaching it.",
)
@click.option("--all", "all_states", metavar="FILE", help="Write state,value,action of every state as CSV.")
@click.option("--save", metavar="FILE", help="Keep the solution in a file; an interrupted one goes on from it.")
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    help="Time for boards too large for a table; then bounds are told.",
)
@click.option("--memory", type=click.FloatRange(0, min_open=True), help="Use at most so many gigabytes.")
@click.option("--weak", is_flag=True, help="Connect Four: only who wins, not how soon; much quicker.")
@click.option("--batch", type=click.File(), metavar="FILE", help="Print 'position score' for each line of a file.")
@threads_option
@json_option
def command(
    name: str,
    position: str | None,
    opponent: str,
    objective: str,
    all_states: str | None,
    save: str | None,
    seconds: float,
    memory: float | None,
    weak: bool,
    batch: TextIO | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Solve a game exactly: the value of a position and of every move.

    \b
    Examples:
      mdplay solve tic-tac-toe
      mdplay solve connect-four --position 4453
      mdplay solve connect-four --batch positions.txt
      mdplay solve dots-and-boxes --opponent uniform-once --objective own --all policy.csv
    """
    game = with_objective(GameName().convert(name, None, None), objective)
    limit = None if memory is None else int(memory * GIGABYTE)
    by_proof = game.has_study and opponent == "perfect" and all_states is None and save is None
    if by_proof or batch is not None:
        request = Request(game, name, weak, limit, threads)
        solve_batch(request, batch) if batch is not None else solve_position(request, position, as_json)
        return
    state = state_of(game, position)
    with progress("states") as show:
        if needs_chains(game, opponent, limit):
            facts = prove_by_chains(game, name, state, seconds, show)
        else:
            solution = solution_against(game, state, opponent, objective, limit, save, show)
            facts = document(game, name, state, solution)
            if all_states is not None:
                write_all(solution, all_states)
    facts |= {"opponent": opponent, "objective": objective}
    if as_json:
        print_json(facts)
        return
    click.echo(game.board(state))
    click.echo()
    click.echo(
        f"{verdict(game, facts, game.player(state))}.  {facts['states']:,} states, {facts['seconds']:.2f} s"
    )
    print_moves(facts)
