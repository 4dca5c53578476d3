"""Agents, games between them, matches, tournaments, records, play in the terminal.

agents.py      agents by name                  matches.py      many games of two agents
basic.py       random, policy                  evaluating.py   many games of one player
perfect.py     the exact solution              tournaments.py  every agent against every other
course.py      a game in progress              openings.py     how the games of a match differ
games.py       one game between agents         schedule.py     games in threads
records.py     a game as JSON                  plan.py         which games, and what is left of them
results.py     finished games in SQLite        figures.py      intervals
terminal.py    a person at the keyboard        ratings.py      Elo
painting.py    boards in colour                plots.py        the picture of a tournament
advice.py      what an agent thinks of a position
"""
