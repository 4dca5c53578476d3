"""Here are tested besides: mdplay.games.qubic.plain."""

import gzip

import numpy as np
import pytest

from mdplay.errors import FormatError
from mdplay.games.qubic.book import shipped_book
from mdplay.games.qubic.plain import all_lines, all_symmetries
from mdplay.games.qubic.rules import Qubic
from mdplay.games.qubic.verify import read_rows, verify

GAME = Qubic()
START = (4398048673793, 9223372036854906944)  # 57 answers of the defender


def rows_of(book):
    return np.stack([book.attackers, book.defenders, book.cells.astype(np.uint64)], axis=1)


def test_lines_and_symmetries_are_those_of_the_game():
    assert set(all_lines()) == set(GAME.lines) and len(all_lines()) == 76
    assert set(all_symmetries()) == set(GAME.images) and len(all_symmetries()) == 192


def test_the_checker_shares_no_code_with_the_prover():
    from mdplay.games.qubic import plain, verify

    used = [value for module in (plain, verify) for value in vars(module).values()]
    modules = {getattr(value, "__module__", "") for value in used}
    assert {name for name in modules if name and name.startswith("mdplay.games")} == {
        plain.__name__,
        verify.__name__,
    }
    assert not [name for name in modules if name and name.startswith("mdplay.solving")]


def test_the_shipped_book_proves_the_first_players_win(needs_compiler):
    # Patashnik 1980: the first player wins
    verdict = verify(rows_of(shipped_book()))
    assert verdict.verified, verdict.gap
    assert verdict.met == verdict.lines == len(shipped_book())


def test_tampered_books_are_refused(needs_compiler):
    whole = rows_of(shipped_book())
    broken = whole.copy()
    broken[7, 2] = (int(broken[7, 0]) & -int(broken[7, 0])).bit_length() - 1
    assert verify(broken).gap.startswith("line 8: ") and "occupied" in verify(broken).gap
    broken = whole.copy()
    broken[3, 2] = 64
    assert "occupied" in verify(broken).gap
    broken = whole.copy()
    broken[5, 0] |= np.uint64(1) << np.uint64(int(~(broken[5, 0] | broken[5, 1])).bit_length() - 1)
    assert "equally many" in verify(broken).gap
    broken = whole.copy()
    broken[5, 1] = broken[5, 0]
    assert "both sides" in verify(broken).gap
    missing = verify(whole[1:])  # the first line answers one of the twelve replies: no threats replace it
    assert not missing.verified and "not in the book" in missing.gap
    assert verify(whole[:0]).gap.startswith("attacker 1 defender ")


def test_a_win_that_is_left_open_to_the_defender_is_found(needs_compiler):
    # The defender has two of a line and takes the third; the book answers elsewhere.
    attacker, defender = 1 << 63 | 1 << 21 | 1 << 38, 0b0011
    rows = [[attacker, defender | 1 << 2, 40], [attacker, defender | 1 << 3, 40]]
    rows += [[attacker, defender | 1 << c, 40 if c != 40 else 41] for c in range(4, 64) if not attacker >> c & 1]
    verdict = verify(np.array(rows, np.uint64), (attacker, defender))
    assert not verdict.verified and "the defender, to move, completes a line" in verdict.gap


def test_images_of_a_book_serve_as_well(needs_compiler):
    # every line replaced by another image of itself
    from mdplay.games.qubic.proof import ProofSettings, StrategyProver

    book = StrategyProver(ProofSettings(slots=1 << 18), START).run().book
    rows = []
    for i in range(len(book)):
        k = (37 * i + 5) % 192
        images = GAME.images[k]
        rows.append([
            GAME.moved(int(book.attackers[i]), k),
            GAME.moved(int(book.defenders[i]), k),
            images[int(book.cells[i])],
        ])  # fmt: skip
    table = np.array(rows, np.uint64)
    assert verify(table, START).verified
    needed = [i for i in range(len(table)) if not verify(np.delete(table, i, axis=0), START).verified]
    assert len(needed) > len(table) // 2  # hardly a line is there for nothing


def test_files(tmp_path):
    path = tmp_path / "book.txt"
    path.write_text("1 2 3\n")
    assert read_rows(path).tolist() == [[1, 2, 3]]
    (tmp_path / "book.txt.gz").write_bytes(gzip.compress(b"5 6 7\n"))
    assert read_rows(tmp_path / "book.txt.gz").tolist() == [[5, 6, 7]]
    for text in ("1 2\n", "1 2 x\n", "1 2 3 4\n", f"{1 << 64} 2 3\n", "-1 2 3\n"):
        path.write_text(text)
        with pytest.raises(FormatError, match="line 1"):
            read_rows(path)
    with pytest.raises(FormatError, match="cannot read"):
        read_rows(tmp_path / "none.txt")
