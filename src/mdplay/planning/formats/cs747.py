"""The MDP text files of the CS747 course, read line by line and written.

    numStates 3
    numActions 2
    start 0                          optional, ignored
    end 2                            the terminal states, or -1 for none
    transition 0 1 2 0.5 1.0         state action target reward probability
    mdptype episodic                 or continuing
    discount 0.9

Any white space separates.  A state and action without a line: that action is not available there.  Lines that
leave a terminal state are ignored.  Lines of one state and action whose probabilities sum to 1 only nearly (six
decimals do that) mean the probabilities divided by their sum, see `mdplay.planning.model`.  Files of more than
``PLAIN_BYTES`` are scanned by compiled code, block by block (`mdplay.planning.formats.reader`), which hands every
line that it does not know to the reader of lines (`mdplay.planning.formats.reader`).

Policies of a game as files: the player's number, then a state and the probability of every action a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mdplay.errors import FormatError
from mdplay.planning.formats.encoding import PolicyFile, policy_line, read_policy_file
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
    """Return the MDP of a text of the same form, of at most so many states; a fault is told with its line."""
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
