"""Find a move by tree search, look into the tree, and compare with the exact score."""

from mdplay import Position, make, mcts, prove


def main() -> None:
    """Search a position of Connect Four in which one column saves the game."""
    game = make("connect-four")
    position = Position.parse(game, "44444453")
    print(position.board)
    found = mcts(game, position.state, simulations=2_000, seed=1)
    for move in sorted(found.moves, key=lambda move: -move.visits):
        print(f"column {move.move}: {move.visits:5} visits, value {move.value:+.2f}")
    print("Played:", found.move, "and then", *found.line[1:5])
    late = Position.parse(game, "6262455127741665")
    print("Exact score of a later position:", prove(game, late.state).low)


if __name__ == "__main__":
    main()
