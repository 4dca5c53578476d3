"""``mdplay learn``: a command a game, with the options of all learners that it has."""

from __future__ import annotations

from inspect import getdoc
from pathlib import Path
from typing import Any

import click

from mdplay import Game
from mdplay.cli.common import SECONDS, THREADS, Seed, json_option, option_of, print_json, progress
from mdplay.naming import registry
from mdplay.naming.specs import Parameter, parameters

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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command of a task or a game; the method decides how a game is learned."""
        from mdplay.learning.reinforcement.library import is_task
        from mdplay.playing.learning import learns_task

        method = _method_in(args)
        if is_task(args[0]) or (method is not None and learns_task(registry.make(args[0]), method)):
            return args[0], task_command(args[0]), args[1:]
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Return the command of a game, given as ``name:parameter=value,...`` or ``file.py:Class``."""
        return command_of(registry.make(cmd_name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of games; no learner is imported for it."""
        games = {name: registry.extra_names(registry.make(name), "learners") for name in self.list_commands(ctx)}
        rows = [(name, f"Its own methods: {', '.join(methods)}.") for name, methods in games.items()]
        with formatter.section("Games"):
            formatter.write_dl([*rows, (ANY, "Any game: network; if its actions are points, also points.")])


def _method_in(args: list[str]) -> str | None:
    """Return the text of ``--method`` among arguments."""
    for i, word in enumerate(args):
        if word.startswith("--method="):
            return word.removeprefix("--method=")
        if word == "--method" and i + 1 < len(args):
            return args[i + 1]
    return None


def read_values(ctx: click.Context, param: click.Parameter, text: str | None) -> str | list[str] | None:
    """Return a number or schedule, or the list that ``0.1,0.5`` or ``first:last:step`` means."""
    if text is None:
        return None
    parts = text.split(":")
    try:
        if len(parts) == 3:
            first, last, step = map(float, parts)
            count = int((last - first) / step + 1.000001) if step > 0.0 else 0
            if not 0 < count <= 1000:
                raise ValueError
            return [f"{first + i * step:.10g}" for i in range(count)]
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a range; write for example 0.1:1:0.1.") from None
    return text.split(",") if "," in text else text


def task_command(name: str) -> click.Command:
    """Return the command that learns a task from experience, with the options of all methods."""
    from mdplay.learning.reinforcement.methods import METHODS, options_of_method
    from mdplay.learning.reinforcement.results import ExperimentOptions

    own: dict[str, Parameter] = {}
    for maker in METHODS.values():
        for option in options_of_method(maker):
            own.setdefault(option.name, option)
    alpha = own.pop("alpha")
    params: list[click.Parameter] = [
        click.Option(["--method"], default="q", show_default=True, help=f"A list of {', '.join(METHODS)}."),
        click.Option(
            ["--alpha"], callback=read_values, help=f"{alpha.help} A list or 0.1:1:0.1 gives more curves."
        ),
        *(option_of(option) for option in own.values()),
        *(option_of(option) for option in parameters(ExperimentOptions)),
        click.Option(
            ["--policy"], metavar="P", help="Policy of td and mc-prediction: uniform or a file of actions."
        ),
        click.Option(["--behaviour"], metavar="P", help="Policy that plays the episodes of off-policy-mc."),
        click.Option(["--opponent"], help="Opponent in a two-player game: uniform."),
        click.Option(["--start"], type=int, help="First state of an episode.  [default: that of the task]"),
        click.Option(["--seed"], type=Seed(), default=0, show_default=True, help="Seed of all random numbers."),
        click.Option(["--threads"], type=THREADS, help="Number of threads.  [default: one per core]"),
        click.Option(["--plot"], type=FILE, help="Plot the learning curves (.png, .svg, .pdf)."),
        click.Option(["--curve", "--csv", "curve"], type=FILE, help="Write the learning curves as CSV."),
    ]

    def learn_it(**given: Any) -> None:
        _learn_task(name, **given)

    return json_option(click.Command("learn", params=params, callback=learn_it, help=learn_task_help()))


def learn_task_help() -> str:
    """Return the help text of learning from experience."""
    return (
        "Learn a task from experience and compare the result with the exact optimum.\n\n"
        "The task is a name (see the documentation), a file with a drawn grid or an MDP, a Python file, or a game "
        "with --opponent.\n\n\b\nExamples:\n"
        "  mdplay learn cliff --method q,sarsa,expected-sarsa --alpha 0.5 --runs 1000 --plot cliff.png\n"
        "  mdplay learn walk:size=19 --method 'td(n=4)' --policy uniform --alpha 0.1:1:0.1\n"
        "  mdplay learn tic-tac-toe --method q --opponent uniform --alpha 1/n --episodes 100000 --runs 4"
    )


def _learn_task(name: str, *, as_json: bool, plot: Path | None, curve: Path | None, **given: Any) -> None:
    """Learn a task, and print the results."""
    from mdplay import make_task
    from mdplay.learning.reinforcement import learn_task

    task = make_task(name, start=given.pop("start"), opponent=given.pop("opponent"))
    options = {key: value for key, value in given.items() if value is not None}
    for policy in ("policy", "behaviour"):
        if policy in options and options[policy] != "uniform":
            options[policy] = _read_actions(options[policy])
    with progress("runs") as show:
        found = learn_task(task, progress=show, **options)
    if plot is not None:
        found.plot(plot)
    if curve is not None:
        found.write_curves(curve)
    print_json(found.document()) if as_json else click.echo(found.text())


def _read_actions(path: str) -> list[int]:
    """Return the actions of a file, one for each state."""
    from mdplay import FormatError
    from mdplay.storage.files import read_text

    try:
        return [int(word) for word in read_text(path).split()]
    except ValueError:
        raise FormatError(f"{path}: a policy file has one action on each line, an integer") from None


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
    from mdplay import learn

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
    """Train an agent by self-play, or learn a task from experience.

    \b
    Examples:
      mdplay learn cliff --method q,sarsa --alpha 0.5 --runs 1000 --plot cliff.png
      mdplay learn connect-four --minutes 5 --out c4.safetensors --against mcts:simulations=1000
      mdplay learn my_game.py --episodes 50000 --plot curve.png
      mdplay learn 2048 --episodes 10000 --method tc --out network.safetensors
      mdplay learn qubic --method points --episodes 1000,10000,100000 --plot points.png
    """
