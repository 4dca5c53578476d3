"""Actors without workers: the objects are here, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class SerialActors:
    """Actors (``mdplay.engines.Actors``) in this process."""

    def __init__(self, make: Callable[..., Any], count: int, arguments: tuple[Any, ...]) -> None:
        self._objects = [make(number, *arguments) for number in range(count)]

    def call(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of each."""
        return [getattr(one, method)(*arguments) for one in self._objects]

    def exchange(self, method: str, *arguments: Any) -> tuple[Any, list[Any]]:
        """Call a method of each that answers a pair."""
        pairs = self.call(method, *arguments)
        return [large for large, _ in pairs], [small for _, small in pairs]

    def fetch(self, held: Any) -> list[Any]:
        """Return the first parts of an exchange."""
        return list(held)

    def close(self) -> None:
        """Let them go."""
        self._objects = []
