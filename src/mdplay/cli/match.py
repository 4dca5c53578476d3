"""``mdplay match``."""

from __future__ import annotations

import math
from typing import Any

import click

from mdplay.cli.common import game_argument
from mdplay.cli.playing import called_off, forfeited, match_options, playing, report
from mdplay.game import Game
from mdplay.playing.matches.match import MatchResult, Tally, match
from mdplay.words import counted


@click.command()
@game_argument
@click.argument("a")
@click.argument("b")
@match_options
@click.option(
    "--side",
    type=click.IntRange(1, 2),
    help="The player that A always is, as for a policy file of one player; default: sides alternate.",
)
def command(
    game: Game[Any], a: str, b: str, record: str | None, as_json: bool, side: int | None, **given: Any
) -> None:
    """Play a match of two agents: the score with a 95 % interval.

    Sides alternate, and each opening is played from both, unless --side is given.

    \b
    Examples:
      mdplay match connect-four random random --games 1000 --record games.jsonl
      mdplay match tic-tac-toe perfect random --openings none --results match.db
      mdplay match anti-tic-tac-toe policy:player2.txt perfect --side 2
    """
    with playing(given["games"], given["results"], record) as show:
        found = match(game, a, b, show=show, side=None if side is None else side - 1, **given)
    report(found, _lines, record, as_json)


def _lines(found: MatchResult) -> list[str]:
    a, b = found.agents
    (low, high), (mean, error) = found.interval, found.mean
    first, second = found.sides
    lines = [
        f"{a} v {b}: {_words(found.tally)}",
        f"score {found.tally.score:.3f} (95 %: {low:.3f} to {high:.3f}), Elo {_elo(found)}",
        f"{a} " + "; ".join(f"as player {n}: {_words(t)}" for n, t in ((1, first), (2, second)) if t.games),
        f"{counted(found.distinct, 'distinct game')} of {found.tally.games:,}",
    ]
    if any(abs(result) not in (0, 1) for result in found.results):
        lines.insert(2, f"mean result {mean:+.3f} +- {1.96 * error:.3f} (95 %)")
    if found.distinct < found.tally.games:
        lines[-1] += "; the intervals count only these"
    for agent, games in zip(found.agents, found.forfeits, strict=True):
        lines += forfeited(agent, games, found.records)
    return lines + called_off(found.by_limit)


def _words(tally: Tally) -> str:
    return f"{tally.wins} won, {tally.draws} drawn, {tally.losses} lost"


def _elo(found: MatchResult) -> str:
    ends = [f"{end:+.0f}" if math.isfinite(end) else ("-" if end < 0 else "+") + "inf" for end in found.elo[1]]
    middle = found.elo[0]
    shown = f"{middle:+.0f} " if math.isfinite(middle) else ""
    return f"{shown}({ends[0]} to {ends[1]})"
