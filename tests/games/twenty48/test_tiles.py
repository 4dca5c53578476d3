"""The probability of reaching a tile, and the scores of larger boards: figures of another program."""

import pytest

from mdplay import GameError, make, solve
from mdplay.games.twenty48.rules import reach_tile


@pytest.mark.parametrize("tile, probability", [(8, 1.0), (16, 0.9625112538), (32, 0.0828872891)])
def test_two_by_two(tile, probability, needs_compiler):
    game = reach_tile(make("2048:rows=2,cols=2"), str(tile))
    assert solve(game).value() == pytest.approx(probability, abs=1e-9)


def test_other_games_and_tiles_are_refused():
    with pytest.raises(GameError, match="only 2048 has tiles"):
        reach_tile(make("tic-tac-toe"), "8")
    with pytest.raises(GameError, match="12 is not a tile"):
        reach_tile(make("2048"), "12")


@pytest.mark.slow
@pytest.mark.parametrize(
    "rows, cols, tile, value",
    [
        (2, 3, 64, 0.9392636924),
        (2, 4, None, 2641.8730356922),
        (2, 4, 256, 0.8697558624),
        (3, 3, None, 5468.4867974103),
        (3, 3, 1024, 0.0113378801),
    ],
)
def test_larger_boards(rows, cols, tile, value, needs_compiler):
    game = make(f"2048:rows={rows},cols={cols}")
    solution = solve(reach_tile(game, str(tile)) if tile else game, memory=2_000_000_000)
    assert solution.value() == pytest.approx(value, abs=1e-9)
