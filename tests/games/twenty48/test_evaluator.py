import pytest

from mdplay import make, solve
from mdplay.games.twenty48 import player
from mdplay.games.twenty48.files import board_for, parse_patterns
from mdplay.games.twenty48.player import Player
from mdplay.learning.network import Network
from mdplay.playing.evaluators import evaluator_for


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(player, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(player, "EPISODES", 30)
    return tmp_path


def test_a_small_board_is_solved():
    game = make("2048:rows=2,cols=2")
    said = list(evaluator_for(game).evaluate(game.parse("1100")))
    assert (said[0].value.exact, said[0].value.value) == (True, solve(game).value(game.parse("1100")))


def test_a_network_is_trained_once_and_then_evaluates(folder):
    game = make("2048:rows=3,cols=3")
    first, lines = evaluator_for(game), []
    assert first.method == "search"
    first.improve(lines.append)
    assert len(lines) == 1
    second = evaluator_for(game)
    assert second.method == "network"
    state = game.parse("112000000")
    (said,) = second.evaluate(state)
    assert set(said.moves) == {0, 1, 2, 3} & {a for a in range(4) if game.legal(state) >> a & 1}
    assert not said.value.exact
    action, total = second.player.best(state)
    assert action in said.best
    assert said.value.value == pytest.approx(total, rel=1e-5)


def test_a_damaged_network_is_trained_again(folder):
    game = make("2048:rows=3,cols=3")
    player.network_file(game).write_bytes(b"nothing of the kind")
    assert evaluator_for(game).method == "search"


@pytest.mark.parametrize(("depth", "before"), [(1, False), (2, False), (1, True)])
def test_the_best_moves_all_directions_is_the_players_choice(depth, before):
    patterns = parse_patterns("0123,4567,0145", 4, 4)
    network = Network.create(board_for(4, 4), patterns, before=before)
    network.weights[:] = [((i * 7919) % 101) / 10 for i in range(len(network.weights))]
    player = Player(network, depth)
    for text in ("1123000000000000", "1212000045670000", "1234432112344321"):
        state = player.game.parse(text)
        if not player.game.legal(state):
            assert player.values(state) == {}
            continue
        action, total = player.best(state)
        values = player.values(state)
        assert values[action] == pytest.approx(total, rel=1e-5)
        assert max(values.values()) == pytest.approx(total, rel=1e-5)


def test_patterns_fit_their_board():
    for text in ("2048:rows=3,cols=3", "2048:rows=2,cols=4", "2048:rows=3,cols=4", "2048"):
        game = make(text)
        parse_patterns(player.patterns_for(game), game.rows, game.cols)
