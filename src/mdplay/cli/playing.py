"""What the commands that play games share."""

from __future__ import annotations

import click

games_option = click.option(
    "--games", type=click.IntRange(1), default=100, show_default=True, help="How many games."
)
openings_option = click.option(
    "--openings",
    metavar="KIND",
    default="random:2",
    show_default=True,
    help="none, random:N (N random moves), or a file with a position a line.",
)
workers_option = click.option(
    "--threads", type=click.IntRange(1), default=1, show_default=True, help="Games played side by side."
)
record_option = click.option(
    "--record", type=click.Path(dir_okay=False), help="Write the games there, one a line of JSON."
)
results_option = click.option(
    "--results",
    type=click.Path(dir_okay=False),
    help="An SQLite file that takes each game as it ends; run again to resume.",
)
