"""Write the pages of the games, docs/games/*, from the games themselves: ``python tools/pages.py``.

Rules and numbering come from the docstrings, the rest from the registry and the contract; only the known facts
and the position of the picture are written here.  A test compares the pages with what this would write.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mdplay import Position, make, registry
from mdplay.bits import members
from mdplay.cli.games import KNOWLEDGE
from mdplay.game import Game, num_players

FOLDER = Path(__file__).parents[1] / "docs" / "games"


@dataclass(frozen=True)
class Facts:
    """What cannot be read off a game: its title, a position worth a picture, and what others have found."""

    title: str
    position: str
    known: tuple[str, ...]


FACTS = {
    "2048": Facts(
        "2048",
        "0012012312341356",
        (
            "The game is by Gabriele Cirulli (2014).",
            "On 3 x 3 the best play earns 5468.49 points on average; there are 48,713,519 states up to symmetry "
            "(Yamashita and Kaneko).",
        ),
    ),
    "anti-tic-tac-toe": Facts(
        "Anti-Tic-Tac-Toe",
        "100020010",
        (
            "Perfect play draws, and only the centre does; the other eight openings lose.",
            "5478 positions can be reached.",
            "Among random players the first wins 121/420 of the games, 8/63 are drawn.",
        ),
    ),
    "connect-four": Facts(
        "Connect Four",
        "44434455336",
        (
            "The first player wins, by the middle column (Allen 1988, Allis 1988).",
            "On 7 x 6 there are 4,531,985,219,092 positions (Tromp).",
        ),
    ),
    "dots-and-boxes": Facts(
        "Dots and Boxes",
        "moves:0,2,6,8,1,3,4,5,9",
        (
            "Perfect play on 3 x 3 boxes gives the second player 6 boxes to 3, whatever the first line; on 4 x 4 "
            "it is a tie (Wilson, wilson.engr.wisc.edu/boxes).",
            "On 4 x 5 boxes it is a tie (Barker and Korf 2012), the largest board solved.",
        ),
    ),
    "qubic": Facts(
        "Qubic",
        "111,222,000,121,003,112,030,333,021",
        (
            "The first player wins (Patashnik 1980).",
            "The 192 symmetries are all there are (Silver 1967).",
            "Up to symmetry there are 2, 35, 757 and 20,851 positions after one, two, three and four moves.",
            "Among random players the first wins 52.7 % of the games; a game takes 35.5 moves.",
        ),
    ),
    "tic-tac-toe": Facts(
        "Tic-Tac-Toe",
        "120010200",
        ("Perfect play draws.", "5478 positions can be reached, 765 up to symmetry."),
    ),
}


def pages() -> dict[Path, str]:
    """Return every generated file with its text."""
    found = {FOLDER / "index.md": index_page()}
    for name in FACTS:
        position = Position.parse(make(name), FACTS[name].position)
        found[FOLDER / f"{name}.md"] = game_page(name, position)
        found[FOLDER / f"{name}.svg"] = position.svg + "\n"
    return found


def index_page() -> str:
    """Return the table of all games."""
    head = ["# Games", "", "| game | name | players | has and knows |", "|---|---|---|---|"]
    rows = [index_row(name, make(name)) for name in FACTS]
    foot = "[Write a game](../write-a-game.md) of your own, and it stands beside these."
    return "\n".join([*head, *rows, "", foot, ""])


def index_row(name: str, game: Game[Any]) -> str:
    """Return the line of a game in the table."""
    return f"| [{FACTS[name].title}]({name}.md) | `{name}` | {num_players(game)} | {', '.join(knowledge(game))} |"


def knowledge(game: Game[Any]) -> list[str]:
    """Return the words for what a game has and knows."""
    return [word for method, word in KNOWLEDGE.items() if getattr(game, f"has_{method}")]


def game_page(name: str, position: Position[Any]) -> str:
    """Return the page of a game."""
    facts, maker, game = FACTS[name], registry.maker(name), position.game
    parts = [
        f"# {facts.title}",
        f"![{facts.title}, the position {facts.position}]({name}.svg)",
        *([doc(maker)] if inspect.isfunction(maker) else []),
        doc(inspect.getmodule(maker)),
        "## Parameters",
        parameters(maker),
        "## Notation",
        notation(game),
        f"```console\n$ mdplay show {name} --position {facts.position}\n{shown(position)}\n```",
        "## Symmetries",
        symmetries(game),
        "## Known facts",
        "\n".join(f"- {fact}" for fact in facts.known),
    ]
    return "\n\n".join(parts) + "\n"


def doc(documented: Any) -> str:
    """Return a docstring."""
    return (inspect.getdoc(documented) or "").strip()


def parameters(maker: registry.Maker) -> str:
    """Return the parameters of a game as a table."""
    found = registry.parameters(maker)
    if not found:
        return "None."
    rows = [f"| `{p.name}` | `{p.default}` | {span(p)} |" for p in found]
    return "\n".join(["| parameter | default | range |", "|---|---|---|", *rows])


def span(parameter: registry.Parameter) -> str:
    """Return the values that a parameter may take."""
    between = parameter.between
    return f"{between.low} to {between.high}" if between else "true or false" if parameter.kind is bool else ""


def notation(game: Game[Any]) -> str:
    """Return how positions and moves are written, as the methods say."""
    moves = doc(type(game).move_text) if type(game).move_text is not Game.move_text else "Return its number."
    return "\n\n".join(
        [
            f"A position: {without_verb(doc(type(game).parse))}",
            "Every game also reads the moves played, as `moves:a,b,c`.",
            f"A move: {without_verb(moves)}",
        ]
    )


def without_verb(sentence: str) -> str:
    """Return what a docstring says that a method reads or returns."""
    return sentence.partition(" ")[2]


def shown(position: Position[Any]) -> str:
    """Return what ``mdplay show`` prints."""
    from mdplay.cli.show import report

    return report(position)


def symmetries(game: Game[Any]) -> str:
    """Return how many symmetries there are, and how many first moves remain different."""
    start, count = game.initial(), game.symmetries()
    if game.has_outcomes:
        return f"The board has {count}: turning or reflecting it changes nothing."
    classes = {min(game.image(game.step(start, a), k) for k in range(count)) for a in members(game.legal(start))}
    moves = len(members(game.legal(start)))
    return f"The board has {count}. Up to them, {len(classes)} of the {moves} first moves differ."


def main() -> None:
    """Write the pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(FOLDER.parents[1]), file=sys.stderr)


if __name__ == "__main__":
    main()
