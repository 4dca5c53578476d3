from collections import Counter

import numpy as np
import pytest

from mdplay.bits import elements, nonempty, popcount
from mdplay.compiling import kernel, load, native, pack, word
from mdplay.errors import PositionError
from mdplay.games.qubic.plain import DEEPEST, FAILURES, forced, tables
from mdplay.games.qubic.rules import CELLS, FULL, Qubic, State
from mdplay.naming.notation import parse_position
from mdplay.rng import Random
from mdplay.searching.playouts import playouts
from tests.games.qubic.test_threats import wins_after
from tests.helpers import COMPILED

GAME = Qubic()


def lines_by_coordinates() -> set[frozenset[int]]:
    """Four cells are a line if every coordinate is constant, rising or falling: no directions, no shifts."""
    runs = [(i,) * 4 for i in range(4)] + [(0, 1, 2, 3), (3, 2, 1, 0)]
    lines = {frozenset(zip(x, y, z, strict=True)) for x in runs for y in runs for z in runs}
    return {frozenset(CELLS.index(cell) for cell in line) for line in lines if len(line) == 4}


LINES = lines_by_coordinates()


def test_the_76_lines():
    assert len(LINES) == 76
    assert {frozenset(elements(line)) for line in GAME.lines} == LINES


def test_a_line_is_seen_and_three_of_it_are_not():
    for line in LINES:
        marks = sum(1 << cell for cell in line)
        assert GAME.has_line(marks)
        assert not any(GAME.has_line(marks & ~(1 << cell)) for cell in line)


def test_marks_without_a_line_by_counting():
    rng = Random(3)
    for _ in range(2000):
        marks = rng.word() & rng.word()
        assert GAME.has_line(marks) == any(all(marks >> cell & 1 for cell in line) for line in LINES)


def automorphisms() -> set[tuple[int, ...]]:
    """All permutations of the cells that take lines to lines, found by search and not by geometry.

    Cells are placed one by one, the one with fewest choices first; two cells on a common line must stay on one,
    two others must not meet.
    """
    near = {cell: {c for line in LINES if cell in line for c in line} for cell in range(64)}
    found = []

    def place(image: dict[int, int], choices: dict[int, set[int]]) -> None:
        if not choices:
            found.append(tuple(image[cell] for cell in range(64)))
            return
        cell = min(choices, key=lambda c: len(choices[c]))
        for to in choices[cell]:
            left = {c: (t & near[to] if c in near[cell] else t - near[to]) - {to} for c, t in choices.items()}
            place(image | {cell: to}, {c: t for c, t in left.items() if c != cell})

    place({}, {cell: {c for c in near if len(near[c]) == len(near[cell])} for cell in near})
    return {image for image in found if {frozenset(image[c] for c in line) for line in LINES} == LINES}


def test_the_192_symmetries_are_all_that_there_are():
    assert len(set(GAME.images)) == GAME.symmetries() == 192
    assert GAME.images[0] == tuple(range(64))
    assert set(GAME.images) == automorphisms()


def test_image_moves_the_marks():
    s = GAME.parse("000,333,100,032")
    for k in (0, 1, 100, 191):
        image = GAME.image(s, k)
        assert set(elements(image.mine)) == {GAME.images[k][cell] for cell in elements(s.mine)}
        assert image.player == s.player


@kernel
def least_images(game, table, out):
    for i in range(len(table)):
        s = load(game, table, i)
        for k in range(game.symmetries()):
            words = pack(game, game.image(s, k))
            if words[0] < out[i, 0] or (words[0] == out[i, 0] and words[1] < out[i, 1]):
                for j in range(3):
                    out[i, j] = words[j]


def orbits(num_first: int, num_second: int) -> int:
    """Burnside's lemma: the number of ways to place marks up to symmetry is the mean number of fixed ways."""
    total = 0
    for image in GAME.images:
        ways = Counter({(0, 0): 1})
        for cycle in cycles(image):
            grown = Counter(ways)
            for (a, b), count in ways.items():
                grown[a + cycle, b] += count
                grown[a, b + cycle] += count
            ways = Counter({(a, b): n for (a, b), n in grown.items() if a <= num_first and b <= num_second})
        total += ways[num_first, num_second]
    return total // len(GAME.images)


def cycles(image: tuple[int, ...]) -> list[int]:
    lengths, left = [], set(range(64))
    while left:
        cell, length = min(left), 0
        while cell in left:
            left.remove(cell)
            cell, length = image[cell], length + 1
        lengths.append(length)
    return lengths


def test_positions_up_to_symmetry(needs_compiler):
    layer, counts = {GAME.initial()}, []
    for _ in range(4):
        children = {GAME.step(s, a) for s in layer for a in elements(GAME.legal(s))}
        table = np.array(sorted(children), np.uint64)
        least = table.copy()
        least_images(native(GAME), table, least)
        layer = {State(*map(int, row)) for row in least}
        counts.append(len(layer))
    assert counts == [orbits(1, 0), orbits(1, 1), orbits(2, 1), orbits(2, 2)] == [2, 35, 757, 20851]


def test_random_games(needs_compiler):
    done = playouts(GAME, games=3_000_000, seed=5)
    assert done.wins / done.games == pytest.approx(0.527, abs=0.001)
    assert done.mean_length == pytest.approx(35.47, abs=0.05)
    assert done.longest == 64


def test_a_full_board_without_a_line_is_a_tie():
    rng = Random(1)
    for _ in range(100_000):
        cells = sorted(range(64), key=lambda _: rng.word())
        first, second = (sum(1 << c for c in cells[half::2]) for half in (0, 1))
        if not GAME.has_line(first) and not GAME.has_line(second):
            break
    s = State(first, second, 0)
    assert GAME.legal(s) == 0
    assert GAME.result(s) == 0
    assert GAME.status(s) == 2


