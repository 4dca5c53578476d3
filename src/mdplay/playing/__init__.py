"""Agents, games between them, records, play in the terminal.

agents.py      agents by name; ``search``      records.py     a game as JSON
basic.py       random, policy, perfect         terminal.py    play in the terminal
evaluators.py  evaluators of games and agents  learning.py    ``learn`` with a learning curve
accuracy.py    how often moves are optimal     time_limits.py  agents with a time limit

formats.py     games in the formats of others

matches/       games, matches, tournaments     engine/        the engine protocol

A game in progress is a ``mdplay.position.Position``.
"""
