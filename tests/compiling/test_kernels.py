"""Kernels that are tried in plain Python first: one answer, whichever way it came.

Here are tested besides: ``mdplay.compiling.plain``.
"""

import threading
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from mdplay import Game
from mdplay.compiling import kernel, kernels, unpack, word, words
from mdplay.errors import GameError
from mdplay.runtime.threads import COMPILE_TIME, Stopwatch
from tests.helpers import NIM, python, write

pytestmark = pytest.mark.usefixtures("needs_compiler")


class State(NamedTuple):
    left: int


@dataclass(frozen=True)
class Countdown(Game[State]):
    """Count down by one; some positions are traps, which nothing compiled would notice."""

    start: int = 10
    trap: int = -1

    def initial(self) -> State:
        return State(self.start)

    def legal(self, s: State) -> int:
        return 1 if s.left else 0

    def step(self, s: State, action: int) -> State:
        return State(s.left << 62 if s.left == self.trap else s.left - 1)


@kernel(plain_first=True)
def count_down(game, start, seed, stop, out):
    """Add up the numbers on the way down into out[0], and change the sign of the zero in out[1]."""
    s, total = unpack(game, start), 0
    while game.legal(s) and not stop[0]:
        out[0] += s.left
        total += 1
        s = game.step(s, 0)
    out[1] = -out[1]
    return total, seed


class Sums(NamedTuple):
    """Arrays that belong together."""

    out: NDArray[np.float64]
    step: int


@kernel(plain_first=True)
def add_to_sums(sums, times):
    """Add to an array of a NamedTuple."""
    for _ in range(times):
        sums.out[0] += sums.step
    return sums.step


@pytest.fixture
def run(monkeypatch):
    """Run the kernel with so many seconds for trials; tell whether it was compiled."""
    monkeypatch.setattr(kernels, "is_kept", lambda *_: False)

    def call(seconds, start=10, trap=-1):
        monkeypatch.setattr(kernels, "PLAIN_SECONDS", seconds)
        game, out, stop = Countdown(start, trap), np.zeros(2), np.zeros(1, np.uint8)
        before = len(count_down.dispatcher.overloads)
        found = count_down(game, words(game.initial()), word((1 << 64) - 1), stop, out)
        return found, out, len(count_down.dispatcher.overloads) > before

    return call


def test_a_trial_that_ends_in_time_gives_what_the_compiled_kernel_gives(run):
    plain, out, compiled = run(1000.0, start=11)
    assert not compiled
    assert plain == (11, (1 << 64) - 1) and [type(value) for value in plain] == [int, int]
    assert out[0] == 66 and np.signbit(out[1])
    count_down._ready.clear()
    found, compiled_out, compiled = run(0.0, start=11)
    assert compiled
    assert (found, compiled_out.tobytes()) == (plain, out.tobytes())


def test_a_trial_copies_the_arrays_of_a_named_tuple_too(monkeypatch):
    monkeypatch.setattr(kernels, "PLAIN_SECONDS", 1000.0)
    given = Sums(np.zeros(1), 3)
    made = kernels.Arguments(kernels.Deadline(1000.0), writes=True)
    copy = made.plain(given)
    assert type(copy) is Sums and copy.out is not given.out
    copy.out[0] = 5.0
    assert given.out[0] == 0.0
    made.publish()
    assert given.out[0] == 5.0
    assert (add_to_sums(given, 2), given.out[0]) == (3, 11.0)


def test_a_trial_that_takes_too_long_leaves_no_trace(run):
    lost = COMPILE_TIME.seconds
    found, out, compiled = run(1e-9, start=1000)  # ends at its first look at the clock
    assert compiled and found[0] == 1000 and out[0] == 500_500
    assert COMPILE_TIME.seconds > lost


def test_the_seconds_are_those_of_all_trials(run):
    known = set(count_down._trials)
    assert not run(1000.0, start=500)[2]
    (names,) = set(count_down._trials) - known
    spent = count_down._trials[names].spent
    assert spent > 0.0
    assert run(spent, start=500)[2], "nothing is left for a second one"


