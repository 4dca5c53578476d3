from itertools import islice

from mdplay.distributed.executor import LONG_SECONDS, MOST, Feed, Job, Outcome, do_chunk, sendable
from tests.distributed import tasks


def test_quick_tasks_travel_together_and_long_ones_alone():
    feed, sizes = Feed(range(100_000)), []
    for chunk in islice(feed, 14):
        sizes.append(len(chunk))
        feed.note(len(chunk), 0.001)
    assert sizes == [min(MOST, 2**k) for k in range(14)]
    feed.note(MOST, 2 * LONG_SECONDS)
    assert len(next(feed)) == MOST // 2


def test_every_number_is_handed_out_once_until_it_is_closed():
    feed, numbers = Feed(range(50)), []
    for chunk in feed:
        numbers += chunk
        feed.note(len(chunk), 0.0)
    assert numbers == list(range(50))
    feed = Feed(range(50))
    next(feed)
    feed.close()
    assert list(feed) == []


def test_a_chunk_ends_at_the_first_error():
    outcome = do_chunk(Job(tasks.fail, ()), [1, 2, 3, 4])
    assert (outcome.answers, str(outcome.error)) == ([1, 2], "number 3")
    assert sendable(outcome) is outcome


def test_an_error_that_cannot_be_sent_is_told_in_words():
    class Local(Exception):
        pass

    told = sendable(Outcome([], Local("why"), 0.0))
    assert str(told.error) == "a task raised Local: why"
