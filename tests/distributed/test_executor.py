import pytest

from mdplay import AgentError, LimitError, UnknownName
from mdplay.distributed import open_executor
from mdplay.runtime.executors import using
from tests.distributed import tasks


def test_serial_does_all_in_order():
    shown = []
    with using("serial") as executor:
        assert executor.map(tasks.draw, range(20), show=shown.append) == list(map(tasks.draw, range(20)))
        assert executor.share("value") == "value"
        with pytest.raises(AgentError, match="number 3"):
            executor.map(tasks.fail, range(20))
    assert shown == list(range(1, 21))


@pytest.mark.parametrize("text", ["threads", "ray:", "serial:2", "processes:", ""])
def test_an_unknown_engine_is_refused(text):
    with pytest.raises(
        UnknownName, match="choose serial, processes, ray or ray:ADDRESS; .* the agent engine:COMMAND"
    ):
        open_executor(text)


def test_workers_are_a_whole_number():
    with pytest.raises(LimitError, match="workers=0"):
        open_executor("processes", 0)


def test_an_engine_that_is_given_stays_open():
    with open_executor("serial") as executor, using(executor) as same:
        assert same is executor
