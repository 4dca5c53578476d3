"""The Anti-Tic-Tac-Toe files of the CS747 course: states, policies, and a player's MDP.

    states file      one state a line, nine digits 0/1/2 row by row: all states in which the player moves
    policy file      the player's number, then a state and nine probabilities a line
    value and policy what a planner prints: one `value action` a line

In the MDP of a player, state i is line i of its states file.  Two more states end the game: N, a draw or a
loss, and N + 1, a win, entered for a reward of 1.  Illegal actions have no lines.  Who has won is decided by
the rules, not by whether a file has an entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from mdplay.bits import elements, nonempty
from mdplay.errors import FormatError, PositionError
from mdplay.game import Game
from mdplay.storage.files import read

T = TypeVar("T")
SUM_TOLERANCE = 1e-6


@dataclass(frozen=True)
class States:
    """The states of a states file, in its order; players are 0 and 1 here, 1 and 2 in the files."""

    path: str
    player: int
    texts: tuple[str, ...]
    states: tuple[Any, ...]


@dataclass(frozen=True)
class PolicyFile:
    """The player of a policy file and the probabilities of all actions in each of its states."""

    path: str
    player: int
    rows: dict[str, tuple[float, ...]]


def read_lines(path: str | Path) -> list[tuple[int, list[str]]]:
    """Return the lines that are not empty, as words, each with its number."""
    found = []
    for number, line in enumerate(read(path).split(b"\n"), start=1):
        try:
            words = line.decode("ascii").split()
        except UnicodeDecodeError:
            raise FormatError(f"{path}, line {number}: not plain text") from None
        if words:
            found.append((number, words))
    return found


def read_states(path: str | Path, game: Game[Any]) -> States:
    """Return the states of a file; all must be open and belong to one player."""
    found: dict[str, Any] = {}
    player = 0
    for number, words in read_lines(path):
        if len(words) != 1:
            raise FormatError(f"{path}, line {number}: {len(words)} words; write one state")
        if words[0] in found:
            raise FormatError(f"{path}, line {number}: the state {words[0]} comes twice")
        state = _state(game, words[0], f"{path}, line {number}")
        if found and game.player(state) != player:
            raise FormatError(f"{path}, line {number}: in {words[0]} the other player moves")
        player = game.player(state)
        found[words[0]] = state
    if not found:
        raise FormatError(f"{path}, line 1: no states")
    return States(str(path), player, tuple(found), tuple(found.values()))


def _state(game: Game[Any], text: str, place: str) -> Any:
    try:
        state = game.parse(text)
    except PositionError as error:
        raise FormatError(f"{place}: {error}") from None
    if not elements(game.legal(state)):
        raise FormatError(f"{place}: in {text} the game is over")
    return state


def read_policy_file(path: str | Path, game: Game[Any], num_actions: int | None = None) -> PolicyFile:
    """Return a policy; every row must sum to 1, with probability 0 for illegal actions.

    ``num_actions`` is by default the number of actions in the first row.
    """
    lines = read_lines(path)
    if num_actions is None:
        num_actions = len(lines[1][1]) - 1 if len(lines) > 1 else 0
    if not lines or len(lines[0][1]) != 1 or lines[0][1][0] not in ("1", "2"):
        number = lines[0][0] if lines else 1
        raise FormatError(f"{path}, line {number}: the first line must be the player's number, 1 or 2")
    player = int(lines[0][1][0]) - 1
    rows: dict[str, tuple[float, ...]] = {}
    for number, words in lines[1:]:
        place = f"{path}, line {number}"
        if words[0] in rows:
            raise FormatError(f"{place}: the state {words[0]} comes twice")
        rows[words[0]] = _row(game, words, player, num_actions, place)
    return PolicyFile(str(path), player, rows)


def _row(game: Game[Any], words: list[str], player: int, num_actions: int, place: str) -> tuple[float, ...]:
    """Return the probabilities in a line of a policy file."""
    if len(words) != num_actions + 1:
        raise FormatError(f"{place}: {len(words)} words; write a state and {num_actions} probabilities")
    state = _state(game, words[0], place)
    if game.player(state) != player:
        raise FormatError(f"{place}: in {words[0]} player {player + 1} does not move")
    row = tuple(_probability(word, place) for word in words[1:])
    legal = set(elements(game.legal(state)))
    for action, probability in enumerate(row):
        if probability > 0.0 and action not in legal:
            raise FormatError(f"{place}: action {action} is not legal in {words[0]}")
    if abs(sum(row) - 1.0) > SUM_TOLERANCE:
        raise FormatError(f"{place}: the probabilities sum to {sum(row):.9g}, not to 1")
    return row


def _probability(word: str, place: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = -1.0
    if not isfinite(value) or not 0.0 <= value <= 1.0 or "_" in word:
        raise FormatError(f"{place}: {word!r} is not a probability")
    return value


def encode(game: Game[Any], own: States, opponent: PolicyFile) -> Iterator[str]:
    """Yield the lines of a player's MDP file against the opponent's policy: a win earns 1, anything else 0."""
    if opponent.player == own.player:
        raise FormatError(
            f"{opponent.path}, line 1: a policy of player {own.player + 1}, who moves in {own.path} too"
        )
    if game.has_reward:
        raise FormatError(
            f"{type(game).__name__} has rewards, but the file format only has wins; use MDP.from_game"
        )
    number = {text: index for index, text in enumerate(own.texts)}
    lost = len(own.texts)
    yield f"numStates {lost + 2}\nnumActions {num_actions(game, own)}\nend {lost} {lost + 1}\n"
    for index, state in enumerate(own.states):
        for action in elements(game.legal(state)):
            for target, probability in _outcomes(game, own, opponent, number, game.step(state, action)).items():
                reward = 1 if target == lost + 1 else 0
                yield f"transition {index} {action} {target} {reward} {min(1.0, probability)!r}\n"
    yield "mdptype episodic\ndiscount 1\n"


def num_actions(game: Game[Any], own: States) -> int:
    """Return the number of actions of a policy file: 1 plus the largest legal action."""
    return 1 + max(max(elements(game.legal(state))) for state in own.states)


def _outcomes(
    game: Game[Any], own: States, opponent: PolicyFile, number: dict[str, int], state: Any
) -> dict[int, float]:
    """Return the probabilities of the rows in which the player moves next, or of the two ends."""
    if nonempty(game.outcomes(state)):
        following = [(game.outcome(state, i), game.probability(state, i)) for i in elements(game.outcomes(state))]
    elif not elements(game.legal(state)):
        return {_ended(game, own, state): 1.0}
    elif game.player(state) == own.player:
        return {_row_of(number, game.text(state), own.path, len(own.texts)): 1.0}
    else:
        row = _row_of(opponent.rows, game.text(state), opponent.path, len(opponent.rows) + 1)
        following = [(game.step(state, reply), p) for reply, p in enumerate(row) if p > 0.0]
    found: dict[int, float] = {}
    for after, probability in following:
        for target, share in _outcomes(game, own, opponent, number, after).items():
            found[target] = found.get(target, 0.0) + probability * share
    return found


def _row_of(rows: Mapping[str, T], text: str, path: str, lines: int) -> T:
    if text not in rows:
        raise FormatError(f"{path}, line {lines}: the file ends without the state {text}")
    return rows[text]


def _ended(game: Game[Any], own: States, state: Any) -> int:
    """Return the state for the end of a game: the last for a win, the one before for anything else."""
    sign = -1 if own.player else 1
    return len(own.texts) + (1 if sign * game.result(state) > 0 else 0)


def decode(game: Game[Any], own: States, path: str | Path) -> Iterator[str]:
    """Yield the lines of the policy file that a planner's `value action` lines describe."""
    lines = read_lines(path)
    wanted = len(own.texts) + 2
    if len(lines) != wanted:
        last = lines[-1][0] if lines else 1
        raise FormatError(f"{path}, line {last}: {len(lines)} lines; {own.path} needs {wanted}, two for the ends")
    yield f"{own.player + 1}\n"
    for (number, words), text, state in zip(lines, own.texts, own.states, strict=False):
        action = _chosen(words, set(elements(game.legal(state))), f"{path}, line {number}", text)
        yield policy_line(text, {action: 1.0}, num_actions(game, own))


def _chosen(words: list[str], legal: set[int], place: str, text: str) -> int:
    """Return the action in a `value action` line."""
    if len(words) != 2 or not _is_number(words[0]) or not words[1].isdigit() or len(words[1]) > 9:
        raise FormatError(f"{place}: {' '.join(words)[:40]!r}; write a value and an action")
    if int(words[1]) not in legal:
        raise FormatError(f"{place}: action {words[1]} is not legal in {text}")
    return int(words[1])


def _is_number(word: str) -> bool:
    try:
        return isfinite(float(word))
    except ValueError:
        return False


def policy_line(text: str, row: dict[int, float], num_actions: int) -> str:
    """Return a line of a policy file; actions that are not in the row get 0."""
    return f"{text} {' '.join(f'{row.get(action, 0.0):.17g}' for action in range(num_actions))}\n"
