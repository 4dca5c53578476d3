"""Compare exploration policies on a bandit of two arms; the same selectors guide tree search."""

from mdplay.bandits.laboratory import compare, parse_bandit

POLICIES = ("uniform", "epsilon-greedy", "softmax", "ucb1", "thompson")


def main() -> None:
    """Print the regret of each policy, and how often it pulls the better arm at the end."""
    for curve in compare(parse_bandit("0.9,0.6"), POLICIES, steps=500, runs=50, seed=1):
        print(f"{curve.name:16} regret {curve.regret[-1]:6.1f}, best arm at the end {curve.end_optimal:.0%}")


if __name__ == "__main__":
    main()
