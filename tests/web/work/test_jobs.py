"""Work told as a stream, and the streams on the server's side.

Here are tested besides: ``mdplay.web.work.backends`` and ``mdplay.web.work.child``.
"""

import asyncio
import json
import threading
import time

import pytest

from mdplay.errors import MdplayError
from mdplay.web.safety import Refused
from mdplay.web.work import backends as streams
from mdplay.web.work import jobs
from mdplay.web.work.backends import EventStream, Stream
from mdplay.web.work.jobs import LAST, PART, REFUSED, Cancelled, Job
from tests.web.reading import events


class Taken(list):
    """The parts that a job has sent, for a client that takes each at once."""

    def __init__(self):
        self.ended = threading.Event()

    def send(self, sign, body):
        self.append((sign, body))
        if sign == LAST:
            self.ended.set()

    @property
    def text(self):
        return b"".join(body for _, body in self).decode()


def run(work):
    """Run a job to its end and return all that it told."""
    taken = Taken()
    job = Job(taken.send)
    job.run(work)
    while not taken.ended.is_set():
        job.more()
    return taken


def streamed(work, *, until=None):
    """Run a job through its stream and return what a client gets; ``until(sent)`` true: the client leaves."""

    async def served():
        sent, gone, loop = [], asyncio.Event(), asyncio.get_running_loop()

        async def send(message):
            sent.append(message.get("body", b"").decode())
            if until is not None and until("".join(sent)):
                gone.set()

        async def receive():
            await gone.wait()
            return {"type": "http.disconnect"}

        job = Job(lambda sign, body: loop.call_soon_threadsafe(stream.put, sign, body))
        stream = Stream(job.more, job.stop)
        worker = threading.Thread(target=job.run, args=(work,))
        worker.start()
        await EventStream(stream)({"type": "http"}, receive, send)
        await asyncio.to_thread(worker.join)
        return "".join(sent), job

    return asyncio.run(served())


# ---------------------------------------------------------------- jobs
def test_events_come_in_order_and_the_end_is_told():
    text, _ = streamed(lambda job: [job.emit("move", {"action": i}) for i in range(5)])
    assert events(text) == [*(("move", {"action": i}) for i in range(5)), ("end", {})]


def test_of_statistics_only_the_newest_waits():
    def work(job):
        for i in range(10_000):
            job.emit("stats", {"i": i})
        job.emit("move", {"action": 1})
        job.emit("stats", {"i": 0})

    found = [data for _, data in events(run(work).text)]
    assert found == [{"i": 9999}, {"action": 1}, {"i": 0}, {}]


def test_a_part_is_sent_only_when_the_last_one_was_taken():
    taken = Taken()
    job = Job(taken.send)
    job.run(lambda job: [job.emit("move", {"i": i}) for i in range(5)])
    assert taken == [(PART, b": begin\n\n")]
    job.more()
    assert [sign for sign, _ in taken] == [PART, LAST]
    job.more()
    job.stop()
    assert len(taken) == 2, "after the end nothing more is told"


def test_a_long_event_goes_in_parts(monkeypatch):
    monkeypatch.setattr(jobs, "PART_BYTES", 100)
    taken = run(lambda job: job.emit("plan", {"value": "x" * 1000}))
    assert len(taken) > 10 and max(len(body) for _, body in taken) == 100
    assert events(taken.text) == [("plan", {"value": "x" * 1000}), ("end", {})]


def test_of_work_that_was_stopped_only_the_end_is_told():
    taken = Taken()
    job = Job(taken.send)

    def work(job):
        job.emit("move", {"i": 0})
        job.stop()
        job.emit("move", {"i": 1})

    job.run(work)
    assert taken == [(PART, b": begin\n\n"), (LAST, b"")]


def test_work_waits_for_a_client_that_reads_slowly(monkeypatch):
    monkeypatch.setattr(jobs, "WAITING", 4)
    taken = Taken()
    job = Job(taken.send)
    worker = threading.Thread(target=job.run, args=(lambda job: [job.emit("move", {"i": i}) for i in range(50)],))
    worker.start()
    while not taken.ended.wait(0.001):
        job.more()
    worker.join()
    assert max(len(events(body.decode())) for _, body in taken) <= 5
    assert [data["i"] for name, data in events(taken.text) if name == "move"] == list(range(50))


@pytest.mark.parametrize(
    ("error", "message"),
    [(MdplayError("this is wrong"), "this is wrong"), (KeyError("/secret/path"), "the server met a fault")],
)
def test_a_fault_is_told_in_a_sentence_and_what_is_inside_is_not(error, message):
    def work(job):
        raise error

    assert events(run(work).text) == [("failed", {"message": message})]


# ---------------------------------------------------------------- streams
def test_a_client_that_leaves_ends_the_work():
    ended = threading.Event()

    def work(job):
        try:
            while True:
                job.emit("stats", {"n": 1})
                time.sleep(0.005)
        except Cancelled:
            ended.set()
            raise

    streamed(work, until=lambda text: "stats" in text)
    assert ended.wait(10)


def test_a_client_that_does_not_read_at_all_is_left(monkeypatch):
    monkeypatch.setattr(streams, "SEND_SECONDS", 0.05)
    stopped = []

    async def served():
        async def send(message):
            if b"move" in message.get("body", b""):
                await asyncio.sleep(60)

        async def receive():
            await asyncio.sleep(60)

        stream = Stream(lambda: None, lambda: stopped.append(True))
        stream.put(PART, b"event: move\n")
        await asyncio.wait_for(EventStream(stream)({"type": "http"}, receive, send), 30)

    asyncio.run(served())
    assert stopped == [True]


def test_a_long_silence_is_a_comment_and_asks_for_nothing_more(monkeypatch):
    monkeypatch.setattr(streams, "PULSE_SECONDS", 0.01)

    async def served():
        asked = []
        stream = Stream(lambda: asked.append(True), lambda: None)
        stream.put(PART, b"one")
        assert await stream.next() == b"one"
        assert [await stream.next(), await stream.next()] == [b": waiting\n\n"] * 2
        assert asked == [True]
        stream.put(LAST, b"two")
        assert [await stream.next(), await stream.next()] == [b"two", None]

    asyncio.run(served())


def test_a_request_that_is_not_in_order_is_refused():
    async def served():
        stream = Stream(lambda: None, lambda: None)
        stream.put(REFUSED, json.dumps([422, "no"]).encode())
        with pytest.raises(Refused, match="no") as told:
            await stream.first()
        assert told.value.code == 422

    asyncio.run(served())
