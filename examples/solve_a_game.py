"""Write a game in plain Python and solve it: a table of exact values, and the best moves."""

from dataclasses import dataclass
from typing import NamedTuple

from mdplay import Game, solve


class State(NamedTuple):
    """The counters that are left, and who moves."""

    pile: int
    player: int


@dataclass(frozen=True)
class Nim(Game[State]):
    """Take one, two or three; whoever takes the last one wins."""

    pile: int = 21

    def initial(self) -> State:
        """Return the full pile."""
        return State(self.pile, 0)

    def legal(self, s: State) -> int:
        """Return a bit for each number that may be taken; none at the end."""
        return (1 << min(3, s.pile)) - 1

    def step(self, s: State, action: int) -> State:
        """Take counters."""
        return State(s.pile - action - 1, 1 - s.player)

    def result(self, s: State) -> int:
        """Return +1 if player 0 took the last one, else -1."""
        return 2 * s.player - 1


def main() -> None:
    """Solve the game, and tell what the first player should take."""
    game = Nim()
    solution = solve(game)
    print(f"The first player {'wins' if solution.value() > 0 else 'loses'}; {solution.states} states.")
    print("Take", " or ".join(str(action + 1) for action in solution.best()), "of", game.pile)
    lost = [pile for pile in range(1, 22) if solution.value(State(pile, 0)) < 0]
    print("Lost for whoever moves:", *lost)


if __name__ == "__main__":
    main()
