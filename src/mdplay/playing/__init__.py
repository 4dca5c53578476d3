"""Agents, games between them, matches, tournaments, records, play in the terminal.

agents.py      agents by name                  matches.py      many games of two agents
basic.py       random, policy                  evaluating.py   many games of one player
perfect.py     the exact solution              tournaments.py  every agent against every other
analysis.py    what an agent makes of a state  openings.py     how the games of a match differ
games.py       one game between agents         schedule.py     which games, and what is left of them
records.py     a game as JSON                  threads.py      games in threads
formats/       games as others write them      engine/         programs as agents, limits of time
results.py     finished games in SQLite        statistics.py   intervals
terminal.py    a person at the keyboard        ratings.py      Elo
ansi.py        boards in colour                plots.py        the picture of a tournament
accuracy.py    how often moves keep the value

A game in progress is a ``mdplay.position.Position``.
"""
