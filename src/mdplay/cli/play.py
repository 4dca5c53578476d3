"""``mdplay play``."""

from __future__ import annotations

import os
import secrets
import sys
from typing import Any

import click

from mdplay.cli.common import game_argument, position_option
from mdplay.errors import UnknownName
from mdplay.game import Game, num_players
from mdplay.playing.agents import entrant
from mdplay.playing.course import Course, course_at
from mdplay.playing.records import load_records
from mdplay.playing.terminal import Session

OPPONENT = "mcts:simulations=10000"


@click.command()
@game_argument
@click.option("--agent", help=f"The opponent; default: {OPPONENT}.")
@click.option("--second", is_flag=True, help="Let the agent begin.")
@click.option("--hints", is_flag=True, help="Give a hint before every move.")
@click.option("--helper", metavar="AGENT", help=f"Who gives hints and values; default: {OPPONENT}.")
@click.option("--resume", type=click.Path(dir_okay=False), help="Go on with a game that was saved.")
@click.option("--record", type=click.Path(dir_okay=False), help="Write the game there when it ends or is left.")
@position_option
@click.option("--seed", type=int, help="The same seed repeats the luck; default: another one each time.")
def command(
    game: Game[Any],
    agent: str | None,
    second: bool,
    hints: bool,
    helper: str | None,
    resume: str | None,
    record: str | None,
    position: str | None,
    seed: int | None,
) -> None:
    """Play in the terminal.

    \b
    Examples:
      mdplay play connect-four
      mdplay play tic-tac-toe --agent perfect --second
      mdplay play 2048 --hints
    """
    alone = num_players(game) == 1
    if alone and (agent or second):
        raise UnknownName("this game is for one player: leave out --agent and --second")
    session = Session(
        _course(game, position, resume),
        None if alone else entrant(game, agent or OPPONENT),
        entrant(game, helper or OPPONENT),
        human=int(second),
        hints=hints,
        seed=secrets.randbits(32) if seed is None else seed,
        ask=_ask,
        say=click.echo,
        colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb",
    )
    try:
        session.run()
    finally:
        if record:
            session.record().save(record)


def _course(game: Game[Any], position: str | None, resume: str | None) -> Course:
    if resume is not None:
        return load_records(resume, game)[-1].replay()
    return Course(game) if position is None else course_at(game, position)


def _ask(prompt: str) -> str:
    """Read a line; the end of the input means quit."""
    try:
        return input(prompt)
    except EOFError:
        click.echo()
        return "quit"
