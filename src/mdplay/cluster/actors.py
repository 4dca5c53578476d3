"""Actors without workers: the objects are here, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Addressed(NamedTuple):
    """Parts from each actor to each."""

    parts: list[list[Any]]

    def to(self, number: int) -> list[Any]:
        """Return the parts for an actor, in the order of those who sent them."""
        return [row[number] for row in self.parts]


def delivered(arguments: tuple[Any, ...], number: int) -> tuple[Any, ...]:
    """Return the arguments as an actor gets them: of what is addressed, its own."""
    return tuple(one.to(number) if isinstance(one, Addressed) else one for one in arguments)


class SerialActors:
    """Actors (``mdplay.engines.Actors``) in this process."""

    def __init__(self, make: Callable[..., Any], count: int, arguments: tuple[Any, ...]) -> None:
        self._objects = [make(number, *arguments) for number in range(count)]

    def call(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of each."""
        return [getattr(one, method)(*delivered(arguments, number)) for number, one in enumerate(self._objects)]

    def exchange(self, method: str, *arguments: Any) -> tuple[Any, list[Any]]:
        """Call a method of each that answers a pair."""
        pairs = self.call(method, *arguments)
        return [large for large, _ in pairs], [small for _, small in pairs]

    def scatter(self, method: str, *arguments: Any) -> tuple[Any, list[Any]]:
        """Call a method of each that answers a list of parts, one for each actor, and something small."""
        parts, smalls = self.exchange(method, *arguments)
        return Addressed(parts), smalls

    def fetch(self, held: Any) -> list[Any]:
        """Return the first parts of an exchange."""
        return list(held)

    def close(self) -> None:
        """Let them go."""
        self._objects = []
