from mdplay.distributed.executor import SerialActors
from tests.distributed import tasks


def test_objects_are_made_by_their_numbers(tmp_path):
    actors = SerialActors(tasks.Counter, 3, (tmp_path,))
    held, counts = actors.exchange("add", None)
    assert counts == [(1, None)] * 3
    assert [part.tolist() for part in actors.fetch(held)] == [[number] * 3 for number in range(3)]
    actors.close()
    assert actors.call("add", None) == []


def test_each_actor_gets_the_parts_that_are_addressed_to_it(tmp_path):
    actors = SerialActors(tasks.Counter, 2, (tmp_path,))
    addressed, told = actors.scatter("deal", None)
    assert told == [None, None]
    _, told = actors.scatter("deal", addressed)
    assert told == [[0, 10], [1, 11]]
    actors.close()
