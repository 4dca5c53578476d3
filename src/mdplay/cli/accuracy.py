"""``mdplay accuracy``."""

from __future__ import annotations

from typing import Any

import click

from mdplay.cli.common import Count, game_argument, json_option, print_json, progress, seed_option
from mdplay.errors import UnknownName
from mdplay.game import Game
from mdplay.notation import parse_position


@click.command()
@game_argument
@click.option("--agent", "-a", default="mcts", show_default=True, help="Who is examined.")
@click.option(
    "--oracle",
    default="perfect",
    show_default=True,
    help="Who knows the exact values: an agent, or proof (search).",
)
@click.option("--count", type=Count(1), default=200, show_default=True, help="Positions of random games.")
@click.option("--positions", type=click.File(), help="A file of positions, one a line, instead.")
@seed_option
@json_option
def command(
    game: Game[Any], agent: str, oracle: str, count: int, positions: Any, seed: int, as_json: bool
) -> None:
    """Count how often an agent's moves keep the exact value of the position.

    \b
    Example:
      mdplay accuracy anti-tic-tac-toe --agent mcts:simulations=10000 --count 500
      mdplay accuracy connect-four --oracle proof --positions positions.txt
    """
    from mdplay.playing.accuracy import Oracle, ProofOracle, measure_accuracy, sample_states
    from mdplay.playing.agents import make_agent

    player = make_agent(game, agent)
    knower = ProofOracle(game) if oracle == "proof" else make_agent(game, oracle)
    if not isinstance(knower, Oracle):
        raise UnknownName(f"agent {oracle} does not know what moves are worth; choose one that does, as perfect")
    if positions is None:
        states = sample_states(game, count, seed=seed)
    else:
        states = [parse_position(game, line.split()[0]) for line in positions if line.strip()]
    with progress("asking"):
        found = measure_accuracy(game, player, knower, states, seed=seed)
    if as_json:
        print_json({"agent": agent, **found.document()})
        return
    share = f"{found.share:.1%} +- {1.96 * found.standard_error:.1%} (95 %)"
    click.echo(f"{agent} keeps the value in {found.kept} of {found.positions} positions: {share}")
    for text in found.lost[:10]:
        click.echo(f"  not in {text}")
