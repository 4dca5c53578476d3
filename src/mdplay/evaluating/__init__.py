"""Evaluations of positions and moves.

evaluation.py  what every producer returns and every consumer reads; the tie rule; the best moves
wording.py     the text of evaluations, the same in the terminal, on the page and in notebooks
leaves.py      the values that a user's own evaluator gives to the leaves of a search
"""
