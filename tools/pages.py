"""Write the pages of the games, docs/games/*, from the games themselves: ``python tools/pages.py``.

Rules and numbering come from the docstrings, everything else from the registry and the contract.  Only the known
results and the positions of the pictures are written here.  A test compares the pages with the output of this
tool.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mdplay import Position, make, registry, specs
from mdplay.bits import elements
from mdplay.cli.games import KNOWLEDGE
from mdplay.game import Game, num_players

FOLDER = Path(__file__).parents[1] / "docs" / "games"


@dataclass(frozen=True)
class Facts:
    """Data that a game does not contain: its title, the position of its picture, and published results."""

    title: str
    position: str
    known: tuple[str, ...]


FACTS = {
    "2048": Facts(
        "2048",
        "0012012312341356",
        (
            "The game is by Gabriele Cirulli (2014).",
            "On 3 x 3 the optimal expected score is 5468.49 points; there are 48,713,519 states up to symmetry "
            "(Yamashita and Kaneko).",
        ),
    ),
    "anti-tic-tac-toe": Facts(
        "Anti-Tic-Tac-Toe",
        "100020010",
        (
            "The game is a draw if the first player starts in the centre; the other eight first moves lose.",
            "5478 positions are reachable.",
            "If both players move at random, the first player wins 121/420 of the games, and 8/63 are drawn.",
        ),
    ),
    "breakthrough": Facts(
        "Breakthrough",
        "moves:d2d3,e7e6,e2e3,d7d6,e3d4,d6e5",
        (
            "The game is by Dan Troyka (2000).",
            "Every game ends, since every move brings a pawn closer to the far side, and draws are impossible.",
        ),
    ),
    "chess-ending": Facts(
        "King and rook against king",
        "Kc3,Rh4,kd1,b",
        (
            "White mates in at most 16 moves with a rook and in at most 10 with a queen.",
            "Up to symmetry there are 28,056 positions with Black to move; 2,796 of them are drawn (Bain 1992).",
        ),
    ),
    "connect-four": Facts(
        "Connect Four",
        "44434455336",
        (
            "The first player wins by starting in the middle column (Allen 1988, Allis 1988).",
            "On 7 x 6 there are 4,531,985,219,092 positions (Tromp).",
        ),
    ),
    "dodgem": Facts(
        "Dodgem",
        ".>.>^..^.,>",
        (
            "The game is by Colin Vout (1972).",
            "On 3 x 3 the first player wins in 20 plies; 4 x 4 is a draw by infinite play (Winning Ways).",
            "On 3 x 3 there are 2,055 positions; the player to move wins 1,215 of them and loses 840.",
        ),
    ),
    "dots-and-boxes": Facts(
        "Dots and Boxes",
        "moves:0,2,6,8,1,3,4,5,9",
        (
            "With perfect play on 3 x 3 boxes, the second player wins 6 boxes to 3 after every first line; 4 x 4 "
            "is a tie (Wilson, wilson.engr.wisc.edu/boxes).",
            "The largest solved board, 4 x 5 boxes, is a tie (Barker and Korf 2012).",
        ),
    ),
    "othello": Facts(
        "Othello",
        "moves:d3,c3,c4,e3,f2",
        (
            "The second player wins 11 discs to 3 on 4 x 4 and 20 to 16 on 6 x 6 (Feinstein 1993).",
            "8 x 8 is a draw (Takizawa 2023).",
            "There are 4, 12, 56, 244, 1396 and 8200 sequences of one to six moves.",
        ),
    ),
    "mens-morris": Facts(
        "Men's Morris",
        "X.OOX...X,5,o",
        (
            "With three men each, the first player wins in 9 plies, with or without the diagonals.",
            "With four, five and six men it is a draw by infinite play; there are 4,111,151, 17,844,721 and "
            "42,372,745 positions in which no player is about to take a man.",
        ),
    ),
    "mu-torere": Facts(
        "Mu Torere",
        "XXO.OOXOX,o",
        (
            "It is a draw by infinite play: no player can leave the opponent without moves by force.",
            "There are 1,180 positions; the player to move wins 208 and loses 128.",
        ),
    ),
    "pig": Facts(
        "Pig",
        "31-40+12x",
        (
            "With perfect play, the first player wins the game to 100 with probability 0.5306 "
            "(Neller and Presser 2004).",
            "The first player wins the game to 20 with probability 0.61555855.",
        ),
    ),
    "pocket-cube": Facts(
        "Pocket cube",
        "6z4z7z3x2y1z5z",
        (
            "There are 3,674,160 positions.",
            "Each can be solved in at most 11 moves if a half turn counts as one move, and in at most 14 if only "
            "quarter turns are moves (OEIS A079761, A079762).",
        ),
    ),
    "qubic": Facts(
        "Qubic",
        "111,222,000,121,003,112,030,333,021",
        (
            "The first player wins (Patashnik 1980).",
            "There are exactly 192 symmetries (Silver 1967).",
            "Up to symmetry there are 2, 35, 757 and 20,851 positions after one, two, three and four moves.",
            "If both players move at random, the first player wins 52.7 % of the games; the mean length is "
            "35.5 moves.",
        ),
    ),
    "sliding-puzzle": Facts(
        "Sliding puzzle",
        "8,7,6,5,4,3,2,1,0",
        (
            "The 8-puzzle has 181,440 positions and takes at most 31 moves (OEIS A089473).",
            "The 15-puzzle takes at most 80 moves (Brungger and others 1999); it has too many positions for a "
            "table and is searched by iterative deepening A* (Korf 1985).",
        ),
    ),
    "tic-tac-toe": Facts(
        "Tic-Tac-Toe",
        "120010200",
        ("The game is a draw.", "5478 positions are reachable, 765 up to symmetry."),
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
    head = ["# Games", "", "| game | name | players | features |", "|---|---|---|---|"]
    rows = [index_row(name, make(name)) for name in FACTS]
    foot = "You can [write a game](../write-a-game.md) of your own; every command accepts it in the same way."
    return "\n".join([*head, *rows, "", foot, ""])


def index_row(name: str, game: Game[Any]) -> str:
    """Return the line of a game in the table."""
    return f"| [{FACTS[name].title}]({name}.md) | `{name}` | {num_players(game)} | {', '.join(knowledge(game))} |"


def knowledge(game: Game[Any]) -> list[str]:
    """Return the features of a game."""
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
        "## Known results",
        "\n".join(f"- {fact}" for fact in facts.known),
    ]
    return "\n\n".join(parts) + "\n"


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
    from mdplay.cli.show import report

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
