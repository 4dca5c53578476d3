"""Every use of an engine, each as bytes that must be the same whatever the engine."""

from pathlib import Path
from tempfile import TemporaryDirectory

from mdplay import evaluate, make, match, plan, tournament
from mdplay.bandits.laboratory import compare, parse_bandit
from mdplay.games.qubic.replies import prove_replies
from mdplay.solving.proof.book import make_book
from mdplay.states.sharding.driver import count_states
from tests.games.qubic.test_proof import SMALL, WIDE
from tests.mdp.sharding.test_driver import garnet
from tests.playing.players import named


def _lines(records):
    return "\n".join(record.to_json() for record in records).encode()


def of_match(engine):
    return _lines(match(make("tic-tac-toe"), named("Leftmost"), "random", games=9, seed=3, engine=engine).records)


def of_tournament(engine):
    agents = ["random", named("Leftmost"), named("Leftmost:skip=1")]
    return _lines(tournament(make("tic-tac-toe"), agents, games=4, seed=3, engine=engine).records)


def of_evaluate(engine):
    return _lines(evaluate(make("2048:rows=2,cols=2"), "random", games=6, seed=3, engine=engine).records)


def of_bandits(engine):
    curves = compare(parse_bandit("0.9,0.8"), ["ucb1"], steps=30, runs=20, seed=3, engine=engine)
    return b"".join(curve.regret.tobytes() + curve.reward_error.tobytes() for curve in curves)


def of_book(engine):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "small.book"
        make_book(make("connect-four:rows=4,cols=4"), 2, path, memory=1 << 20, threads=1, engine=engine)
        return path.read_bytes()


def of_plan(engine):
    found = plan(garnet(500, 4, 5, 0.9, seed=1), threads=2, engine=engine or "serial")
    return b"".join(array.tobytes() for array in (found.value, found.lower, found.upper, found.action))


def of_states(engine):
    return repr(count_states(make("tic-tac-toe"), engine or "serial", shards=2)).encode()


def of_proof(engine):
    return prove_replies(engine or "serial", settings=SMALL, start=WIDE).book.text().encode()


USES = [of_match, of_tournament, of_evaluate, of_bandits, of_book, of_plan, of_states, of_proof]
