"""Workers in a process of their own, and the pool of requests that they have.

Here are tested besides: ``mdplay.web.work.backends``, ``mdplay.web.work.worker`` and ``mdplay.web.safety``.
"""

import asyncio
import os
import signal
import sys
import threading
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mdplay.web.games.catalogue import Catalogue
from mdplay.web.safety import Refused
from mdplay.web.work import worker as working
from mdplay.web.work.backends import DIED, InProcess, InThreads, Pool
from mdplay.web.work.jobs import LAST, PART
from tests.helpers import NIM, ROOT, write
from tests.web.reading import events, moves, told

START = {"params": "", "start": "", "moves": "", "base": ""}
VALUES = {"position": {"game": "tic-tac-toe", **START}, "opponent": "perfect", "brief": False}
SEARCH = {"position": {"game": "tic-tac-toe", **START}, "seconds": 30.0, "simulations": 50_000_000}
WIDE = {**SEARCH, "position": {"game": "connect-four", **START}}


@pytest.fixture(autouse=True)
def _found(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))


@asynccontextmanager
async def pool(doer=InProcess, **options):
    """A pool of requests, and nothing left of it afterwards."""
    opened = Pool(lambda tell: doer(tell, **options))
    try:
        yield opened
    finally:
        opened.close()
        await opened.ended()


async def text_of(stream):
    parts = []
    while (part := await stream.next()) is not None:
        parts.append(part)
    return b"".join(parts).decode()


async def until(stream, word):
    """Read a stream until a word comes."""
    while word not in (part := await stream.next()):
        assert part is not None
    return part


def test_a_process_tells_what_threads_tell():
    async def found(doer, **options):
        async with pool(doer, **options) as opened:
            text = await text_of(await opened.begin("values", VALUES))
            assert opened.busy == 0
            return moves(text), told(text, "verdict")[-1], events(text)[-1]

    apart = asyncio.run(found(InProcess))
    assert apart == asyncio.run(found(InThreads, catalogue=Catalogue()))
    assert apart[2] == ("end", {})


def test_a_request_that_is_not_in_order_is_refused_and_takes_no_place():
    async def run():
        async with pool(InThreads, catalogue=Catalogue()) as opened:
            nowhere = {**VALUES, "position": {**VALUES["position"], "moves": "4,4"}}
            with pytest.raises(Refused) as refused:
                await opened.begin("values", nowhere)
            assert refused.value.code == 422
            assert opened.busy == 0
            with pytest.raises(Refused):
                await opened.ask("methods", {"game": "tic-tac-toe", "params": "rows=99"})

    asyncio.run(run())


def test_a_fault_of_the_worker_says_nothing_of_what_is_inside(monkeypatch):
    monkeypatch.setitem(working.KINDS, "values", "tests.web.work.test_doers:faulty")

    async def run():
        async with pool(InThreads, catalogue=Catalogue()) as opened:
            with pytest.raises(Refused) as refused:
                await opened.begin("values", VALUES)
            assert (refused.value.code, refused.value.words) == (500, "the server met a fault")

    asyncio.run(run())


def faulty(worker, **_):
    raise RuntimeError("/secret/path")


FREE = threading.Event()


def waiting(worker, **_):
    return lambda job: FREE.wait()


def test_no_more_jobs_than_places(monkeypatch):
    monkeypatch.setitem(working.KINDS, "values", "tests.web.work.test_doers:waiting")
    FREE.clear()

    async def run():
        async with pool(InThreads, catalogue=Catalogue()) as opened:
            opened.size = 2
            first = [await opened.begin("values", VALUES) for _ in range(2)]
            with pytest.raises(Refused) as refused:
                await opened.begin("values", VALUES)
            assert refused.value.code == 503
            FREE.set()
            for stream in first:
                await text_of(stream)
            assert opened.busy == 0
            await text_of(await opened.begin("values", VALUES))
            opened.close()
            with pytest.raises(Refused):
                await opened.begin("values", VALUES)

    asyncio.run(run())


def while_nobody_is_free(run):
    """Run something with a pool of threads whose work waits until it is over."""
    FREE.clear()

    async def held():
        async with pool(InThreads, catalogue=Catalogue()) as opened:
            await run(opened)
        FREE.set()

    asyncio.run(held())


def test_a_closing_pool_ends_streams_whatever_their_work_is_at(monkeypatch):
    async def run(opened):
        stream = await opened.begin("values", VALUES)
        assert await stream.next() == b": begin\n\n"
        opened.close()
        assert await asyncio.wait_for(text_of(stream), 10) == ""

    monkeypatch.setitem(working.KINDS, "values", "tests.web.work.test_doers:waiting")
    while_nobody_is_free(run)


