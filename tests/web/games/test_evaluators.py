"""Evaluators are made while somebody listens, so many at a time, and what failed leaves no memory behind."""

import gc
import threading
import time
import weakref

import pytest

from mdplay import make
from mdplay.errors import LimitError
from mdplay.web.games import evaluators as module
from mdplay.web.games.catalogue import Catalogue
from mdplay.web.games.evaluators import MAX_MAKING, Evaluators, refuse_many_states
from mdplay.web.safety import Refused
from mdplay.web.work.jobs import Cancelled
from tests.web.serving import wait_for

ENTRY = Catalogue()["tic-tac-toe"]
SIZES = [f"cols={cols}" for cols in range(3, 9)]


class Left(Exception):
    """The client has gone."""


def listen(evaluators, params, left):
    """Be a request that waits for an evaluator in a thread of its own, until it leaves."""

    def check():
        if left.is_set():
            raise Left

    def run():
        try:
            evaluators.evaluator(ENTRY, params, check=check)
        except (Left, Refused) as error:
            outcome.append(error)

    outcome = []
    thread = threading.Thread(target=run)
    thread.start()
    return thread, outcome


@pytest.fixture
def slow(monkeypatch):
    """Let the making of evaluators go on without end; return those that have begun, by their number of columns."""
    begun = []

    def making(game, opponent, *, seconds=0.0, show):
        begun.append(game.cols)
        while True:
            show(0)
            time.sleep(0.005)

    monkeypatch.setattr(module, "make_evaluator", making)
    monkeypatch.setattr(module, "LEAVE_SECONDS", 0.05)
    return begun


def test_making_ends_when_the_last_listener_has_left(slow):
    evaluators, before, left = Evaluators(), threading.active_count(), [threading.Event() for _ in range(2)]
    threads = [listen(evaluators, "", one)[0] for one in left]
    wait_for(lambda: evaluators.busy == ["preparing Tic-Tac-Toe"])
    left[0].set()
    threads[0].join(30)
    time.sleep(0.2)
    assert evaluators.busy, "the other one still listens"
    left[1].set()
    wait_for(lambda: not evaluators.busy and threading.active_count() <= before)
    assert slow == [3], "both listened to the same making"


def test_so_many_are_made_at_a_time(slow):
    evaluators, left = Evaluators(), threading.Event()
    asked = [listen(evaluators, params, left) for params in SIZES]
    wait_for(lambda: sum(bool(outcome) for _, outcome in asked) == len(SIZES) - MAX_MAKING + 1)
    assert {one.code for _, outcome in asked for one in outcome} == {503}
    asked.append(listen(evaluators, "", left))  # the game as it comes has a place of its own
    wait_for(lambda: len(slow) == MAX_MAKING)
    left.set()
    for thread, _ in asked:
        thread.join(30)
    wait_for(lambda: not evaluators.busy)


def test_what_failed_keeps_no_memory(monkeypatch):
    class Table:
        pass

    tables = []

    def failing(game, opponent, **_):
        table = Table()
        tables.append(weakref.ref(table))
        raise LimitError("too large")

    monkeypatch.setattr(module, "make_evaluator", failing)
    evaluators = Evaluators()
    with pytest.raises(LimitError):
        evaluators.evaluator(ENTRY)
    gc.collect()
    assert tables[0]() is None


def test_the_evaluator_that_was_not_used_for_longest_is_dropped_where_memory_is_short(monkeypatch):
    made = []
    monkeypatch.setattr(module, "make_evaluator", lambda game, opponent, **_: made.append(game.cols) or object())
    monkeypatch.setattr(module, "MAX_CACHED_BYTES", 1 << 50)  # the process of the tests may be large
    evaluators = Evaluators()
    for params in (*SIZES, "cols=3"):
        evaluators.evaluator(ENTRY, params)
    assert made == [3, 4, 5, 6, 7, 8], "all are kept while there is room"
    monkeypatch.setattr(module, "MAX_CACHED_BYTES", 0)
    for params in ("cols=9", "cols=3", "cols=4"):
        evaluators.evaluator(ENTRY, params)
    assert made[6:] == [9, 4], "the fourth column was not used for longest"


def test_many_other_parameters_do_not_take_the_table_of_a_game_away(monkeypatch):
    made = []
    monkeypatch.setattr(module, "make_evaluator", lambda game, opponent, **_: made.append(game.rows) or object())
    monkeypatch.setattr(module, "MAX_CACHED", 3)
    monkeypatch.setattr(module, "MAX_CACHED_BYTES", 1 << 50)
    evaluators = Evaluators()
    evaluators.evaluator(ENTRY)
    for rows in range(4, 9):
        evaluators.evaluator(ENTRY, f"rows={rows}")
    evaluators.evaluator(ENTRY)
    assert made == [3, 4, 5, 6, 7, 8], "it was made once"


def test_a_random_opponent_needs_a_game_of_few_states(monkeypatch):
    refuse_many_states(make("tic-tac-toe"))
    monkeypatch.setattr(module, "MAX_RANDOM_STATES", 5_000)
    with pytest.raises(LimitError, match="table of all states, and this game has more than 5,000"):
        refuse_many_states(make("tic-tac-toe"))  # 5,478
    refuse_many_states(make("dots-and-boxes"))  # 4,096, which it numbers
    with pytest.raises(LimitError):
        refuse_many_states(make("dots-and-boxes:rows=2,cols=3"))
    with pytest.raises(Cancelled):
        refuse_many_states(make("mu-torere"), _cancel)


def _cancel(_):
    raise Cancelled
