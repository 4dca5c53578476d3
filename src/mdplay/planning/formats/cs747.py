"""The text files of the CS747 course: MDPs, states and policies of a game, and the MDP of one player.

    numStates 3
    numActions 2
    start 0                          optional, ignored
    end 2                            the terminal states, or -1 for none
    transition 0 1 2 0.5 1.0         state action target reward probability
    mdptype episodic                 or continuing
    discount 0.9

Any white space separates.  A state and action without a line: that action is not available there.  Lines that
leave a terminal state are ignored.  Lines of one state and action whose probabilities sum to 1 only nearly (six
decimals do that) mean the probabilities divided by their sum, see `mdplay.planning.model`.

    states file      one state a line: all states in which the player moves
    policy file      the player's number, then a state and the probability of every action a line
    value and policy the output of a planner: one `value action` a line

In the MDP of a player, state i is line i of its states file.  Two more states end the game: N, a draw or a loss,
and N + 1, a win, entered for a reward of 1.  Illegal actions have no lines.  The rules decide who has won, not
the entries of a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from mdplay.bits import elements, nonempty
from mdplay.errors import FormatError, PositionError
from mdplay.game import Game
from mdplay.planning.formats.reader import Reader
from mdplay.planning.formats.tables import transition_rewards
from mdplay.planning.model import Model
from mdplay.states.graph import GameGraph
from mdplay.states.graph_search import Floats, Integers
from mdplay.storage.files import make_folder, read, replacing, size_of, unreadable, write


def read_weights(graph: GameGraph, path: str) -> tuple[int, Floats]:
    """Return the player of a policy file and the probability of each edge."""
    given = read_policy_file(path, graph.game, _num_actions(graph))
    return given.player, _weights(graph, given)


def _num_actions(graph: GameGraph) -> int:
    """Return 1 plus the largest action of a player; outcomes of chance are not actions."""
    moves = np.repeat(graph.kind, np.diff(graph.first_edge)) < 2
    return int(graph.action[moves].max(initial=0)) + 1


def _weights(graph: GameGraph, given: PolicyFile) -> Floats:
    """Return the probability of each edge; every state of the player must be in the file."""
    weights = np.zeros(len(graph.target))
    for number in np.flatnonzero(graph.kind == given.player):
        text = graph.game.text(graph.state(int(number)))
        if text not in given.rows:
            last = len(given.rows) + 1
            raise FormatError(f"{given.path}, line {last}: the file ends without the state {text}")
        edges = slice(int(graph.first_edge[number]), int(graph.first_edge[number + 1]))
        weights[edges] = [given.rows[text][action] for action in graph.action[edges].tolist()]
    return weights


def write_policy(graph: GameGraph, player: int, weights: Floats, path: Path) -> None:
    """Write a player's policy as a file, its states in the order of a search in depth."""
    make_folder(path.parent)
    num_actions = _num_actions(graph)
    lines = [f"{player + 1}\n"]
    for number in graph.preorder():
        if graph.kind[number] == player:
            edges = slice(int(graph.first_edge[number]), int(graph.first_edge[number + 1]))
            row = dict(zip(graph.action[edges].tolist(), weights[edges].tolist(), strict=True))
            text = graph.game.text(graph.state(int(number)))
            lines.append(policy_line(text, row, num_actions))
    write(path, "".join(lines))


PLAIN_BYTES = 2_000_000
LINE_BYTES = 64  # of a policy, on the average and generously


def read_mdp(path: str | Path, *, keep_rewards: bool = False) -> Model:
    """Return the MDP in the file; a fault is a `FormatError` with the file and the line."""
    if size_of(path) > PLAIN_BYTES:
        from mdplay.planning.formats.reader import scan  # for start-up: it needs numba

        try:
            reader = scan(Path(path))
        except OSError as error:
            raise unreadable(path, error) from None
    else:
        reader = Reader(str(path))
        for line in read(path).split(b"\n"):
            reader.line(line)
    return reader.model(keep_rewards)


def parse_mdp(text: bytes, *, name: str = "the text", max_states: int | None = None) -> Model:
    """Return the MDP of a text of the same form, with at most ``max_states`` states; an error names the line."""
    reader = Reader(name, text=text)
    for line in text.split(b"\n"):
        reader.line(line)
        if max_states is not None and reader.num_states > max_states:
            raise reader.fault(f"at most {max_states:,} states are taken here")
    return reader.model(False)


def write_mdp(mdp: Model, path: str | Path) -> None:
    """Write the MDP as a text file of the course; numbers keep all their digits."""
    with replacing(path) as file:
        file.writelines(line.encode("ascii") for line in lines(mdp))


def lines(mdp: Model) -> Iterator[str]:
    """Yield the lines of the MDP's text file."""
    if mdp.minimise:
        raise FormatError("the CS747 form knows rewards only; negate the costs of an MDP that minimises")
    ends = np.flatnonzero(mdp.terminal).tolist()
    if mdp.discount == 1.0 and not ends:
        raise FormatError("the CS747 form needs a terminal state or a discount below 1; this MDP has neither")
    yield f"numStates {mdp.num_states}\nnumActions {max(1, mdp.num_actions)}\n"
    yield f"end {' '.join(map(str, ends)) or -1}\n"
    rewards = transition_rewards(mdp)
    owner = mdp.owners()
    block = 100_000
    for begin in range(0, mdp.num_choices, block):
        yield _transition_lines(mdp, owner, rewards, begin, min(begin + block, mdp.num_choices))
    yield f"mdptype {'episodic' if ends else 'continuing'}\ndiscount {mdp.discount!r}\n"


def _transition_lines(mdp: Model, owner: Integers, rewards: npt.NDArray[np.float64], begin: int, end: int) -> str:
    pointers = mdp.first_transition[begin : end + 1].astype(np.int64)
    row = slice(int(pointers[0]), int(pointers[-1]))
    counts = np.diff(pointers)
    state = np.repeat(owner[begin:end], counts).tolist()
    action = np.repeat(mdp.action[begin:end], counts).tolist()
    columns = (state, action, mdp.target[row].tolist(), rewards[row].tolist(), mdp.probability[row].tolist())
    return "".join([f"transition {s} {a} {t} {r!r} {p!r}\n" for s, a, t, r, p in zip(*columns, strict=True)])


def read_policy(path: str | Path, mdp: Model) -> Integers:
    """Return the actions in a file of one integer a line, one line a state; -1 is allowed in terminal states."""
    size_of(path)  # refuses what is no regular file
    text = read(path, most=LINE_BYTES * (mdp.num_states + 1000))
    found = [(number, line.split()) for number, line in enumerate(text.split(b"\n"), start=1) if line.split()]
    terminal = mdp.terminal
    if len(found) != mdp.num_states:
        last = found[-1][0] if found else 1
        raise FormatError(f"{path}, line {last}: {len(found)} actions; the MDP has {mdp.num_states} states")
    actions = np.zeros(mdp.num_states, dtype=np.int64)
    for state, (number, words) in enumerate(found):
        if terminal[state] and words == [b"-1"]:  # what Plan.action holds there
            continue
        if len(words) != 1 or not words[0].isdigit() or len(words[0]) > 18:
            raise FormatError(f"{path}, line {number}: write one integer, the action of state {state}")
        actions[state] = int(words[0])
        if not terminal[state] and int(actions[state]) not in mdp.actions(state):
            known = f"its actions are {mdp.actions(state)}"
            raise FormatError(f"{path}, line {number}: state {state} has no action {actions[state]}; {known}")
    return actions


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
