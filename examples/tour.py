"""A short tour: draw each game in the middle of a random game, and play random games at full speed."""

from mdplay import make, playouts
from mdplay.bits import some
from mdplay.game import num_players
from mdplay.registry import names
from mdplay.rng import Random


def middle(game, seed):
    """Return the state in the middle of a random game."""
    states, rng, s = [], Random(seed), game.initial()
    while True:
        if some(game.outcomes(s)):
            s = game.outcome(s, game.draw(s, rng.word()))
        elif some(game.legal(s)):
            states.append(s)
            s = game.step(s, rng.pick(game.legal(s)))
        else:
            return states[len(states) // 2]


def main():
    """Walk through the games."""
    for name in names():
        game = make(name)
        print(f"== {name}\n\n{game.board(middle(game, seed=1))}\n")
        found = playouts(game, games=100_000, seed=1)
        print(
            f"{found.games:,} random games: {found.games_per_second:,.0f} games/s, {found.mean_length:.1f} moves each"
        )
        if num_players(game) == 2:
            print(f"player 1 wins {found.wins / found.games:.1%}, player 2 {found.losses / found.games:.1%}")
        print(f"mean result {found.mean:+.4g}\n")
    print("Try next:\n  .venv/bin/mdplay games\n  .venv/bin/mdplay show qubic\n  .venv/bin/mdplay --help")


if __name__ == "__main__":
    main()
