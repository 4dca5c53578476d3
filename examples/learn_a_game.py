"""Learn a game by self-play, and let what was learned play a match against random moves."""

from pathlib import Path
from tempfile import TemporaryDirectory

from mdplay import learn, make, match


def main() -> None:
    """Learn Tic-Tac-Toe for two thousand episodes."""
    game = make("tic-tac-toe")
    learned = learn(game, episodes=2_000, seed=1)
    print(f"The empty board is held to be worth {learned.value(game.initial()):+.2f} to the first player.")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "network.safetensors"
        learned.save(file)
        found = match(game, f"network:{file}", "random", games=100, seed=1)
    print(f"Against random moves: {found.tally.score:.0%} of 100 games")


if __name__ == "__main__":
    main()
