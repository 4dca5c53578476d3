"""``mdplay solve`` for games that are proved position by position, and for files of positions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TextIO

import click

from mdplay.cli.common import print_json, progress, state_of
from mdplay.errors import MdplayError, PositionError
from mdplay.game import Game, parse_position

CHUNK = 256  # lines of a file that are solved together


@dataclass(frozen=True)
class Request:
    """A game and how to solve it."""

    game: Game[Any]
    name: str
    weak: bool
    memory: int | None
    threads: int | None

    def prover(self) -> Any:
        """Return a prover with the game's opening book."""
        from mdplay.solving.book import prover_for
        from mdplay.solving.proof import MEMORY

        return prover_for(self.game, memory=self.memory or MEMORY, threads=self.threads)


# ---------------------------------------------------------------- one position
def solve_position(request: Request, position: str | None, as_json: bool) -> None:
    """Print the score of a position and of every move, and the best line."""
    game = request.game
    state = state_of(game, position)
    if not game.legal(state):
        raise PositionError(f"{position!r}: the game is over, nobody is to move")
    prover, began = request.prover(), time.perf_counter()
    with progress("nodes") as show:
        proof = prover.prove(state, weak=request.weak, show=show)
        facts = document(request, prover, state, proof.low)
    facts |= {"nodes": prover.nodes, "seconds": time.perf_counter() - began}
    if as_json:
        print_json(facts)
        return
    click.echo(f"{game.board(state)}\n")
    click.echo(f"Player {game.player(state) + 1} {in_words(facts)}.")
    for move in sorted(facts["moves"], key=lambda move: -move["score"]):
        mark = "*" if move["move"] in facts["best"] else " "
        click.echo(f"{mark} {move['move']:>3}  {move['score']:+4d}  {in_words(move)}")
    if facts["line"]:
        click.echo(f"best line: {' '.join(facts['line'])}")
    click.echo(f"{facts['nodes']:,} nodes, {facts['seconds']:.2f} s")


def document(request: Request, prover: Any, state: Any, score: int) -> dict[str, Any]:
    """Return what was proved as the command's JSON document; values for the player to move.

    ``weak`` leaves out distances and the line, and scores are values.
    """
    game = request.game
    if request.weak:
        moves, distance, line = weak_moves(game, prover, state), None, []
    else:
        moves = [
            {
                "move": game.move_text(state, c.action),
                "action": c.action,
                "value": c.value,
                "score": c.score,
                "distance": c.distance,
            }
            for c in prover.choices(state)
        ]
        distance = prover.worth(state, game.player(state)).distance
        line = list(moves_in_words(game, state, prover.line(state)))
    best = max(move["score"] for move in moves)
    return {
        "game": request.name,
        "position": game.text(state),
        "player": game.player(state),
        "value": (score > 0) - (score < 0),
        "score": score,
        "distance": distance,
        "exact": True,
        "best": [move["move"] for move in moves if move["score"] == best],
        "moves": moves,
        "line": line,
    }


def weak_moves(game: Game[Any], prover: Any, state: Any) -> list[dict[str, Any]]:
    """Return every move with who wins after it."""
    from mdplay.bits import members

    actions = members(game.legal(state))
    after = [game.step(state, action) for action in actions]
    values = [
        value if game.player(t) == game.player(state) else -value
        for t, value in zip(after, prover.scores(after, weak=True).tolist(), strict=True)
    ]
    return [
        {"move": game.move_text(state, a), "action": a, "value": v, "score": v, "distance": None}
        for a, v in zip(actions, values, strict=True)
    ]


def moves_in_words(game: Game[Any], state: Any, line: list[int]) -> Iterator[str]:
    """Yield the moves of a line in the game's notation."""
    for action in line:
        yield game.move_text(state, action)
        state = game.step(state, action)


def in_words(facts: dict[str, Any]) -> str:
    """Return a value and its distance in words."""
    verb = {1: "wins", 0: "draws", -1: "loses"}[facts["value"]]
    distance = facts["distance"]
    return verb if distance is None else f"{verb} in {distance} {'ply' if distance == 1 else 'plies'}"


# ---------------------------------------------------------------- a file of positions
def solve_batch(request: Request, file: TextIO) -> None:
    """Print ``position score`` for each line of a file, in its order; the table is kept between positions."""
    prover, lines = request.prover(), positions_of(request.game, file)
    while chunk := list(islice(lines, CHUNK)):
        scores = prover.scores((state for _, state in chunk), weak=request.weak)
        for (text, _), score in zip(chunk, scores.tolist(), strict=True):
            click.echo(f"{text} {score}")


def positions_of(game: Game[Any], file: TextIO) -> Iterator[tuple[str, Any]]:
    """Yield the positions of a file, a line each; a bad one is an error that names the line."""
    for number, line in enumerate(file, start=1):
        text = line.strip()
        if not text:
            continue
        try:
            state = parse_position(game, text)
        except MdplayError as error:
            raise type(error)(f"{file.name}, line {number}: {error}") from None
        if not game.legal(state):
            raise PositionError(f"{file.name}, line {number}: {text!r}: the game is over, nobody is to move")
        yield text, state
