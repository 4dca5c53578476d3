"""``mdplay serve``."""

from __future__ import annotations

import click


@click.command()
@click.argument("games", nargs=-1, metavar="[GAME|FILE]...")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0 takes a free one.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in the browser.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Another address than this machine's own.")
@click.option("--token", help="What others must bring with another host; default: a new one, which is printed.")
@click.option("--engine", metavar="E", help="Who does tree searches as well: processes, ray or ray:ADDRESS.")
def command(
    games: tuple[str, ...], port: int, open_browser: bool, host: str, token: str | None, engine: str | None
) -> None:
    """Serve the page to play, and to see what every move is worth; Ctrl-C ends it.

    \b
    Examples:
      mdplay serve --open
      mdplay serve my_game.py connect-four:rows=5,cols=5
      mdplay serve --host 0.0.0.0 --port 8000
      mdplay serve --engine ray:10.0.0.7:6379
    """
    try:
        from mdplay.web.serving import serve
    except ModuleNotFoundError as error:
        raise click.ClickException(f"the page needs {error.name}: pip install 'mdplay[web]'") from None

    serve(games, host=host, port=port, token=token, open_browser=open_browser, engine=engine, tell=click.echo)
