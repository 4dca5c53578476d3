"""Write the pages of the games, docs/games/*, from the games themselves: ``python tools/pages.py``.

Rules and numbering come from the docstrings, the rest from the registry and the contract; title, known
facts and the position of the picture from ``game.toml`` beside the rules.  A test compares the pages with them.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

from mdplay import Position, make
from mdplay.bits import elements
from mdplay.cli.games import KNOWLEDGE
from mdplay.game import Game, num_players
from mdplay.naming import registry, specs
from mdplay.naming.about import about, built_in_games

FOLDER = Path(__file__).parents[1] / "docs" / "games"


ABOUT = {name: about(name) for name in built_in_games()}


def pages() -> dict[Path, str]:
    """Return every generated file with its text."""
    found = {FOLDER / "index.md": index_page()}
    for name in ABOUT:
        position = Position.parse(make(name), picture(name))
        found[FOLDER / f"{name}.md"] = game_page(name, position)
        found[FOLDER / f"{name}.svg"] = position.svg + "\n"
    return found


def picture(name: str) -> str:
    """Return the position that the page of a game draws."""
    return ABOUT[name].picture or ABOUT[name].position


def index_page() -> str:
    """Return the table of all games."""
    head = ["# Games", "", "| game | name | players | features |", "|---|---|---|---|"]
    rows = [index_row(name, make(name)) for name in ABOUT]
    foot = "You can [write a game](../write-a-game.md) of your own; every command accepts it in the same way."
    return "\n".join([*head, *rows, "", foot, ""])


def index_row(name: str, game: Game[Any]) -> str:
    """Return the line of a game in the table."""
    return f"| [{ABOUT[name].title}]({name}.md) | `{name}` | {num_players(game)} | {', '.join(knowledge(game))} |"


def knowledge(game: Game[Any]) -> list[str]:
    """Return the features of a game."""
    return [word for method, word in KNOWLEDGE.items() if getattr(game, f"has_{method}")]


def game_page(name: str, position: Position[Any]) -> str:
    """Return the page of a game."""
    facts, maker, game = ABOUT[name], registry.maker(name), position.game
    parts = [
        f"# {facts.title}",
        f"![{facts.title}, the position {picture(name)}]({name}.svg)",
        *([doc(maker)] if inspect.isfunction(maker) else []),
        doc(inspect.getmodule(maker)),
        "## Parameters",
        parameters(maker),
        "## Notation",
        notation(game),
        f"```console\n$ mdplay show {name} --position {picture(name)}\n{shown(position)}\n```",
        "## Symmetries",
        symmetries(game),
        "## Known results",
        "\n".join(f"- {fact}" for fact in facts.facts),
        *more(name),
    ]
    return "\n\n".join(parts) + "\n"


def more(name: str) -> list[str]:
    """Return a link to the page of results of a game, if there is one: docs/NAME.md."""
    page = FOLDER.parent / f"{name}.md"
    if not page.exists():
        return []
    title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    return [f"More: [{title}](../{page.name})."]


def doc(documented: Any) -> str:
    """Return a docstring."""
    return (inspect.getdoc(documented) or "").strip()


def parameters(maker: registry.Maker) -> str:
    """Return the parameters of a game as a table."""
    found = specs.parameters(maker)
    if not found:
        return "None."
    rows = [f"| `{p.name}` | `{p.default}` | {span(p)} |" for p in found]
    return "\n".join(["| parameter | default | range |", "|---|---|---|", *rows])


def span(parameter: specs.Parameter) -> str:
    """Return the values that a parameter may take."""
    between = parameter.between
    return f"{between.low} to {between.high}" if between else "true or false" if parameter.kind is bool else ""


def notation(game: Game[Any]) -> str:
    """Return the notation of positions and moves, from the docstrings."""
    moves = doc(type(game).move_text) if type(game).move_text is not Game.move_text else "Return its number."
    return "\n\n".join(
        [
            f"A position: {without_verb(doc(type(game).parse))}",
            "A position can also be given by the moves that lead to it, as `moves:a,b,c`.",
            f"A move: {without_verb(moves)}",
        ]
    )


def without_verb(sentence: str) -> str:
    """Return a docstring without its verb ("Read ..." or "Return ...")."""
    return sentence.partition(" ")[2]


def shown(position: Position[Any]) -> str:
    """Return what ``mdplay show`` prints."""
    from mdplay.cli.games import report

    return report(position)


def symmetries(game: Game[Any]) -> str:
    """Return the number of symmetries and the number of distinct first moves."""
    start, count = game.initial(), game.symmetries()
    if game.has_outcomes:
        if count == 1:
            return "The game declares none."
        return f"The board has {count} symmetries, including the identity: its rotations and reflections."
    classes = {min(game.image(game.step(start, a), k) for k in range(count)) for a in elements(game.legal(start))}
    moves = len(elements(game.legal(start)))
    if count == 1:
        return f"The game declares none; the initial position has {moves} moves."
    return (
        f"The board has {count} symmetries, including the identity. "
        f"Number of moves in the initial position: {moves}; distinct up to symmetry: {len(classes)}."
    )


def main() -> None:
    """Write the pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(FOLDER.parents[1]), file=sys.stderr)


if __name__ == "__main__":
    main()
