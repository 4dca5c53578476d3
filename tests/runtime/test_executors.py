from mdplay.runtime.executors import WORDS, using
from tests.distributed import tasks


def test_a_text_names_an_engine_that_is_closed_at_the_end():
    assert WORDS == "serial, processes, ray or ray:ADDRESS"
    with using("processes", 1) as executor:
        assert executor.workers == 1
        assert executor.map(tasks.draw, range(3)) == list(map(tasks.draw, range(3)))
