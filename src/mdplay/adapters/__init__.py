"""Any game as an environment of other libraries, any agent as one of their policies, and the other way round.

    spaces.py        actions and observations as arrays          predicting.py     trained models as agents
    gym.py           Gymnasium: one environment                  vector.py         thousands of games in one call
    zoo.py           PettingZoo                                  spiel.py          OpenSpiel: our games as theirs
    spiel_mdp.py     their games as MDPs                         spiel_players.py  bots and policies

Each needs its library (``pip install mdplay[adapters]``) and says so in a sentence if it is missing.
"""
