import pytest

from mdplay.errors import FormatError
from mdplay.games.qubic.book import parse_book, shipped_book, write_book
from mdplay.games.qubic.rules import Qubic
from mdplay.games.qubic.verify import read_rows

GAME = Qubic()


def test_round_trips(tmp_path):
    book = parse_book(b"4097 33554464 21\n1 2 63\n", "text")
    assert book.text() == "4097 33554464 21\n1 2 63\n"
    for name in ("book.txt", "book.txt.gz"):
        write_book(tmp_path / name, book)
        assert read_rows(tmp_path / name).tolist() == [[4097, 33554464, 21], [1, 2, 63]]
    assert len((tmp_path / "book.txt").read_text().splitlines()) == 2


def test_a_position_is_found_under_every_symmetry():
    book = parse_book(b"4097 33554464 21\n", "text")
    played = {}  # image of the position -> the images of the book's move there
    for k in range(192):
        played.setdefault((GAME.moved(4097, k), GAME.moved(33554464, k)), set()).add(GAME.images[k][21])
    for image in list(played)[::7]:
        assert book.move(*image) in played[image]
    assert book.move(1, 2) is None


def test_the_shipped_book_is_small_and_each_line_stands_for_itself():
    book = shipped_book()
    assert 2_000 < len(book) < 50_000
    assert len(book.moves) == len(book)  # no two lines are images of each other
    assert book.move(int(book.attackers[100]), int(book.defenders[100])) is not None


@pytest.mark.parametrize("text", [b"1 2\n", b"1 2 3 4\n", b"a b c\n"])
def test_bad_lines(text):
    with pytest.raises(FormatError, match="text, line 1"):
        parse_book(text, "text")


def test_missing_file(tmp_path):
    with pytest.raises(FormatError, match="cannot read"):
        read_rows(tmp_path / "none.txt")


def test_damaged_books_are_refused_with_a_sentence(tmp_path):
    path = tmp_path / "book.txt.gz"
    write_book(path, parse_book(b"4097 33554464 21\n1 2 63\n" * 50, "text"))
    whole = path.read_bytes()
    for at in range(10, len(whole)):
        broken = bytearray(whole)
        broken[at] ^= 0x55
        path.write_bytes(broken)
        with pytest.raises(FormatError):
            read_rows(path)
    (tmp_path / "book.txt").write_bytes(b"1 2 63\n1 \xd2 63\n")
    with pytest.raises(FormatError, match="book.txt, line 2: a book has decimal numbers only$"):
        read_rows(tmp_path / "book.txt")
    for word in ("9" * 5000, "18446744073709551616", "-1", "1_0"):
        (tmp_path / "book.txt").write_text(f"{word} 2 63\n")
        with pytest.raises(FormatError, match="line 1"):
            read_rows(tmp_path / "book.txt")
