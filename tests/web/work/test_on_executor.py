"""Tree searches by the workers of an executor, on real ones."""

import asyncio
import os
import signal
from contextlib import asynccontextmanager

import pytest

from mdplay.distributed import open_executor
from mdplay.web.games.catalogue import Catalogue
from mdplay.web.work.backends import DIED, InThreads, Pool
from mdplay.web.work.on_executor import OnExecutor, Visited, is_search
from tests.helpers import ROOT
from tests.web.reading import events, told
from tests.web.work.test_doers import SEARCH, VALUES, WIDE, text_of, until

FEW = {**SEARCH, "simulations": 300}
AGENT = {"position": SEARCH["position"], "agent": "mcts", "setting": 200, "seed": 3}


@pytest.fixture(scope="module", params=["processes", "ray"])
def executor(request):
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(ROOT / "src")
    with open_executor(request.param, 2) as opened:
        yield opened
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@asynccontextmanager
async def pool(executor=None):
    """A pool whose searches an executor does, and what has begun in this process instead."""
    here = []

    class Here(InThreads):
        def begin(self, number, kind, given):
            here.append(kind)
            super().begin(number, kind, given)

    def doer(tell):
        beside = Here(tell, Catalogue())
        return beside if executor is None else OnExecutor(tell, beside, executor)

    opened = Pool(doer)
    try:
        yield opened, here
    finally:
        opened.close()
        await opened.ended()


def test_only_tree_searches_go_elsewhere():
    assert is_search("search", FEW)
    assert is_search("agent", AGENT)
    assert not is_search("agent", {**AGENT, "agent": "perfect"})
    assert not is_search("values", VALUES)


def test_an_engine_searches_as_this_process_does(executor):
    async def found(executor):
        async with pool(executor) as (opened, here):
            texts = [
                await text_of(await opened.begin(kind, given))
                for kind, given in (("search", FEW), ("agent", AGENT), ("values", VALUES))
            ]
            assert opened.busy == 0
            return here, told(texts[0], "done"), told(texts[1], "move"), told(texts[2], "verdict")[-1]

    elsewhere, *answers = asyncio.run(found(executor))
    assert elsewhere == ["values"]
    assert answers == list(asyncio.run(found(None))[1:])


def test_a_search_too_many_is_done_here_and_one_that_is_left_makes_room(executor):
    async def run():
        async with pool(executor) as (opened, here):
            searches = [await opened.begin("search", WIDE) for _ in range(3)]
            for one in searches:
                await until(one, b"stats")
            assert here == ["search"]
            for one in searches:
                one.stop()
            async with asyncio.timeout(60):
                while opened.busy:
                    await asyncio.sleep(0.01)
            await text_of(await opened.begin("search", FEW))
            assert here == ["search"]

    asyncio.run(run())


class Mortal(Visited):
    """Tells its process, so that it can be killed."""

    def pid(self):
        return os.getpid()


def test_a_worker_that_dies_is_told_of_and_replaced(executor, monkeypatch):
    monkeypatch.setattr("mdplay.web.work.on_executor.Visited", Mortal)

    async def run():
        async with pool(executor) as (opened, here):
            pids = [actor.call("pid")[0] for actor in opened._doer._free]
            search = await opened.begin("search", WIDE)
            await until(search, b"stats")
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            async with asyncio.timeout(120):
                assert events(await text_of(search))[-1] == ("failed", {"message": DIED, "code": 503})
                text = await text_of(await opened.begin("search", FEW))
            assert events(text)[-1] == ("end", {})
            assert here == []

    asyncio.run(run())
