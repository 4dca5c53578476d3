"""``mdplay reproduce``."""

from __future__ import annotations

from pathlib import Path

import click

from mdplay.cli.common import Count, progress, seed_option


@click.command()
@click.argument("systems", nargs=-1, type=Count(1, 5))
@click.option("--quick", is_flag=True, help="Smaller numbers: about a minute instead of half an hour.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("reproduction"), show_default=True, help="Folder."
)
@seed_option
def command(systems: tuple[int, ...], quick: bool, out: Path, seed: int) -> None:
    """Reproduce the five systems: the reports' claims, boards, plots, one HTML page.

    What is finished is kept: a run that was stopped goes on where it was.

    \b
    Examples:
      mdplay reproduce --quick
      mdplay reproduce 1 5 --out report
    """
    from mdplay.reproducing.run import FACTS, PAGE, SYSTEMS, reproduce

    for chapter in reproduce(systems or tuple(SYSTEMS), out, progress, quick=quick, seed=seed):
        click.secho(f"{chapter.number}. {chapter.title}", bold=True)
        click.echo(f"   {chapter.headline}")
    click.echo(f"\nThe page: {out / PAGE}   all figures as JSON: {out / FACTS}")
