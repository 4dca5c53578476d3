"""Utilities of points: how often whoever took a point has won, counted, kept and drawn."""
