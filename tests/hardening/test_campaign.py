"""A small version of each part of the campaign; ``make harden`` runs the full one."""

import pytest

from tests.hardening.campaign import PARTS, Tally, names_input, row, run_part


@pytest.mark.parametrize("name", PARTS)
def test_the_small_campaign_finds_nothing(name, needs_compiler):
    tally = run_part(name, small=True)
    assert tally.findings == []
    assert tally.tried > 0


def test_a_tally_counts_what_was_tried_and_found(monkeypatch):
    from tests.hardening.campaign import Part

    monkeypatch.setitem(PARTS, "trial", Part("numbers", 3, 1))
    tally = Tally()
    tally.ended("answered")
    tally.found("2 + 2 = 5")
    assert (tally.tried, tally.findings) == (2, ["2 + 2 = 5"])
    assert row("trial", tally, 1.2) == "| trial | numbers | 2 | 1 answered, 1 found | 1 | 1 s |"


@pytest.mark.parametrize(
    ("sentence", "words", "named"),
    [
        ("mdplay: rows=99 is out of range; 1 to 63", ["tic-tac-toe:rows=99"], True),
        ("mdplay: TicTacToe brings no proof of its result", ["anti-tic-tac-toe"], True),
        ("mdplay: no game ''; choose from 2048, qubic", ["::"], True),
        ("mdplay: no game 'x'; choose from 2048, qubic", ["qubic"], False),  # named as what might be given instead
        ("mdplay: a match needs a two-player game", ["2048:rows=2,cols=2", "random"], False),
        ("mdplay: Missing argument 'GAME'.", [], True),
        ("mdplay: a value in the input cannot be used", ["tic-tac-toe", "--games", "2"], False),
    ],
)
def test_a_sentence_names_the_input_or_does_not(sentence, words, named):
    assert names_input(sentence, words) is named
