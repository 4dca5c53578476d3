"""Pig: its rules."""

from mdplay.games.pig.rules import Pig

__all__ = ["Pig"]
