"""``mdplay encode``: a player's states and the opponent's policy to an MDP file."""

from __future__ import annotations

import click


@click.command()
@click.option("--policy", required=True, metavar="FILE", help="The opponent's policy file.")
@click.option("--states", required=True, metavar="FILE", help="The states file of the player who plans.")
def command(policy: str, states: str) -> None:
    """Write the Anti-Tic-Tac-Toe MDP of a player against a fixed opponent to stdout.

    \b
    Example:
      mdplay encode --policy p2_policy.txt --states p1_states.txt > mdp.txt
    """
    from mdplay.games.tic_tac_toe.rules import anti_tic_tac_toe
    from mdplay.mdp.formats.encoding import encode, read_policy_file, read_states

    game = anti_tic_tac_toe()
    own, opponent = read_states(states, game), read_policy_file(policy, game, game.rows * game.cols)
    click.echo("".join(encode(game, own, opponent)), nl=False)
