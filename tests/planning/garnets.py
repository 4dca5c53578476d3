"""Random MDPs of the Garnet kind (Archibald, McKinnon and Thomas 1995): states x actions x branches."""

import numpy as np

from mdplay.planning import MDP


def garnet(num_states, num_actions, branches, *, seed, discount=0.99):
    """Return a random MDP without terminal states; a choice leads to distinct states."""
    rng = np.random.default_rng(seed)
    size = num_states * num_actions
    target = np.sort(rng.integers(0, num_states - branches, (size, branches)), axis=1) + np.arange(branches)
    probability = rng.dirichlet(np.ones(branches), size)
    return MDP(
        first_choice=np.arange(0, size + 1, num_actions),
        action=np.tile(np.arange(num_actions), num_states),
        first_transition=np.arange(0, size * branches + 1, branches),
        target=target.ravel(),
        probability=probability.ravel(),
        reward=rng.random(size),
        discount=discount,
    )
