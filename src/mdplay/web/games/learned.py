"""What was learned on the page: agents by ids of our own, the newest few."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from mdplay.learning.learned import Learned
from mdplay.rng import Random
from mdplay.web.games.catalogue import Entry

KEPT = 8


class LearnedAgents:
    """What was learned on the page, to be played with: the newest few, by ids of our own."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
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
        self._changed()
        return name

    def listed(self) -> list[dict[str, str]]:
        """Return who learned what."""
        with self._lock:
            kept = [(name, *what[:3]) for name, what in self._learned.items()]
        return [dict(zip(("id", "game", "params", "title"), one, strict=True)) for one in kept]

    def act(self, name: str, state: Any, rng: Random) -> int:
        """Let what was learned choose an action."""
        return int(self._learned[name][3].agent().act(state, rng))
