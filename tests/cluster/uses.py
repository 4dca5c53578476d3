"""Every use of an engine, each as bytes that must be the same whatever the engine."""

from mdplay import evaluate, make, match, tournament
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


USES = [of_match, of_tournament, of_evaluate]
