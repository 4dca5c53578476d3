"""Many numbered games of the same agents: played in threads, kept as they end, resumed.

Games 2k and 2k + 1 have opening k, the second with sides exchanged.  A game depends on the schedule and
its number alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mdplay.checking.promises import hold_promises
from mdplay.errors import check_whole
from mdplay.game import Game
from mdplay.identity import game_identity
from mdplay.playing.agents import NamedAgent
from mdplay.playing.games import play_game
from mdplay.playing.openings import Opening, make_openings, openings_label
from mdplay.playing.records import Record
from mdplay.playing.results import Results
from mdplay.playing.threads import run_numbered
from mdplay.registry import name_of

Show = Callable[[int], None]


@dataclass(frozen=True)
class Schedule:
    """Which games are to be played."""

    game: Game[Any]
    named_agents: tuple[NamedAgent, ...]
    games: int
    openings: str
    seed: int
    max_moves: int | None = None  # of a game; None: as the game says, or as positions come again

    def __post_init__(self) -> None:
        """Refuse an empty schedule."""
        check_whole("games", self.games)

    @property
    def key(self) -> str:
        """The text under which the games are filed; it leaves out how many they are."""
        name, given = name_of(self.game)
        agents = [one.name for one in self.named_agents]
        parts = [name, given, agents, openings_label(self.openings), self.seed]
        return json.dumps(parts if self.max_moves is None else [*parts, self.max_moves], sort_keys=True)

    def play(
        self, threads: int = 1, results: str | Path | Results | None = None, show: Show | None = None
    ) -> tuple[Record, ...]:
        """Play the games that ``results`` does not have yet, and return all of them in order."""
        hold_promises(self.game)
        for one in self.named_agents:
            one.fresh()  # whoever cannot be made says so before the first game
        with ExitStack() as stack:
            store = stack.enter_context(Results(results)) if isinstance(results, str | Path) else results
            found = self._found(store) if store else {}

            def done(number: int, record: Record) -> None:
                found[number] = record
                if store:
                    store.add(self.key, record)
                if show:
                    show(len(found))

            missing = [number for number in range(self.games) if number not in found]
            pairs = make_openings(self.game, self.openings, (self.games + 1) // 2, self.seed)
            run_numbered(missing, partial(self._play_one, pairs), done, threads=threads)
        return tuple(found[number] for number in range(self.games))

    def _found(self, store: Results) -> dict[int, Record]:
        """Return the games that the results have, if the rules and the agents are still those that played them."""
        parts = {"the rules have": game_identity(self.game)}
        store.claim(self.key, parts | {f"agent {one.name} has": one.identity for one in self.named_agents})
        return store.records(self.key, self.game, self.games)

    def _play_one(self, pairs: list[Opening], number: int, stopped: Callable[[], bool]) -> Record:
        sides = self.named_agents[::-1] if number % 2 else self.named_agents
        opening = pairs[number // 2]
        return play_game(
            self.game,
            sides,
            seed=self.seed,
            number=number,
            opening=opening,
            max_moves=self.max_moves,
            stopped=stopped,
        )
