"""Plan in a Markov decision problem written as nested lists, with bounds that are proven."""

from mdplay import MDP, plan

# mdp[state][action] = [[next state, reward, probability], ...]
REPAIR = [
    [[[0, 10.0, 0.9], [1, 10.0, 0.1]], [[0, 6.0, 1.0]]],  # good: run it, or run it with care
    [[[1, 4.0, 0.7], [2, 0.0, 0.3]], [[0, -5.0, 1.0]]],  # worn: run it, or repair it
    [[[2, 0.0, 1.0]], [[0, -20.0, 1.0]]],  # broken: leave it, or replace it
]
NAMES = ("good", "worn", "broken")
ACTIONS = (("run", "run with care"), ("run", "repair"), ("leave", "replace"))


def main() -> None:
    """Plan a machine's repairs."""
    found = plan(MDP.from_nested(REPAIR, discount=0.9))
    for state, name in enumerate(NAMES):
        low, high, chosen = found.lower[state], found.upper[state], ACTIONS[state][found.action[state]]
        print(f"{name:7} worth {found.value[state]:8.4f} ({low:.6f} .. {high:.6f}): {chosen}")


if __name__ == "__main__":
    main()
