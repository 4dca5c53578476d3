"""Breakthrough: its rules."""

from mdplay.games.breakthrough.rules import Breakthrough

__all__ = ["Breakthrough"]