@pytest.mark.parametrize(
    "done, ends", [(0.01, "at the first look"), (0.3, "after twice the time"), (0.0, "at the first look")]
)
def test_a_trial_is_judged_by_the_share_of_its_work_that_is_done(monkeypatch, done, ends):
    """The first look comes after a fifth of a second; whoever has done 0.3 by then ends within a second."""
    now = [10.0]
    monkeypatch.setattr(kernels.time, "process_time", lambda: now[0])
    share = [0.5]
    deadline = kernels.Deadline(1.0)
    deadline.judge_by(lambda: share[0])
    deadline.check()
    now[0], share[0] = 10.21, 0.5 + 0.5 * done
    if ends == "at the first look":
        with pytest.raises(kernels.Enough):
            deadline.check()
        return
    for now[0] in (10.21, 11.99):
        deadline.check()
    now[0] = 12.01
    with pytest.raises(kernels.Enough):
        deadline.check()


@kernel(plain_first=True, share=lambda game, total, stop, out: out[0] / total)
def count_up(game, total, stop, out):
    """Count to a total."""
    s = game.initial()
    while out[0] < total and game.legal(s):
        out[0] += 1
    return out[0]


def test_work_that_would_take_too_long_is_compiled_at_once(monkeypatch):
    monkeypatch.setattr(kernels, "is_kept", lambda *_: False)
    monkeypatch.setattr(kernels, "PLAIN_SECONDS", 1.0)
    for total, compiled in ((100, 0), (50_000_000, 1)):
        out, began = np.zeros(1), time.process_time()
        assert count_up(Countdown(77), total, np.zeros(1, np.uint8), out) == total
        assert len(count_up.dispatcher.overloads) == compiled
        lost = count_up._trials[next(iter(count_up._trials))].spent
        assert lost < 0.5, time.process_time() - began


def test_a_rule_that_breaks_its_promise_in_a_trial_is_told_and_nothing_is_written(run, monkeypatch):
    monkeypatch.setattr(kernels, "PLAIN_SECONDS", 1000.0)
    game, out = Countdown(9, trap=4), np.zeros(2)
    with pytest.raises(GameError, match="does not fit the annotated int"):
        count_down(game, words(game.initial()), word(0), np.zeros(1, np.uint8), out)
    assert not out.any()


def test_a_trial_hears_of_a_stop(run, monkeypatch):
    monkeypatch.setattr(kernels, "PLAIN_SECONDS", 1000.0)
    game, out = Countdown(1 << 60), np.zeros(2)
    stop = np.zeros(1, np.uint8)
    threading.Timer(0.05, stop.fill, [1]).start()
    assert count_down(game, words(game.initial()), word(0), stop, out)[0] > 0
    assert out[0] > 0


def test_of_a_large_table_a_trial_copies_what_it_touches():
    entry = np.dtype((np.record, [("key", np.int64), ("best", np.float64), ("depth", np.int16)]))
    table = np.zeros(1 << 18, entry)
    made = kernels.Arguments(kernels.Deadline(1000.0), writes=True)
    copy = made.plain(table)
    assert made.plain(table) is copy and len(copy) == len(table)
    copy[5].best = -0.0
    copy[7].key += 3
    assert copy[7].key == 3 and not table["key"].any()
    assert copy[9].key == 0
    table[9].key = 4  # by another thread: what was only read is not written back
    made.publish()
    assert (table[7].key, table[9].key) == (3, 4) and np.signbit(table[5].best)
    with pytest.raises(kernels.Enough):
        copy[3:5]


class Told(NamedTuple):
    """When to stop, beside an array of one's own."""

    stop: Any
    seen: Any


def test_a_stop_within_a_named_tuple_is_shared_as_it_is():
    told = Told(np.zeros(1, np.uint8), np.zeros(1))
    copy = kernels.Arguments(kernels.Deadline(1000.0), writes=True).plain(told)
    told.stop[0] = told.seen[0] = 1
    assert (copy.stop[0], copy.seen[0]) == (1, 0)
    assert kernels._arrays((told,), ("told",)) == [told.seen]


