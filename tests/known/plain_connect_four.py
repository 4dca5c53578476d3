"""Connect Four scores by plain negamax on columns of characters: slow, and nothing in common with the solver.

    python tests/known/plain_connect_four.py 60 > tests/known/connect_four_scores.txt

writes random positions of 7 x 6 with 26 to 36 discs and their scores for the player to move: 22 minus the discs
that the winner has placed at the end, negative for a loss, 0 for a draw.
"""

import random
import sys
from functools import cache

ROWS, COLS = 6, 7
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


def has_won(columns, column):
    """Tell whether the top disc of a column is part of a four."""
    row, disc = len(columns[column]) - 1, columns[column][-1]

    def run(dc, dr):
        c, r, length = column + dc, row + dr, 0
        while 0 <= c < len(columns) and 0 <= r < len(columns[c]) and columns[c][r] == disc:
            c, r, length = c + dc, r + dr, length + 1
        return length

    return any(run(dc, dr) + run(-dc, -dr) >= 3 for dc, dr in DIRECTIONS)


def after(columns, column):
    discs = sum(map(len, columns))
    return (*columns[:column], columns[column] + "xo"[discs % 2], *columns[column + 1 :])


@cache
def score(columns, rows=ROWS):
    """Return the score of a position that is not over."""
    discs, best = sum(map(len, columns)), None
    for column, cells in enumerate(columns):
        if len(cells) == rows:
            continue
        then = after(columns, column)
        if has_won(then, column):
            own = discs // 2 + 1
            total = (rows * len(columns) + 1 - discs % 2) // 2
            value = total + 1 - own
        else:
            value = -score(then, rows)
        best = value if best is None else max(best, value)
    return best or 0


def random_position(rng, length):
    """Return columns played, 1-based, of a game in which nobody could win at once so far."""
    while True:
        columns, text = ("",) * COLS, ""
        while len(text) < length:
            open_columns = [c for c in range(COLS) if len(columns[c]) < ROWS]
            if any(has_won(after(columns, c), c) for c in open_columns):
                break
            column = rng.choice(open_columns)
            columns, text = after(columns, column), text + str(column + 1)
        if len(text) == length:
            return text, columns


def main(count):
    rng = random.Random(8)
    for i in range(count):
        text, columns = random_position(rng, 26 + i * 11 // count)
        print(text, score(columns))
        score.cache_clear()


if __name__ == "__main__":
    main(int(sys.argv[1]))
