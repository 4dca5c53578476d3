"""Proof search: exact values of single positions without a table of the whole game, and books of openings."""
