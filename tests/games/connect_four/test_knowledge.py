"""What the study of Connect Four claims, against plain recursion over the rules."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mdplay import check_game, make
from mdplay.bits import elements
from mdplay.games.connect_four.knowledge import ThreatView
from mdplay.rng import Random
from tests.known.plain_connect_four import score as plain_score

KNOWN = Path(__file__).parents[2] / "known" / "connect_four_scores.txt"


def random_states(game, count, seed=3):
    rng = Random(seed)
    for _ in range(count):
        s = game.initial()
        while game.legal(s):
            yield s
            s = game.step(s, rng.pick(game.legal(s)))


def columns_of(game, s):
    rows = game.text(s).split("/")
    return tuple("".join(row[c] for row in reversed(rows)).rstrip(".") for c in range(game.cols))


def values(game, s):
    """Return player 0's score of the position, and of each one after."""

    def worth(t):
        if not game.legal(t):
            view = game.proof_view()
            return view.result(view.convert(t))
        return plain_score(columns_of(game, t), game.rows) * (-1 if t.player else 1)

    return worth(s), {a: worth(game.step(s, a)) for a in elements(game.legal(s))}


@pytest.mark.parametrize("rows, cols", [(4, 4), (3, 5)])
def test_look_is_true(rows, cols):
    game, view = make(f"connect-four:rows={rows},cols={cols}"), ThreatView(rows, cols)
    for s in random_states(game, 60):
        if (s.mine | s.theirs).bit_count() < 5:
            continue  # plain negamax would take too long
        value, after = values(game, s)
        bounds = view.bounds(view.convert(s))
        assert bounds.low <= value <= bounds.high
        if bounds.low < bounds.high:
            kept = [after[cell // (rows + 1)] for cell in elements(bounds.moves)]
            assert value == (min(kept) if s.player else max(kept))


def test_zugzwang_tells_the_truth_and_something_new():
    """Bounds that neither an immediate win nor the empty cells give, on positions scored by plain negamax."""
    game, view = make("connect-four"), ThreatView()
    no_win, win = 0, 0
    for line in KNOWN.read_text().splitlines():
        if line.startswith("#"):
            continue
        moves, score = line.split()
        for text, known in ((moves, int(score)), (moves[:-1], None)):
            s = view.convert(game.parse(text))
            drops = view.legal(s)
            most, least = view.claim_even(s, drops), view.at_least(s, drops)
            assert least <= most
            if known is not None:
                value = -known if view.player(s) else known
                assert least <= value <= most
                no_win, win = no_win + (most <= 0), win + (least > 0)
    assert no_win > 5 and win > 0


def test_the_view_keeps_the_contract():
    assert "bounds" in check_game(ThreatView(4, 5), games=5, compiled=False).knowledge


@given(st.lists(st.integers(0, 6), max_size=30))
def test_threats_are_the_cells_that_win(columns):
    game, view = make("connect-four"), ThreatView()
    s, t = game.initial(), view.initial()
    for column in columns:
        if not game.legal(s) >> column & 1:
            break
        cell = next(a for a in elements(view.legal(t)) if a // 7 == column)
        s, t = game.step(s, column), view.step(t, cell)
        assert t == view.convert(s) or not game.legal(s)
    winning = [
        a for a in elements(view.legal(t)) if not view.legal(view.step(t, a)) and view.result(view.step(t, a))
    ]
    if game.legal(s):
        assert winning == elements(t.my_threats & view.legal(t))


@given(st.lists(st.integers(0, 6), max_size=30))
def test_mirror_images_share_a_key_and_others_do_not(columns):
    view = ThreatView()
    s, image = view.initial(), view.initial()
    for column in columns:
        cells = {a // 7: a for a in elements(view.legal(s))}
        if column not in cells:
            break
        mirrored = {a // 7: a for a in elements(view.legal(image))}
        s, image = view.step(s, cells[column]), view.step(image, mirrored[6 - column])
    discs = (s.mine | s.theirs).bit_count()
    assert (view.key(s) == view.key(image)) == (discs < 14 or s == image)
    assert 0 <= view.key(s) < 1 << view.key_bits
