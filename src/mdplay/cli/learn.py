"""``mdplay learn``: a command a game, with the options of all learners that it has."""

from __future__ import annotations

from inspect import getdoc
from pathlib import Path
from typing import Any

import click

from mdplay.cli.common import SECONDS, Seed, json_option, option_of, print_json, progress
from mdplay.game import Game
from mdplay.naming import registry
from mdplay.naming.specs import parameters

ANY = "GAME"
FILE = click.Path(path_type=Path)


def read_counts(ctx: click.Context, param: click.Parameter, text: str | None) -> int | list[int] | None:
    """Return the numbers of episodes in a text such as ``1000,10000``."""
    if text is None:
        return None
    counts = [part.strip().replace("_", "") for part in text.split(",")]
    if not all(count.isdecimal() and 0 < len(count) < 19 and int(count) > 0 for count in counts):
        raise click.BadParameter(f"{text!r} is not a positive number, nor a list such as 1000,10000,100000.")
    return int(counts[0]) if len(counts) == 1 else [int(count) for count in counts]


class Learners(click.Group):
    """The games that can be learned, each with a command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the games that bring learners of their own."""
        return registry.games_with_extras("learners")

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Return the command of a game, given as ``name:parameter=value,...`` or ``file.py:Class``."""
        return command_of(registry.make(cmd_name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of games; no learner is imported for it."""
        games = {name: registry.extra_names(registry.make(name), "learners") for name in self.list_commands(ctx)}
        rows = [(name, f"Its own methods: {', '.join(methods)}.") for name, methods in games.items()]
        with formatter.section("Games"):
            formatter.write_dl([*rows, (ANY, "Any game: network; if its actions are points, also points.")])


def command_of(game: Game[Any]) -> click.Command:
    """Return the command that learns a game, with the options of all its learners."""
    from mdplay.learning.learners import learners, options_of
    from mdplay.playing.learning import CurveOptions

    methods, own = learners(game), options_of(game)
    params: list[click.Parameter] = [
        click.Option(
            ["--episodes"],
            metavar="N",
            callback=read_counts,
            help="Number of episodes; method points accepts a list: 1000,10000.",
        ),
        click.Option(
            ["--method"], default="auto", show_default=True, help=f"{', '.join(methods)}; auto: the first."
        ),
        *(option_of(option) for option in own),
        *(option_of(option) for option in parameters(CurveOptions)),
        click.Option(["--seconds"], type=SECONDS, help="Time limit, instead of a number of episodes."),
        click.Option(["--seed"], type=Seed(), help="Seed of all random numbers (0)."),
        click.Option(
            ["--file", "--out", "file"], type=FILE, help="Save the training to this file, or resume from it."
        ),
        click.Option(["--plot"], type=FILE, help="Plot the learning curve (.png, .svg, .pdf)."),
        click.Option(["--curve"], type=FILE, help="Write the learning curve as CSV."),
    ]

    def learn_it(**given: Any) -> None:
        _learn(game, **given)

    doc = (getdoc(next(iter(methods.values()))) or "").replace("Example:", "\b\nExample:")  # lines stay lines
    return json_option(click.Command("learn", params=params, callback=learn_it, help=doc))


def _learn(game: Game[Any], *, as_json: bool, plot: Path | None, curve: Path | None, **given: Any) -> None:
    """Train, and print the learning curve."""
    from mdplay.playing.learning import learn

    with progress("learning") as show:
        learned = learn(game, progress=show, report=None if as_json else click.echo, **given)
    if plot is not None:
        learned.plot(plot)
    if curve is not None:
        learned.write_curve(curve)
    print_json(learned.document()) if as_json else click.echo(learned.text())
    if given["file"] is None and not given.get("compact") and not as_json:
        click.echo("the trained network is not saved; use --file FILE", err=True)


@click.group(cls=Learners, no_args_is_help=False, subcommand_metavar="GAME ...")
def learn_command() -> None:
    """Train an agent by self-play.

    \b
    Examples:
      mdplay learn connect-four --minutes 5 --out c4.safetensors --against mcts:simulations=1000
      mdplay learn my_game.py --episodes 50000 --plot curve.png
      mdplay learn 2048 --episodes 10000 --method tc --out network.safetensors
      mdplay learn qubic --method points --episodes 1000,10000,100000 --plot points.png
    """
