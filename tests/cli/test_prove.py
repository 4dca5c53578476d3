import json

from mdplay.games.qubic.book import shipped_book


def test_verify_says_verified_or_names_the_gap(mdplay, tmp_path, needs_compiler):
    book = tmp_path / "book.txt"
    book.write_text("".join(shipped_book().text().splitlines(keepends=True)[1:]))
    answer = mdplay("verify", "qubic", book)
    assert answer.code == 1
    assert answer.out.splitlines()[-1].startswith("gap: attacker ")
    document = json.loads(mdplay("verify", "qubic", book, "--json").out)
    assert document == json.loads(mdplay("verify", "qubic", book, "--executor", "serial", "--json").out)
    assert document["verified"] is False and "not in the book" in document["gap"]


def test_bad_books_and_games(mdplay, tmp_path):
    book = tmp_path / "book.txt"
    book.write_text("one two three\n")
    answer = mdplay("verify", "qubic", book)
    assert answer.code == 2 and "line 1" in answer.err
    assert mdplay("verify", "chess", book).code == 2
    answer = mdplay("prove", "qubic", "--out", tmp_path / "no" / "book.txt")
    assert answer.code == 2 and "there is no folder" in answer.err
