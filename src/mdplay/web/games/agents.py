"""Who may play a game, and how they choose: agents by an id of this list and one number, never by a text."""

from __future__ import annotations

from typing import Any

from mdplay.game import Game, num_players
from mdplay.registry import names_brought

SIMULATIONS = {
    "name": "simulations",
    "title": "simulations",
    "values": [10, 100, 1_000, 10_000, 100_000],
    "default": 1_000,
}
DEPTH = {"name": "depth", "title": "plies", "values": [1, 2, 4, 6, 8], "default": 4}
MOST = {"mcts": 200_000, "heuristic": 10}
TITLES = {"perfect": "Perfect play", "network": "Learned network", "threats": "Threats"}
NEEDS_A_FILE = {"network"}  # agents that a game brings, but not without a file: the adviser plays instead


def agents_of(game: Game[Any], solver: str) -> list[dict[str, Any]]:
    """Return who may play a game, with the settings that the page offers."""
    found = [_agent("perfect")] if solver in ("table", "proof", "book") else []
    found += [_agent(solver)] if solver in NEEDS_A_FILE else []
    found.append({"id": "mcts", "title": "Tree search", "setting": SIMULATIONS})
    if game.has_heuristic and num_players(game) == 2:
        found.append({"id": "heuristic", "title": "Look-ahead", "setting": DEPTH})
    brought = [name for name in names_brought(game, "agents") if name not in NEEDS_A_FILE and name != "perfect"]
    return [*found, *map(_agent, brought), {"id": "random", "title": "Random", "setting": None}]


def agents_that_learned(listed: list[dict[str, str]], game: str, params: str) -> list[dict[str, Any]]:
    """Return, of those who learned on the page, the agents that play a game."""
    found = [one for one in listed if (one["game"], one["params"]) == (game, params)]
    return [{"id": one["id"], "title": one["title"], "setting": None} for one in found]


def _agent(name: str) -> dict[str, Any]:
    return {"id": name, "title": TITLES.get(name, name.capitalize()), "setting": None}


def spec_of(agent: str, setting: int) -> str:
    """Return the spec of an agent of the list, for matches; the number was checked."""
    options = {"mcts": f":simulations={setting}", "heuristic": f":depth={setting}"}
    return agent + options.get(agent, "")
