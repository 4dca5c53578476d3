"""``mdplay cache``."""

from __future__ import annotations

import click

from mdplay.cli.common import Number, json_option, print_json
from mdplay.words import counted


@click.command()
@click.option("--clear", is_flag=True, help="Remove all compiled kernels.")
@click.option("--prune", "days", type=Number(0), help="Remove those unused for so many days.")
@json_option
def command(clear: bool, days: float | None, as_json: bool) -> None:
    """Show or clear the folder of compiled kernels.

    \b
    Example:
      mdplay cache --clear
    """
    from mdplay.bridge.cache import entries, kernels_folder, prune

    days = -1.0 if clear else days
    removed = prune(days) if days is not None else 0
    files = list(entries())
    size = sum(path.stat().st_size for path in files)
    if as_json:
        print_json({"folder": str(kernels_folder()), "kernels": len(files), "bytes": size, "removed": removed})
        return
    if days is not None:
        click.echo(f"removed {counted(removed, 'compiled kernel')}")
    click.echo(f"{kernels_folder()}: {counted(len(files), 'compiled kernel')}, {size / 1e6:.1f} MB")
