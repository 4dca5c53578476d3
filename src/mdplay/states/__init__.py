"""States as numbers: packed forms, sets, canonical forms, enumeration and its graph, counts, estimates of size.

Below solving and mdp, used by both.
"""
