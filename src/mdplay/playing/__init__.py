"""Agents, games between them, records, play in the terminal.

agents.py      agents by name                  records.py     a game as JSON
basic.py       random, policy                  terminal.py    a person at the keyboard
perfect.py     the exact solution              ansi.py        boards in colour
analysis.py    what an agent makes of a state  searches.py    ``search``: an agent asked about one position
advising.py    what every move is worth        learning.py    ``learn``, and games on the way
accuracy.py    how often moves keep the value  answering.py   who moves between two moves of one side

matches/       games, matches, tournaments     formats/       games as others write them
engine/        programs as agents, limits of time

A game in progress is a ``mdplay.position.Position``.
"""
