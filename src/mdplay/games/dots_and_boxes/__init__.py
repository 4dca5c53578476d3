"""Dots and Boxes: its rules, and the search that knows chains."""

from mdplay.games.dots_and_boxes.rules import DotsAndBoxes
from mdplay.registry import bring

bring(
    DotsAndBoxes,
    formats={"sgf": "mdplay.playing.formats.sgf:SGF"},
    solvers={"chains": "mdplay.games.dots_and_boxes.chains:ChainSolver"},
)

__all__ = ["DotsAndBoxes"]
