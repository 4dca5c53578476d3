from mdplay.games.qubic.proof import prove_replies
from tests.games.qubic.test_proof import SMALL, WIDE, holds


def test_books_of_single_answers_make_a_book_of_all(tmp_path, needs_compiler):
    proof = prove_replies("serial", tmp_path, settings=SMALL, start=WIDE)
    assert proof.proved == proof.replies == 57 and len(proof.book) > 0 and holds(proof, WIDE)
    again = prove_replies("serial", tmp_path, settings=SMALL, start=WIDE)
    assert again.book.text() == proof.book.text() and again.expansions == proof.expansions  # all were kept
