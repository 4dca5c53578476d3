"""Dodgem: its rules."""

from mdplay.games.dodgem.rules import Dodgem

__all__ = ["Dodgem"]
