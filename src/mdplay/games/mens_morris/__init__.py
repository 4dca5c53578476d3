"""Men's Morris: its rules."""

from mdplay.games.mens_morris.rules import MensMorris

__all__ = ["MensMorris"]
