"""``mdplay solve`` and ``mdplay book`` for Connect Four."""

import json

import pytest

from tests.solving.proof.test_prover import known_scores

MOVES, SCORE = known_scores()[-3]


def test_a_position_as_json(mdplay, needs_compiler):
    answer = json.loads(mdplay("solve", "connect-four", "--position", MOVES, "--json").out)
    assert answer["score"] == SCORE and answer["value"] == (SCORE > 0) - (SCORE < 0)
    assert max(move["score"] for move in answer["moves"]) == SCORE
    assert len(answer["line"]) == answer["distance"]
    for move in answer["moves"]:
        assert move["value"] == (move["score"] > 0) - (move["score"] < 0)


def test_a_position_in_words(mdplay, needs_compiler):
    out = mdplay("solve", "connect-four", "--position", "121212").out
    assert "Player 1, to move, wins in 1 ply." in out
    assert "  move  value  score  plies\n*    1     +1    +18      1\n" in out


def test_weak_tells_only_who_wins(mdplay, needs_compiler):
    answer = json.loads(mdplay("solve", "connect-four", "--position", MOVES, "--objective", "win", "--json").out)
    assert answer["score"] == answer["value"] == (SCORE > 0) - (SCORE < 0)
    assert answer["distance"] is None and answer["line"] == []


def test_a_file_of_positions(mdplay, needs_compiler, tmp_path):
    lines = [f"{moves} {score}" for moves, score in known_scores()[-8:]]
    (tmp_path / "positions").write_text("".join(line.split()[0] + "\n" for line in lines))
    assert mdplay("solve", "connect-four", "--batch", tmp_path / "positions").out.splitlines() == lines


@pytest.mark.parametrize(
    "position, sentence",
    [
        ("44444444", "move 7: '4' is not a legal move"),
        ("48", "move 2: '8' is not a legal move"),
        ("4x", "move 2: 'x' is not a legal move"),
        ("12121214", "move 8: '4' is not a legal move"),
        ("1" * 43, "move 7"),
    ],
)
def test_bad_positions_are_refused_in_a_sentence(mdplay, position, sentence):
    answer = mdplay("solve", "connect-four", "--position", position)
    assert answer.code == 2 and sentence in answer.err and answer.err.startswith("mdplay: ")


def test_a_bad_line_of_a_file_is_named(mdplay, needs_compiler, tmp_path):
    (tmp_path / "positions").write_text(f"{MOVES}\n\n4449\n")
    answer = mdplay("solve", "connect-four", "--batch", tmp_path / "positions")
    assert answer.code == 2 and "line 3: move 4: '9'" in answer.err


def test_a_book_is_made(mdplay, needs_compiler, tmp_path):
    path = tmp_path / "small.book"
    answer = mdplay("book", "connect-four:rows=4,cols=4", "--plies", 2, "--out", path, "--json")
    facts = json.loads(answer.out)
    assert facts["positions"] == 8 and facts["bytes"] == path.stat().st_size
    again = mdplay("book", "connect-four:rows=4,cols=4", "--plies", 2, "--out", path, "--json")
    assert (answer.err, again.err) == ("", f"mdplay: scores read from {path}\n")
    path.write_bytes(path.read_bytes()[:-1])
    answer = mdplay("book", "connect-four:rows=4,cols=4", "--plies", 2, "--out", path)
    assert answer.code == 2 and "truncated" in answer.err
