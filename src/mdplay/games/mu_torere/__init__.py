"""Mu Torere: its rules."""

from mdplay.games.mu_torere.rules import MuTorere

__all__ = ["MuTorere"]
