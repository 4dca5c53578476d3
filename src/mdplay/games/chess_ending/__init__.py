"""King and rook, or queen, against king: the rules."""

from mdplay.games.chess_ending.rules import ChessEnding

__all__ = ["ChessEnding"]
