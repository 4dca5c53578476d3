"""Tests of ``mdplay.web.work.jobs``.

Here are tested besides: ``mdplay.web.work.child``.
"""

import asyncio
import threading
import time

import pytest

from mdplay.errors import MdplayError
from mdplay.web.work import jobs
from mdplay.web.work.jobs import Busy, Cancelled, EventStream, Job, Pool
from tests.web.reading import events


def streamed(work, *, pool=None, until=None):
    """Run a job through its stream and return what a client gets; ``until(sent)`` true: the client leaves."""

    async def run():
        sent, gone = [], asyncio.Event()

        async def send(message):
            sent.append(message.get("body", b"").decode())
            if until is not None and until("".join(sent)):
                gone.set()

        async def receive():
            await gone.wait()
            return {"type": "http.disconnect"}

        own = pool or Pool(2)
        job = own.start(work)
        await EventStream(job)({"type": "http"}, receive, send)
        return "".join(sent), job

    return asyncio.run(run())


def test_events_come_in_order_and_the_end_is_told():
    text, _ = streamed(lambda job: [job.emit("move", {"action": i}) for i in range(5)])
    assert events(text) == [*(("move", {"action": i}) for i in range(5)), ("end", {})]


def test_of_statistics_only_the_newest_waits():
    async def run():
        job = Job(asyncio.get_running_loop())
        for i in range(10_000):
            job.emit("stats", {"i": i})
        job.emit("move", {"action": 1})
        job.emit("stats", {"i": 0})
        return await job.next()

    assert [data for _, data in events(asyncio.run(run()))] == [{"i": 9999}, {"action": 1}, {"i": 0}]


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


def test_work_waits_for_a_client_that_reads_slowly(monkeypatch):
    monkeypatch.setattr(jobs, "WAITING", 4)

    async def run():
        job = Job(asyncio.get_running_loop())
        worker = threading.Thread(
            target=lambda: job.run(lambda job: [job.emit("move", {"i": i}) for i in range(50)])
        )
        worker.start()
        texts = []
        while (text := await job.next()) is not None:
            assert len(events(text)) <= 5
            texts.append(text)
            await asyncio.sleep(0.001)
        worker.join()
        return "".join(texts)

    assert [data["i"] for name, data in events(asyncio.run(run())) if name == "move"] == list(range(50))


def test_a_client_that_does_not_read_at_all_is_left(monkeypatch):
    monkeypatch.setattr(jobs, "SEND_SECONDS", 0.05)

    async def run():
        async def send(message):
            if b"move" in message.get("body", b""):
                await asyncio.sleep(60)

        async def receive():
            await asyncio.sleep(60)

        job = Pool(1).start(lambda job: [job.emit("move", {"i": i}) for i in range(3)])
        await asyncio.wait_for(EventStream(job)({"type": "http"}, receive, send), 30)
        return job

    assert asyncio.run(run()).stopped.is_set()


def test_no_more_jobs_than_places():
    async def run():
        pool, free = Pool(2), threading.Event()
        for _ in range(2):
            pool.start(lambda job: free.wait())
        with pytest.raises(Busy):
            pool.start(lambda job: None)
        free.set()
        while pool.busy:
            await asyncio.sleep(0.01)
        pool.start(lambda job: None)
        pool.close()
        with pytest.raises(Busy):
            pool.start(lambda job: None)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("error", "message"),
    [(MdplayError("this is wrong"), "this is wrong"), (KeyError("/secret/path"), "the server met a fault")],
)
def test_a_fault_is_told_in_a_sentence_and_what_is_inside_is_not(error, message):
    def work(job):
        raise error

    text, _ = streamed(work)
    assert events(text) == [("failed", {"message": message})]


def test_a_closing_pool_ends_streams_whatever_their_work_is_at():
    async def run():
        pool, free = Pool(1), threading.Event()
        job = pool.start(lambda job: free.wait())
        pool.close()
        assert await asyncio.wait_for(job.next(), 10) is None
        free.set()

    asyncio.run(run())
