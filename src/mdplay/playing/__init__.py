"""Agents, games between them, matches, tournaments, records, play in the terminal.

course.py      a game in progress                 openings.py    how the games of a match differ
agents.py      agents by name                     matches.py     many games of two agents
basic.py       random, perfect, policy            tournaments.py every agent against every other
records.py     a game as JSON                     evaluating.py  many games of one player
results.py     finished games in SQLite           figures.py     intervals and Elo ratings
terminal.py    a person at the keyboard           schedule.py    games in threads
"""
