import pytest

from mdplay import MdplayError, make, tournament
from tests.playing.players import named


def test_a_tournament_is_drawn(tmp_path):
    from mdplay.playing.matches.tournament import plot_tournament

    found = tournament(make("tic-tac-toe"), ["random", named("Leftmost")], games=4)
    plot_tournament(found, tmp_path / "cup.svg")
    assert "Leftmost" in (tmp_path / "cup.svg").read_text()
    plot_tournament(found, tmp_path / "cup.png")
    assert (tmp_path / "cup.png").read_bytes().startswith(b"\x89PNG")
    for name in ("cup.xyz", "nowhere/cup.png"):
        with pytest.raises(MdplayError, match="cannot"):
            plot_tournament(found, tmp_path / name)
