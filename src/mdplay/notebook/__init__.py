"""A board to click in a notebook.

board.py   ``play(game, agent)``          board.js   what the browser does: draws, and tells what was clicked
"""

from mdplay.notebook.board import play

__all__ = ["play"]
