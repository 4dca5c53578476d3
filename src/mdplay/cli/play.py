"""The commands ``play``, ``engine``, ``convert`` and ``accuracy``."""

from __future__ import annotations

import os
import secrets
import select
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click

from mdplay import FormatError, Game, MdplayError, Position, UnknownName, load_records
from mdplay.cli.common import (
    Count,
    GameName,
    Seed,
    TextFile,
    TextLines,
    game_argument,
    json_option,
    position_option,
    print_json,
    progress,
    seed_option,
)
from mdplay.errors import pluralize
from mdplay.game import num_players
from mdplay.naming.notation import parse_position
from mdplay.playing.agents import BY_NETWORK, DEFAULT_AGENT, default_agent, named_agent
from mdplay.playing.terminal import Session
from mdplay.runtime.signals import defer_exit
from mdplay.runtime.threads import POLL_SECONDS


@click.command()
@game_argument
@click.option(
    "--agent", help=f"The opponent; default: {DEFAULT_AGENT}, or {BY_NETWORK} if a network comes with the game."
)
@click.option("--second", "human", is_flag=True, help="Play second: the agent makes the first move.")
@click.option("--hints", is_flag=True, help="Print a hint before every move.")
@click.option(
    "--helper",
    metavar="AGENT",
    help="Agent for hints and values.  [default: the opponent if it is exact, else a search]",
)
@click.option("--resume", type=click.Path(dir_okay=False), help="Resume a saved game.")
@click.option("--record", type=click.Path(dir_okay=False), help="Write the game to this file at the end.")
@position_option
@click.option("--seed", type=Seed(), help="Seed of the random numbers.  [default: random]")
def play_command(
    game: Game[Any],
    agent: str | None,
    helper: str | None,
    resume: str | None,
    record: str | None,
    position: str | None,
    seed: int | None,
    **given: Any,
) -> None:
    """Play against an agent in the terminal.

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
            with defer_exit():
                session.record().save(record)


def _first(game: Game[Any], position: str | None, resume: str | None) -> Position[Any]:
    """Return the first position of the game."""
    if resume is not None:
        return load_records(resume, game)[-1].replay()
    return Position.start(game) if position is None else Position.parse(game, position)


def _ask(prompt: str) -> str:
    """Read a line; the end of the input means quit.

    At a terminal the read begins when a line is available: Ctrl-C between the prompt and the read would be handled
    after the read only, too late to write the game.
    """
    try:
        if not sys.stdin.isatty():
            return input(prompt)
        click.echo(prompt, nl=False)
        with suppress(OSError):  # Windows selects sockets only
            while not select.select([sys.stdin], [], [], POLL_SECONDS)[0]:
                pass
        return input()
    except EOFError:
        click.echo()
        return "quit"


@click.command()
@game_argument
@click.option("--agent", "-a", default="mcts", show_default=True, help="Agent.")
def engine_command(game: Game[Any], agent: str) -> None:
    """Act as a game engine: JSON lines on stdin and stdout, similar to UCI.

    docs/engine.md has the protocol.  Other programs play by it with the agent engine:COMMAND.

    \b
    Examples:
      mdplay engine connect-four
      mdplay match connect-four "engine:python my_bot.py" random
    """
    from mdplay.playing.engine.server import serve_engine

    serve_engine(game, agent)


@click.command()
@click.argument("source", type=click.Path(dir_okay=False))
@click.argument("target", type=click.Path(dir_okay=False))
@click.option("--game", type=GameName(), help="Game of the records, if the file does not name it.")
@click.option(
    "--from", "source_format", metavar="FORMAT", help="mdplay, sgf, moves ...  [default: by the file extension]"
)
@click.option("--to", "target_format", metavar="FORMAT", help="Format of the output.")
@click.option("--header", "headers", multiple=True, metavar="NAME=TEXT", help="Add event, date, site, round ...")
def convert_command(
    source: str,
    target: str,
    game: Game[Any] | None,
    source_format: str | None,
    target_format: str | None,
    headers: tuple[str, ...],
) -> None:
    """Convert records of games to and from other formats.

    Every move is replayed.  docs/records.md has the formats.

    \b
    Examples:
      mdplay convert games.jsonl games.sgf
      mdplay convert openings.moves games.jsonl --game connect-four --header event=openings
    """
    from mdplay.playing.formats import convert

    found = convert(
        source,
        target,
        game=game,
        source_format=source_format,
        target_format=target_format,
        headers=dict(map(_pair, headers)),
    )
    click.echo(f"{len(found):,} game{'s' if len(found) != 1 else ''} written to {target}")


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise FormatError(f"--header {text!r}: write NAME=TEXT, as in event=Cup")
    return name.strip(), value.strip()


MAX_LISTED = 10  # mistakes that are printed


@click.command()
@game_argument
@click.option("--agent", "-a", default="mcts", show_default=True, help="Agent.")
@click.option(
    "--oracle",
    default="perfect",
    show_default=True,
    help="Source of the exact values: an agent, or proof (proof search).",
)
@click.option(
    "--count", type=Count(1), default=200, show_default=True, help="Number of positions from random games."
)
@click.option("--positions", type=TextFile(), help="File of positions, one per line.")
@click.option("--side", type=click.IntRange(1, 2), help="Use only positions in which this player moves.")
@seed_option
@json_option
def accuracy_command(
    game: Game[Any],
    agent: str,
    oracle: str,
    count: int,
    positions: Any,
    side: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Measure the share of optimal moves of an agent, and list its mistakes.

    \b
    Example:
      mdplay accuracy anti-tic-tac-toe --agent mcts:simulations=10000 --count 500
      mdplay accuracy connect-four --oracle proof --positions positions.txt
    """
    from mdplay import accuracy

    texts = None if positions is None else _texts(game, positions)
    with progress("asking"):
        player = None if side is None else side - 1
        found = accuracy(game, agent, oracle, texts, count=count, seed=seed, side=player)
    if as_json:
        print_json({"agent": agent, **found.document()})
        return
    positions = pluralize(found.positions, "position")
    click.echo(
        f"{agent} plays an optimal move in {found.kept:,} of {positions}: {_share(found.share, found.interval)}"
    )
    critical = f"{found.critical - len(found.lost):,} of {found.critical:,} in which not every move is optimal"
    click.echo(f"  {critical}: {_share(found.critical_share, found.critical_interval)}")
    for mistake in found.lost[:MAX_LISTED]:
        click.echo(f"  {mistake.position}: plays {mistake.move}, optimal: {' '.join(mistake.best)}")
    if len(found.lost) > MAX_LISTED:
        click.echo(f"  and {len(found.lost) - MAX_LISTED:,} more (--json lists all)")


def _texts(game: Game[Any], file: TextLines) -> list[str]:
    """Return the first word of each line of a file; one that is not a position is an error that names the line."""
    found = []
    for number, line in enumerate(file, start=1):
        for text in line.split()[:1]:
            try:
                parse_position(game, text)
            except MdplayError as error:
                raise type(error)(f"{file.name}, line {number}: {error}") from None
            found.append(text)
    return found


def _share(share: float, interval: Sequence[float]) -> str:
    return f"{share:.1%} (95 %: {interval[0]:.1%} to {interval[1]:.1%})"
