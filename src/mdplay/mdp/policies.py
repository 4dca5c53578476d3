"""Policies of a game as files: the player's number, then a state and the probability of every action a line."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mdplay.errors import FormatError
from mdplay.mdp.course import PolicyFile, policy_line, read_policy_file
from mdplay.mdp.game_graph import GameGraph
from mdplay.mdp.model import Floats
from mdplay.mdp.responses import Step


def start_from(graph: GameGraph, start: str, player: int | None) -> Step:
    """Return the first policy of a series of responses: "uniform", or that of a file."""
    if start == "uniform":
        return Step(player or 0, graph.uniform(), None, None)
    given = read_policy_file(start, graph.game, _num_actions(graph))
    if player is not None and player != given.player:
        raise FormatError(f"{start}, line 1: a policy of player {given.player + 1}, not of player {player + 1}")
    return Step(given.player, _weights(graph, given), None, None)


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


def write_policy(graph: GameGraph, step: Step, path: Path) -> None:
    """Write a policy as a file, its states in the order of a walk in depth."""
    path.parent.mkdir(parents=True, exist_ok=True)
    num_actions = _num_actions(graph)
    lines = [f"{step.player + 1}\n"]
    for number in graph.preorder():
        if graph.kind[number] == step.player:
            edges = slice(int(graph.first_edge[number]), int(graph.first_edge[number + 1]))
            row = dict(zip(graph.action[edges].tolist(), step.weights[edges].tolist(), strict=True))
            text = graph.game.text(graph.state(int(number)))
            lines.append(policy_line(text, row, num_actions))
    path.write_text("".join(lines), encoding="ascii")