def test_the_status_tells_a_tie_from_a_game_that_goes_on():
    assert GAME.status(GAME.initial()) == 0
    assert GAME.status(GAME.parse("000,011,100,111,200,211")) == 0
    assert GAME.status(GAME.parse("000,011,100,111,200,211,300")) == 1
    assert GAME.status(GAME.parse("000,003,100,102,200,201,010,300")) == -1


@pytest.mark.parametrize(
    ("moves", "result"), [("000,011,100,111,200,211,300", 1), ("000,003,100,102,200,201,010,300", -1)]
)
def test_results(moves, result):
    s = GAME.parse(moves)
    assert GAME.legal(s) == 0
    assert GAME.result(s) == result


def test_positions_and_pictures():
    s = parse_position(GAME, "moves:000,333,111")
    assert s == GAME.parse("000, 333, 111") == GAME.parse(GAME.text(s))
    assert s == State(1 << 63, 1 | 1 << 21, 1)
    assert GAME.board(s).splitlines() == [
        "  z   0         1         2         3",
        "  x   0 1 2 3   0 1 2 3   0 1 2 3   0 1 2 3",
        "y 0   X . . .   . . . .   . . . .   . . . .",
        "  1   . . . .   . X . .   . . . .   . . . .",
        "  2   . . . .   . . . .   . . . .   . . . .",
        "  3   . . . .   . . . .   . . . .   . . . O",
    ]


EMPTY = "................"


@pytest.mark.parametrize(
    "text",
    [
        "000,000",
        "004",
        "000 12",
        f"{EMPTY}/{EMPTY}/{EMPTY}",
        f"{EMPTY}/{EMPTY}/{EMPTY}/{EMPTY[1:]}z",
        f"oo..............//{EMPTY}/{EMPTY}",
        f"o{EMPTY[1:]}/{EMPTY}/{EMPTY}/{EMPTY}",
        f"xxxx............/oooo............/{EMPTY}/{EMPTY}",
    ],
)
def test_texts_that_are_no_position(text):
    with pytest.raises(PositionError):
        GAME.parse(text)


# ---------------------------------------------------------------- threats
def middle_positions(count, seed):
    """Positions of random games, from the first threats on; nobody has a line."""
    rng = Random(seed)
    while count:
        s = GAME.initial()
        while nonempty(GAME.legal(s)) and count:
            if popcount(s.mine | s.theirs) > 9 and rng.below(4) == 0:
                count -= 1
                yield s
            s = GAME.step(s, rng.pick(GAME.legal(s)))


def open_by_counting(mine, theirs, marks):
    """The lines in which only I have marks, so many, as sets of cells."""
    own, other = set(elements(mine)), set(elements(theirs))
    return [line for line in LINES if not line & other and len(line & own) == marks]


def test_lines_are_counted_right():
    for s in middle_positions(50, seed=1):
        threes, twos = (open_by_counting(s.mine, s.theirs, marks) for marks in (3, 2))
        wins = {cell for line in threes for cell in line} - set(elements(s.mine))
        assert set(elements(GAME.completing(s.mine, s.theirs))) == wins
        makes = Counter(cell for line in twos for cell in line if not s.mine >> cell & 1)
        found = GAME.threats(s.mine, s.theirs)
        assert set(elements(found.single)) == set(makes)
        assert set(elements(found.double)) == {cell for cell, lines in makes.items() if lines > 1}


def test_the_heuristic_counts_open_lines():
    for s in middle_positions(50, seed=2):
        worth = {1: 1, 2: 4, 3: 16}
        mine, theirs = (
            sum(points * len(open_by_counting(*sides, marks)) for marks, points in worth.items())
            for sides in ((s.mine, s.theirs), (s.theirs, s.mine))
        )
        assert GAME.heuristic(s) == (theirs - mine if s.player else mine - theirs)


compiled_forced = kernel(forced)  # the checker's part by itself, compiled as kernels have it


def test_what_look_settles_is_so():
    """Against the definition of a forced win, by recursion, and against the checker of the proof."""
    lines, _ = tables()
    met = Counter()
    for s in middle_positions(150 if COMPILED else 15, seed=3):
        bounds, won = GAME.bounds(s), 1 - 2 * s.player
        threatened = open_by_counting(s.theirs, s.mine, 3)
        if (bounds.low, bounds.high) == (won, won):
            (cell,) = elements(bounds.moves)
            after = s.mine | 1 << cell
            assert GAME.has_line(after) or wins_after(after, s.theirs, {})
            if COMPILED:
                room = np.zeros(3 * DEEPEST, np.uint64), np.zeros(2 * FAILURES, np.uint64)
                assert compiled_forced(word(s.mine), word(s.theirs), lines, *room)[0]
            met["won"] += 1
        elif bounds.low == bounds.high:
            assert len({cell for line in threatened for cell in line - set(elements(s.theirs))}) > 1
            met["lost"] += 1
        else:
            assert not open_by_counting(s.mine, s.theirs, 3)
            stops = {cell for line in threatened for cell in line} - set(elements(s.theirs))
            assert set(elements(bounds.moves)) == (stops or set(elements(GAME.legal(s))))
            met["open"] += 1
    assert min(met["won"], met["open"]) > (3 if COMPILED else 0)


def test_look_knows_the_ends():
    line = State(0b1110000, 0b1111, 1)
    assert GAME.bounds(line) == (1, 1, 0)
    half = 0xC7E8746A91466D1B  # a full board without a line
    assert not GAME.has_line(half) and not GAME.has_line(~half & FULL)
    assert GAME.bounds(State(half, ~half & FULL, 0)) == (0, 0, 0)
