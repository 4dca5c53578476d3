"""Tic-Tac-Toe and Anti-Tic-Tac-Toe: their rules."""

from mdplay.games.tic_tac_toe.rules import TicTacToe, anti_tic_tac_toe

__all__ = ["TicTacToe", "anti_tic_tac_toe"]
