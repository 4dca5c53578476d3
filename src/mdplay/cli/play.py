"""``mdplay play``."""

from __future__ import annotations

import os
import secrets
import select
import sys
from typing import Any

import click

from mdplay.cli.common import Seed, game_argument, position_option
from mdplay.errors import UnknownName
from mdplay.game import Game, num_players
from mdplay.playing.agents import BY_NETWORK, DEFAULT_AGENT, default_agent, named_agent
from mdplay.playing.records import load_records
from mdplay.playing.terminal import Session
from mdplay.position import Position
from mdplay.running import POLL_SECONDS
from mdplay.stopping import finishing


@click.command()
@game_argument
@click.option(
    "--agent", help=f"The opponent; default: {DEFAULT_AGENT}, or {BY_NETWORK} if a network comes with the game."
)
@click.option("--second", "human", is_flag=True, help="Let the agent begin.")
@click.option("--hints", is_flag=True, help="Give a hint before every move.")
@click.option(
    "--helper", metavar="AGENT", help="Who gives hints and values; default: the opponent if exact, else a search."
)
@click.option("--resume", type=click.Path(dir_okay=False), help="Go on with a game that was saved.")
@click.option("--record", type=click.Path(dir_okay=False), help="Write the game there when it ends or is left.")
@position_option
@click.option("--seed", type=Seed(), help="The same seed repeats the luck; default: another one each time.")
def command(
    game: Game[Any],
    agent: str | None,
    helper: str | None,
    resume: str | None,
    record: str | None,
    position: str | None,
    seed: int | None,
    **given: Any,
) -> None:
    """Play in the terminal.

    \b
    Examples:
      mdplay play connect-four
      mdplay play tic-tac-toe --agent perfect --second
      mdplay play 2048 --hints
    """
    alone = num_players(game) == 1
    if alone and (agent or given["human"]):
        raise UnknownName("this game is for one player: leave out --agent and --second")
    session = Session(
        _first(game, position, resume),
        None if alone else named_agent(game, agent or default_agent(game)),
        None if helper is None else named_agent(game, helper),
        **given,
        seed=secrets.randbits(32) if seed is None else seed,
        ask=_ask,
        say=click.echo,
        colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb",
    )
    try:
        session.run()
    finally:
        if record:
            with finishing():
                session.record().save(record)


def _first(game: Game[Any], position: str | None, resume: str | None) -> Position[Any]:
    """Return where the game begins or goes on."""
    if resume is not None:
        return load_records(resume, game)[-1].replay()
    return Position.start(game) if position is None else Position.parse(game, position)


def _ask(prompt: str) -> str:
    """Read a line; the end of the input means quit.

    At a terminal the read begins when there is a line: Ctrl-C that comes between the prompt and the read would be
    heard after the read only, too late to write the game.
    """
    try:
        if not sys.stdin.isatty():
            return input(prompt)
        click.echo(prompt, nl=False)
        while not select.select([sys.stdin], [], [], POLL_SECONDS)[0]:
            pass
        return input()
    except EOFError:
        click.echo()
        return "quit"
