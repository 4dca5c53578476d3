import threading

import pytest

from mdplay import LimitError, PositionError, Search, make, mcts, solve

FIGURES = ("action", "value", "proven", "best", "moves", "line", "simulations", "nodes")


def figures(result):
    return {name: getattr(result, name) for name in FIGURES}


def test_steps_give_the_same_tree_as_one_search():
    game = make("connect-four")
    search = Search(game, seed=3)
    for simulations in (1, 99, 400, 500):
        search.run(simulations)
    assert figures(search.result()) == figures(mcts(game, simulations=1_000, seed=3))
    assert search.simulations == 1_000


def test_a_proven_position_needs_no_more():
    game = make("tic-tac-toe")
    state = game.parse("110220000")  # X has two in a row and moves
    search = Search(game, state)
    search.run(5_000)
    assert search.proven
    assert search.simulations < 5_000
    assert search.result().action in solve(game, state).best(state)


def test_statistics_may_be_read_between_steps_and_nodes_opened():
    search = Search(make("tic-tac-toe"), solver=False)
    with pytest.raises(LimitError, match="has not run yet"):
        search.result()
    search.run(50)
    first = search.result()
    search.run(50)
    assert (first.simulations, search.result().simulations) == (50, 100)
    assert sum(child.visits for child in search.root.children) in (99, 100)
    assert search.root.children[0].children[0].state == search.game.step(
        search.root.children[0].state, search.root.children[0].children[0].action
    )


def test_another_thread_stops_it_for_good():
    search = Search(make("connect-four"), solver=False, memory=1 << 24)
    search.run(1)
    thread = threading.Thread(target=search.run)  # without an end
    thread.start()
    search.stop()
    thread.join(timeout=60)
    assert not thread.is_alive()
    done = search.simulations
    search.run(100)
    assert search.simulations == done


def test_a_full_tree_keeps_its_room_and_searches_on(needs_compiler):
    search = Search(make("connect-four"), solver=False, memory=1 << 20)
    nodes = search.root.places[0][0].nodes
    search.run(20_000)
    assert search.simulations == 20_000
    assert search.root.places[0][0].nodes is nodes
    assert len(nodes) * nodes.itemsize <= 1 << 20


def test_what_cannot_be_searched_is_told_at_once():
    game = make("tic-tac-toe")
    with pytest.raises(PositionError, match="over"):
        Search(game, game.parse("111220000"))
    with pytest.raises(LimitError, match="at least 0"):
        Search(game).run(-1)
