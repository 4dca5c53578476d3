"""Every use of an executor, each as bytes that must be the same whatever the executor; and what actors must do."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from mdplay import AgentError, evaluate, make, match, plan, solve, tournament
from mdplay.bandits.laboratory import compare, parse_bandit
from mdplay.distributed.planning import plan_sharded
from mdplay.distributed.states import count_states
from mdplay.games.qubic.proof import prove_replies
from mdplay.games.qubic.verify import verify
from mdplay.solving.proof.book import make_book
from tests.distributed import tasks
from tests.distributed.test_planning import garnet, grid, in_bytes
from tests.games.qubic.test_proof import SMALL, WIDE
from tests.playing.players import named


def _lines(records):
    return "\n".join(record.to_json() for record in records).encode()


def of_match(executor):
    return _lines(
        match(make("tic-tac-toe"), named("Leftmost"), "random", games=9, seed=3, executor=executor).records
    )


def of_tournament(executor):
    agents = ["random", named("Leftmost"), named("Leftmost:skip=1")]
    return _lines(tournament(make("tic-tac-toe"), agents, games=4, seed=3, executor=executor).records)


def of_evaluate(executor):
    return _lines(evaluate(make("2048:rows=2,cols=2"), "random", games=6, seed=3, executor=executor).records)


def of_bandits(executor):
    curves = compare(parse_bandit("0.9,0.8"), ["ucb1"], steps=30, runs=20, seed=3, executor=executor)
    return b"".join(curve.regret.tobytes() + curve.reward_error.tobytes() for curve in curves)


def of_book(executor):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "small.book"
        make_book(make("connect-four:rows=4,cols=4"), 2, path, memory=1 << 20, threads=1, executor=executor)
        return path.read_bytes()


def of_plan(executor):
    return in_bytes(plan(garnet(500, 4, 5, 0.9, seed=1), threads=2, executor=executor or "serial"))


def of_slow_plan(executor):
    return in_bytes(plan_sharded(grid(20, 0.999), executor or "serial", shards=3))


def of_states(executor):
    return repr(count_states(make("tic-tac-toe"), executor=executor or "serial", threads=2)).encode()


def of_layers(executor):
    found = solve(make("tic-tac-toe"), threads=3, executor=executor or "serial")
    return f"{found.states} {found.value()} {found.table.digest}".encode()


@cache
def _rows():
    book = prove_replies("serial", settings=SMALL, start=WIDE).book
    return np.stack([book.attackers, book.defenders, book.cells.astype(np.uint64)], axis=1)


def of_verdict(executor):
    rows = _rows()
    return b"\n".join(repr(verify(part, WIDE, executor=executor)).encode() for part in (rows, rows[:-1]))


def of_proof(executor):
    return prove_replies(executor or "serial", settings=SMALL, start=WIDE).book.text().encode()


USES = [
    of_match,
    of_tournament,
    of_evaluate,
    of_bandits,
    of_book,
    of_plan,
    of_slow_plan,
    of_states,
    of_layers,
    of_proof,
    of_verdict,
]


def map_in_order(executor, count):
    """Answers come in the order of the numbers; a large value is shared and cannot be written."""
    assert executor.map(tasks.draw, range(count)) == list(map(tasks.draw, range(count)))
    table = executor.share({"weights": np.arange(float(count)), "name": "weights"})
    assert executor.map(tasks.weigh, range(count), table, 2.0) == [2.0 * number for number in range(count)]


def replace_the_dead(executor, folder, count, deaths):
    """Workers that die are replaced, and nothing is lost."""
    assert executor.map(tasks.die_once, range(count), folder) == list(map(tasks.draw, range(count)))
    assert len(list(folder.iterdir())) == deaths


def exchange_by_actors(executor, folder):
    """Actors exchange large answers, and are made again when they die."""
    actors = executor.actors(tasks.Counter, 2, folder)
    held, counts = actors.exchange("add", None)
    assert counts == [(1, None), (1, None)]
    _, counts = actors.exchange("add", held)
    assert counts == [(2, [0, 3]), (1, [0, 3])]  # the second one died and has forgotten what it was told
    assert [part.tolist() for part in actors.fetch(held)] == [[0, 0, 0], [1, 1, 1]]
    with pytest.raises(AgentError, match="actor 0"):
        actors.call("fail")
    actors.close()


def scatter_to_actors(executor, folder):
    """Each actor gets the parts that are addressed to it."""
    actors = executor.actors(tasks.Counter, 2, folder)
    addressed, told = actors.scatter("deal", None)
    assert told == [None, None]
    _, told = actors.scatter("deal", addressed)
    assert told == [[0, 10], [1, 11]]
    actors.close()
