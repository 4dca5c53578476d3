"""Agents, games between them, records, play in the terminal.

agents.py      agents by name; ``search``      records.py     a game as JSON
basic.py       random, policy, perfect         terminal.py    play in the terminal
evaluators.py  evaluators of games and agents  learning.py    ``learn`` with a learning curve
accuracy.py    how often moves are optimal

matches/       games, matches, tournaments     formats/       games as others write them
engine/        programs as agents, limits of time

A game in progress is a ``mdplay.position.Position``.
"""
