"""What was learned on the page: agents by ids of our own, the newest few."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from mdplay.learning.learned import Learned
from mdplay.rng import Random
from mdplay.web.games.catalogue import Entry

KEPT = 8


class LearnedAgents:
    """What was learned on the page, to be played with: the newest few, by ids of our own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._learned: OrderedDict[str, tuple[str, str, str, Learned]] = OrderedDict()

    def keep(self, entry: Entry, params: str, title: str, learned: Learned) -> str:
        """Keep what was learned and return its id."""
        with self._lock:
            self._count += 1
            name = f"learned-{self._count}"
            self._learned[name] = entry.id, params, title, learned
            while len(self._learned) > KEPT:
                self._learned.popitem(last=False)
        return name

    def agents(self, game: str, params: str) -> list[dict[str, Any]]:
        """Return the agents that learned a game."""
        found = [(name, kept) for name, kept in self._learned.items() if kept[:2] == (game, params)]
        return [{"id": name, "title": kept[2], "setting": None} for name, kept in found]

    def act(self, name: str, state: Any, rng: Random) -> int:
        """Let what was learned choose an action."""
        return int(self._learned[name][3].agent().act(state, rng))
