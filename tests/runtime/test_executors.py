from mdplay.runtime.executors import WORDS, using
from tests.distributed import tasks


def test_a_text_names_an_engine_that_is_closed_at_the_end():
    assert WORDS == "serial, processes, ray or ray:ADDRESS"
    with using("processes", 1) as engine:
        assert engine.workers == 1
        assert engine.map(tasks.draw, range(3)) == list(map(tasks.draw, range(3)))