@kernel(plain_first=True)
def fill_own(game, first, stop, out):
    """Write the entries first, first + 2, ... again and again, so that two threads overlap."""
    s = game.initial()
    while game.legal(s):
        for i in range(first, len(out), 2):
            out[i] = first + 1
        s = game.step(s, 0)
    return stop[0]


def test_threads_that_share_an_array_keep_what_the_others_wrote(monkeypatch):
    monkeypatch.setattr(kernels, "PLAIN_SECONDS", 1000.0)
    monkeypatch.setattr(kernels, "is_kept", lambda *_: False)
    game, out, stop = Countdown(2000), np.zeros(20), np.zeros(1, np.uint8)
    workers = [threading.Thread(target=fill_own, args=(game, first, stop, out)) for first in (0, 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert out.tolist() == [1.0, 2.0] * 10


def test_arrays_that_overlap_are_left_to_the_compiler(monkeypatch):
    monkeypatch.setattr(kernels, "PLAIN_SECONDS", 1000.0)
    table = np.zeros((4, 2))
    assert not kernels._can_be_copied([table, table[1:]], 1 << 20)
    assert kernels._can_be_copied([table[:2], table[2:]], 1 << 20)
    assert not kernels._can_be_copied([np.zeros(100)], 799)


def test_what_is_compiled_is_not_in_the_time_of_the_work(run):
    clock = Stopwatch()
    run(0.0, start=13)
    assert clock.seconds < COMPILE_TIME.seconds


# ---------------------------------------------------------------- the verbs
ANSWERS = """
import sys
from mdplay import make, match, mcts, perft, playouts, solve
from mdplay.game import num_players
from mdplay.searching.depth_limited import depth_limited
game = make(sys.argv[1])
first = game.initial()
while game.outcomes(first):
    first = game.outcome(first, (game.outcomes(first) & -game.outcomes(first)).bit_length() - 1)
solution = solve(game)
print({**solution.document(first), "seconds": 0, "compiling_seconds": 0})
for found in (mcts(game, first, simulations=60), mcts(game, first, simulations=60, seed=5, threads=2)):
    print(found.action, found.value, found.moves, found.line, found.nodes, found.proven)
some = playouts(game, games=300, threads=2)
print(some.mean, some.standard_error, some.wins, some.draws, some.moves, some.longest)
if num_players(game) == 2:
    played = match(game, "mcts:simulations=20", "random", games=4, seed=3)
    print([(record.events, record.result) for record in played.records])
print([(ply.paths, ply.positions, ply.ended) for ply in perft(game, depth=3)])
if game.has_heuristic or game.has_reward:
    deep = depth_limited(game, first, depth=3)
    print(deep.value, deep.line, deep.nodes)
print("numba" in sys.modules)
"""


@pytest.mark.parametrize("name", ["tic-tac-toe", "dots-and-boxes:rows=1,cols=2", "2048:rows=2,cols=2"])
def test_the_answers_are_the_same_to_the_last_bit(name, tmp_path):
    compiled = python("-c", ANSWERS, name, MDPLAY_PLAIN_SECONDS="0").splitlines()
    plain = python("-c", ANSWERS, name, MDPLAY_PLAIN_SECONDS="1000", cache=tmp_path / "empty").splitlines()
    assert compiled[:-1] == plain[:-1]
    assert (compiled[-1], plain[-1]) == ("True", "False"), "plain answers need no compiler"


AGAIN = """
import sys
from mdplay import make, solve
from mdplay.solving.hashed_kernel import search_states
print(solve(make(sys.argv[1])).value(), sum(search_states.dispatcher.stats.cache_hits.values()))
"""


def test_the_kernel_of_a_table_is_found_by_the_next_process(tmp_path):
    """Its hash once counted what the package remembered of annotations: never the same twice."""
    write(tmp_path, "nim.py", NIM)
    runs = [python("-c", AGAIN, "nim.py:Nim", cache=tmp_path / "cache", cwd=tmp_path).split() for _ in range(2)]
    assert runs[0][1] == "0" and int(runs[1][1]) > 0
    assert runs[0][0] == runs[1][0]
