"""Let agents play: one game move by move, a match with its interval, a tournament with ratings."""

from mdplay import make, match, play, tournament

AGENTS = ("random", "mcts:simulations=10", "mcts:simulations=50")


def main() -> None:
    """Play Tic-Tac-Toe."""
    game = make("tic-tac-toe")
    record = play(game, *AGENTS[1:], seed=1)
    print("One game:", *record.moves, "result", record.result)
    found = match(game, AGENTS[1], AGENTS[0], games=10, seed=1)
    low, high = found.interval
    print(f"{AGENTS[1]} against {AGENTS[0]}: {found.tally.score:.2f} ({low:.2f} .. {high:.2f})")
    for rating in tournament(game, AGENTS, games=4, seed=1).ratings:
        print(f"{rating.agent:22} {rating.elo:+5.0f} Elo")


if __name__ == "__main__":
    main()
