"""Any game as an environment of other libraries, any agent as one of their policies, and the other way round.

    spaces.py       actions and observations as arrays          gym.py     Gymnasium: one environment
    vector.py       Gymnasium: thousands of games in one call   zoo.py     PettingZoo
    spiel.py        OpenSpiel

Each needs its library (``pip install mdplay[adapters]``) and says so in a sentence if it is missing.
"""