def test_a_question_that_nobody_can_answer_any_more_is_refused(monkeypatch):
    async def run(opened):
        asked = asyncio.ensure_future(opened.ask("methods", {}))
        await asyncio.sleep(0.05)
        opened.close()
        with pytest.raises(Refused) as refused:
            await asked
        assert refused.value.code == 503

    monkeypatch.setitem(working.KINDS, "methods", "tests.web.work.test_doers:hesitating")
    while_nobody_is_free(run)


def hesitating(worker):
    FREE.wait()
    return []


# ---------------------------------------------------------------- the process
def test_a_process_that_is_killed_is_told_of_and_replaced():
    async def run():
        async with pool() as opened:
            stream = await opened.begin("search", WIDE)
            await until(stream, b"stats")
            first = opened._doer._child.pid
            os.kill(first, signal.SIGKILL)
            assert events(await text_of(stream))[-1] == ("failed", {"message": DIED, "code": 503})
            assert opened.busy == 0
            text = await text_of(await opened.begin("values", VALUES))
            assert events(text)[-1] == ("end", {})
            assert opened._doer._child.pid != first

    asyncio.run(run())


def test_the_process_gives_way_to_the_server():
    """It is nice, which Linux weighs within a session only; and Ctrl-C of the terminal does not reach it."""

    async def run():
        async with pool() as opened:
            await opened.ask("methods", {"game": "tic-tac-toe", "params": ""})
            child = opened._doer._child.pid
            assert os.getpriority(os.PRIO_PROCESS, child) == min(19, os.nice(0) + working.NICE)
            assert os.getsid(child) == os.getsid(0)
            assert os.getpgid(child) == child

    asyncio.run(run())


def test_a_stream_that_is_left_ends_its_work_in_the_process():
    async def run():
        async with pool() as opened:
            stream = await opened.begin("search", WIDE)
            await until(stream, b"stats")
            assert opened.busy == 1
            stream.stop()
            async with asyncio.timeout(30):
                while opened.busy:
                    await asyncio.sleep(0.01)

    asyncio.run(run())


def test_the_process_ends_with_the_pool_even_while_it_starts_or_searches():
    async def run(searches):
        async with pool() as opened:
            if searches:
                await until(await opened.begin("search", WIDE), b"stats")
            else:
                opened._doer.start()
                await asyncio.sleep(0)
            (running,) = opened._doer._runs
        assert running.done()

    for searches in (False, True):
        asyncio.run(run(searches))


def test_what_a_users_game_prints_is_no_part_of_what_is_told(tmp_path):
    path = write(tmp_path, "noisy.py", "print('1 + 9999')\n" + NIM)

    async def run():
        async with pool(games=[f"{path}:Nim"]) as opened:
            position = {"game": "own-nim", **START}
            text = await text_of(await opened.begin("values", {**VALUES, "position": position}))
            assert events(text)[-1] == ("end", {})

    asyncio.run(run())


def test_a_worker_leaves_when_its_server_is_gone():
    """The server is a program that is killed; what it started must not go on."""
    program = (
        "import asyncio; from mdplay.web.work.backends import InProcess, Pool\n"
        "async def run():\n"
        "    pool = Pool(InProcess)\n"
        f"    stream = await pool.begin('search', {WIDE!r})\n"
        "    while b'stats' not in await stream.next(): pass\n"
        "    print(pool._doer._child.pid, flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(run())\n"
    )

    async def run():
        server = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
        )
        pid = int(await server.stdout.readline())
        server.kill()
        await server.wait()
        async with asyncio.timeout(30):
            while is_alive(pid):
                await asyncio.sleep(0.02)

    asyncio.run(run())


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat").read_text()  # who was adopted by a parent that does not ask stays a zombie
    return stat.rsplit(")", 1)[1].split()[0] != "Z"


# ---------------------------------------------------------------- places
class Patient:
    """Works for ever, and ends a while after it is told to."""

    def __init__(self, tell):
        self.tell = tell

    def begin(self, number, kind, given):
        self.tell(number, PART, b"begun")

    def more(self, number):
        pass

    def stop(self, number):
        asyncio.get_running_loop().call_later(0.05, self.tell, number, LAST, b"")

    def close(self):
        pass


def test_a_place_whose_client_has_left_is_waited_for_and_others_are_not():
    async def asked():
        pool = Pool(Patient, size=2)
        first, second = [await pool.begin("values", {}) for _ in range(2)]
        with pytest.raises(Refused) as refused:
            await pool.begin("values", {})
        assert refused.value.code == 503
        first.stop()
        third = await pool.begin("values", {})
        assert pool.busy == 2
        for stream in (second, third):
            stream.stop()
        await asyncio.sleep(0.2)
        assert pool.busy == 0

    asyncio.run(asked())
