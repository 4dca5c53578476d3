"""The sliding puzzle: its rules."""

from mdplay.games.sliding_puzzle.rules import SlidingPuzzle

__all__ = ["SlidingPuzzle"]
