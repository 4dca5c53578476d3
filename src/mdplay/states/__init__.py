"""States as numbers: packed and canonical forms, enumeration, the graph of a game, perft, estimates of size."""
