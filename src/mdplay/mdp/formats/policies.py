"""Policies of a game as files: the player's number, then a state and the probability of every action a line."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mdplay.errors import FormatError
from mdplay.files import make_folder, write
from mdplay.mdp.formats.encoding import PolicyFile, policy_line, read_policy_file
from mdplay.states.graph import GameGraph
from mdplay.states.walks import Floats


def read_weights(graph: GameGraph, path: str) -> tuple[int, Floats]:
    """Return the player of a policy file and the probability of each edge."""
    given = read_policy_file(path, graph.game, _num_actions(graph))
    return given.player, _weights(graph, given)


def _num_actions(graph: GameGraph) -> int:
    return int(graph.action.max()) + 1 if len(graph.action) else 1


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
