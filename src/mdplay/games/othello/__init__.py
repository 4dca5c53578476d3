"""Othello: its rules."""

from mdplay.games.othello.rules import Othello

__all__ = ["Othello"]
