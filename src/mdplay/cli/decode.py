"""``mdplay decode``: a planner's values and actions to a policy file."""

from __future__ import annotations

import click

from mdplay.cli.common import Count


@click.command()
@click.option("--value-policy", required=True, metavar="FILE", help="What the planner printed.")
@click.option("--states", required=True, metavar="FILE", help="The states file that was encoded.")
@click.option("--player-id", required=True, type=Count(1, 2), help="The player who planned.")
def command(value_policy: str, states: str, player_id: int) -> None:
    """Write the Anti-Tic-Tac-Toe policy file of a plan to stdout.

    \b
    Example:
      mdplay plan mdp.txt > plan.txt
      mdplay decode --value-policy plan.txt --states p1_states.txt --player-id 1
    """
    from mdplay.games.tic_tac_toe.rules import anti_tic_tac_toe
    from mdplay.mdp.formats.encoding import decode, read_states

    game = anti_tic_tac_toe()
    lines = decode(game, read_states(states, game), value_policy, player_id - 1, game.rows * game.cols)
    click.echo("".join(lines), nl=False)
