"""Proofs that games bring, as the API and the commands ask for them; with the proof of a game of one move."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from mdplay import FormatError, UnknownName, make
from mdplay.naming.registry import register_extras
from mdplay.solving.proof.book import checkpoint_of, prove_strategy, verify_strategy
from tests.nim import Nim


@dataclass(frozen=True)
class Proved(Nim):
    """Nim, with a proof that remembers how it was asked."""


def prove(checkpoint, **how):
    kept = checkpoint.read_text() if checkpoint.exists() else "from the start"
    pause = how["pause"]
    pause(1, 1)
    return SimpleNamespace(book=None if how["threads"] == 99 else "book", save=lambda path: path.write_text(kept))


register_extras(Proved, proofs={"prove": prove, "verify": lambda book, **how: book.read_text()})


def test_a_proof_goes_on_unless_it_is_to_begin_afresh(tmp_path):
    book, told = tmp_path / "book.txt", []
    assert (
        checkpoint_of(book).name == "book.txt.checkpoint" and checkpoint_of(book, "ray").name == "book.txt.answers"
    )
    for fresh, words in ((False, "half of it"), (True, "from the start")):
        checkpoint_of(book).write_text("half of it")
        proof = prove_strategy(Proved(), book, fresh=fresh, pause=lambda *done: told.append(done))
        assert proof.book == "book" and verify_strategy(Proved(), book) == words
    assert told == [(1, 1)] * 2
    answers = checkpoint_of(book, "local")
    answers.mkdir()
    prove_strategy(Proved(), book, fresh=True, executor="local", pause=lambda *_: None)
    assert not answers.exists()


def test_no_proof_no_book(tmp_path):
    proof = prove_strategy(Proved(), tmp_path / "book.txt", threads=99, pause=lambda *_: None)
    assert proof.book is None and not (tmp_path / "book.txt").exists()


def test_what_cannot_be_is_told_before_the_work(tmp_path):
    with pytest.raises(FormatError, match="there is no folder"):
        prove_strategy(Proved(), tmp_path / "nowhere" / "book.txt")
    with pytest.raises(UnknownName, match="TicTacToe brings no proof of its result; choose qubic"):
        verify_strategy(make("tic-tac-toe"), tmp_path / "book.txt")
