"""``mdplay search``."""

from __future__ import annotations

from typing import Any

import click

from mdplay import Game
from mdplay.cli.common import (
    Count,
    game_argument,
    json_option,
    position_option,
    print_json,
    progress,
    seed_option,
    setting,
    state_of,
)
from mdplay.errors import pluralize


@click.command()
@game_argument
@position_option
@click.option(
    "--agent",
    "-a",
    default="mcts",
    show_default=True,
    help="For example mcts:selector=ucb1(c=1),expansion=all or heuristic:depth=8.",
)
@click.option(
    "--simulations", "-n", type=Count(1), help="Maximum number of simulations.  [default: 10000 without --seconds]"
)
@setting("seconds", "-t")
@setting("memory")
@setting("threads", help="Independent trees.  [default: 1; with --seconds one per core]")
@click.option("--tree", type=click.Path(dir_okay=False), metavar="FILE", help="Save the tree of mcts as JSON.")
@seed_option
@json_option
def search_command(game: Game[Any], position: str | None, tree: str | None, as_json: bool, **given: Any) -> None:
    """Search for a good move.  Ctrl-C stops the search and prints the best move so far.

    \b
    Examples:
      mdplay search connect-four --position 4453 --seconds 1
      mdplay search 2048 -p 1123000000000000 --agent mcts:selector=thompson -n 2000
      mdplay search connect-four --agent heuristic:depth=8 --json
    """
    from mdplay import search

    state = state_of(game, position)
    with progress("searching", given["simulations"]) as show:
        result = search(game, state, progress=show, interruptible=True, **given)
    if tree is not None and result.tree is not None:
        result.tree.save(tree)
    if as_json:
        print_json(result.document())
        return
    _print(game, state, result, given["agent"])


def _print(game: Game[Any], state: Any, result: Any, agent: str) -> None:
    click.echo(game.board(state))
    if agent.partition(":")[0] == "ida-star":
        _print_way(result)
        return
    by_nodes = not result.simulations  # a search that counts the nodes of each move
    width = max(4, *(len(move.move) for move in result.moves))
    click.echo(f"\n{'move':>{width}}  {'nodes' if by_nodes else 'visits':>11} {'value':>9}")

    def order(move: Any) -> tuple[bool, bool, float]:
        return (
            move.action != result.action,
            move.action not in result.best,
            -(move.value if by_nodes else move.visits),
        )

    for move in sorted(result.moves, key=order):
        mark = "*" if move.action in result.best else " "
        proven = " proven" if move.proven else ""
        click.echo(f"{move.move:>{width}} {mark}{move.visits:>11,} {move.value:>+9.3f}{proven}")
    click.echo(f"\nline  {' '.join(result.line[:20])}")
    if result.simulations:
        speed = f"{result.simulations_per_second:,.0f}/s"
        simulated, nodes = pluralize(result.simulations, "simulation"), pluralize(result.nodes, "node")
        click.echo(f"{simulated} in {result.seconds:.2f} s ({speed}), {nodes}")
        if result.by_limit:
            click.echo(f"{pluralize(result.by_limit, 'random game')} truncated by the move limit")
    else:
        click.echo(f"depth {result.depth}, {pluralize(result.nodes, 'node')} in {result.seconds:.2f} s")


def _print_way(result: Any) -> None:
    """Print the solution of a puzzle, or that there is none yet."""
    searched = f"{pluralize(result.nodes, 'node')} in {result.seconds:.2f} s"
    if not result.actions:
        click.echo(f"\nNo solution found: at least {pluralize(result.depth, 'move')} are needed.  {searched}")
        return
    value = (
        "" if result.proven else f"  Its result is {result.value:g}; a goal farther away may have a higher one."
    )
    click.echo(f"\nSolved in {pluralize(result.depth, 'move')}, which is the least.{value}")
    click.echo(" ".join(result.line))
    click.echo(searched)
