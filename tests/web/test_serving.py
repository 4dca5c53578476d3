"""The server itself: a real one, on this machine."""

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from mdplay import MdplayError
from mdplay.web.app import _listen
from mdplay.web.work.backends import DIED
from tests.helpers import HUNG_SECONDS, NIM, ROOT, python, write
from tests.web.reading import moves, told
from tests.web.serving import read_all, server, wait_for

MAX_THREADS, MAX_PROCESSES, MAX_BYTES, MAX_DISK = (
    60,
    4,
    1 << 30,
    50 << 20,
)  # the server, its worker and two compilers
VALUES = "/api/v1/games/tic-tac-toe/values?moves=4"
SEARCH = "/api/v1/games/connect-four/search?seconds=30&simulations=50000000"


@pytest.fixture(scope="module")
def running():
    with server("tic-tac-toe") as found:
        assert found.ask(VALUES, timeout=280)[0] == 200
        yield found


def status(served):
    return json.loads(served.ask("/api/v1/status")[1].split(b"\r\n\r\n", 1)[1])


def text_of(answer):
    return answer[1].decode()


def test_it_serves_the_page_and_values(running):
    code, page = running.ask("/")
    assert code == 200
    assert b"<html" in page
    body = text_of(running.ask(VALUES)).split("\r\n\r\n", 1)[1]
    streamed = "".join(line + "\n" for line in body.replace("\r\n", "\n").split("\n") if not is_chunk_size(line))
    assert set(moves(streamed)) == {0, 1, 2, 3, 5, 6, 7, 8}
    assert told(streamed, "verdict")[-1]["headline"] == "A draw with best play"


def is_chunk_size(line):
    return 0 < len(line) < 6 and all(c in "0123456789abcdef" for c in line)


def test_a_large_body_is_refused_before_it_comes(running):
    with running.open("/api/v1/plan", method="POST", headers={"content-length": "60000000"}) as connection:
        assert read_all(connection)[0] == 413


def test_names_and_origins_of_others_are_refused(running):
    assert running.ask("/", headers={"host": "evil.example"})[0] == 421
    assert running.ask("/", headers={"origin": "http://evil.example"})[0] == 403


def test_many_searches_at_once_are_turned_away_and_the_server_still_answers(running):
    def one(_):
        with running.open(SEARCH) as connection:
            head = connection.recv(4096)
            return int(head.split(b" ", 2)[1]), b"retry-after: 1" in head.lower()

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(one, range(200)))
    codes = [code for code, _ in answers]
    assert set(codes) <= {200, 503}
    assert all(told_when for code, told_when in answers if code == 503)
    assert status(running)["max_own_lag_ms"] < 50, "the event loop computed for so long and answered nobody"
    wait_for(lambda: status(running)["jobs"] == 0)  # all clients have left: their work ends


@pytest.mark.slow
def test_memory_stays_flat_over_a_thousand_games(running):
    rng = random.Random(2)

    def play(games):
        for _ in range(games):
            cells = [str(cell) for cell in rng.sample(range(9), 5)]
            for k in range(5):
                asked = f"/api/v1/games/tic-tac-toe/{{}}?moves={','.join(cells[:k])}"
                assert running.ask(asked.format("position"))[0] == running.ask(asked.format("values"))[0] == 200
            agent = f"/api/v1/games/tic-tac-toe/agent?agent=mcts&setting=100&moves={','.join(cells[:4])}"
            assert running.ask(agent)[0] == 200
        return running.resident_bytes()

    early = play(100)
    assert play(900) < early + (8 << 20)


def test_a_closed_tab_stops_its_work(running):
    connection = running.open(SEARCH)
    wait_for(lambda: status(running)["jobs"] == 1)
    connection.close()
    wait_for(lambda: status(running)["jobs"] == 0)


def test_clients_that_do_not_read_hold_up_nobody(running):
    idle = [running.open(SEARCH) for _ in range(3)]
    try:
        assert running.ask(VALUES)[0] == 200
        assert running.ask("/api/v1/status")[0] == 200
    finally:
        for connection in idle:
            connection.close()
    wait_for(lambda: status(running)["jobs"] == 0)


@pytest.mark.parametrize(
    ("number", "options"),
    [(signal.SIGINT, ()), (signal.SIGTERM, ()), (signal.SIGINT, ("--executor", "processes"))],
)
def test_it_ends_at_once_and_cleanly_with_work_running(number, options):
    with server(*options) as found:
        searching = [found.open(SEARCH) for _ in range(2)]
        wait_for(lambda: status(found)["jobs"] == 2)
        code, words = found.stop(number)
        for connection in searching:
            connection.close()
    assert code == 0
    assert "Traceback" not in words


