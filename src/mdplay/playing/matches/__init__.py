"""Games between agents: one, a match, a tournament, and what can be said after them.

games.py       one game between agents              match.py       many games of two agents
schedule.py    which games, and what is left        tournament.py  every agent against every other
openings.py    how the games of a match differ      evaluating.py  many games of one player
threads.py     games in threads                     statistics.py  intervals
results.py     finished games in SQLite             ratings.py     Elo
                                                    plots.py       the picture of a tournament
"""