def test_a_killed_worker_is_replaced_and_who_waited_is_told(running):
    with running.open(SEARCH) as searching:
        while b"stats" not in searching.recv(65536):
            pass
        for child in running.children():
            os.kill(child, signal.SIGKILL)
        heard = b""
        while part := searching.recv(65536):
            heard += part
        assert DIED.encode() in heard
    assert b"event: end" in running.ask(VALUES, timeout=120)[1]


def test_no_part_of_an_answer_waits_for_an_acknowledgement():
    async def delay_of_an_accepted_connection():
        found = asyncio.get_running_loop().create_future()

        def accepted(_, writer):
            taken = writer.get_extra_info("socket")
            found.set_result(taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listening = await asyncio.start_server(accepted, sock=_listen("127.0.0.1", 0))
        async with listening:
            with socket.create_connection(listening.sockets[0].getsockname()):
                return await found

    assert asyncio.run(delay_of_an_accepted_connection()), "Nagle's algorithm is off"


def test_a_port_in_use_is_reported_in_one_sentence(running):
    command = [sys.executable, "-m", "mdplay", "serve", "--port", str(running.port)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=HUNG_SECONDS)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and f"port {running.port}" in done.stderr and "--port" in done.stderr


@pytest.mark.parametrize("host", ["\u202e", "\udcff.py", "nowhere.invalid"])
def test_a_host_that_cannot_be_is_told_in_a_sentence(host):
    with pytest.raises(MdplayError, match="cannot listen on"):
        _listen(host, 0)


def test_another_host_has_a_token_in_its_address():
    with server("--host", "0.0.0.0") as found:
        assert len(found.token) >= 24
        assert found.ask("/api/v1/status")[0] == 401
        assert found.ask("/api/v1/status", headers={"authorization": f"Bearer {found.token}"})[0] == 200


def test_the_page_needs_its_packages_and_says_so(tmp_path):
    program = (
        "import sys; sys.modules['uvicorn'] = None; sys.argv = ['mdplay', 'serve'];"
        "from mdplay.cli import run; sys.exit(run())"
    )
    python("-c", program, code=2)


# ---------------------------------------------------------------- load
def test_five_hundred_requests_with_other_parameters_take_a_bounded_share_of_the_machine(tmp_path):
    """Each would compile the rules anew; 200 clients leave at once, 300 wait."""
    cache = tmp_path / "kernels"
    game = write(tmp_path, "many_piles.py", NIM.replace("pile: int = 21", "pile: int = 20"))
    with server(f"{game}:Nim", MDPLAY_CACHE=str(cache)) as served:
        assert served.ask(VALUES, timeout=280)[0] == 200
        for number in range(200):
            with served.open(f"/api/v1/games/own-nim/values?params=pile={1000 + number}"):
                time.sleep(0.02)
        check_share(served, cache)
        with ExitStack() as held:
            for number in range(300):
                path = f"/api/v1/games/own-nim/values?params=pile={2000 + number}"
                held.enter_context(served.open(path))
            for _ in range(5):
                assert b"event: end" in asked_as_by_the_page(served, VALUES)
                check_share(served, cache)
                time.sleep(0.5)
        wait_for(lambda: status(served)["jobs"] == 0 and not status(served)["busy"])
        wait_for(lambda: len(served.family()) == 2)


def asked_as_by_the_page(served, path):
    """Return the answer to a question of the user; the page asks again where all places are taken for a moment."""
    for _ in range(3):
        code, answer = served.ask(path)
        if code == 200:
            return answer
        assert code == 503
        time.sleep(1)
    raise AssertionError("the user gets no answer")


def check_share(served, cache):
    family = served.family()
    assert len(family) <= MAX_PROCESSES
    facts = [dict(line.split(":", 1) for line in text.splitlines()) for text in map(status_text, family) if text]
    assert sum(int(one["Threads"]) for one in facts) <= MAX_THREADS
    assert sum(1024 * int(one.get("VmRSS", "0 kB").split()[0]) for one in facts) <= MAX_BYTES
    assert sum(file.stat().st_size for file in cache.rglob("*") if file.is_file()) <= MAX_DISK


def status_text(pid):
    try:
        return Path(f"/proc/{pid}/status").read_text()
    except OSError:  # it has ended meanwhile
        return ""
