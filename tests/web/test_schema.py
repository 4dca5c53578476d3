"""The schema and the server agree, and nothing that anybody sends makes it fail."""

import pytest
import schemathesis
from httpx2 import InvalidURL
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.transport import Response
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import content_type_conformance, status_code_conformance

API = "/api/v1"
BASE = "http://127.0.0.1:8765"
QUIET = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much]
QUICK = ("v1/games", "/status", "/position", "/record", "/records", "/agents", "/policies", "/methods")
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance)
GAMES = [
    "own-nasty",
    "tic-tac-toe",
    "connect-four",
    "dots-and-boxes",
    "qubic",
    "2048",
    "anti-tic-tac-toe",
    "chess",
]


def exercise(client, operation, examples):
    """Send what an operation's schema allows, and what it does not, and hold the answers against it."""

    @given(case=operation.as_strategy() | operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
    def check(case):
        sent = case.as_transport_kwargs(base_url=BASE)
        body = {
            "content" if key == "data" else key: sent[key] for key in ("data", "json") if sent.get(key) is not None
        }
        if not isinstance(body.get("content", b""), (bytes, str)):
            body = {"json": body["content"]}
        try:
            response = client.request(sent["method"], sent["url"], params=sent.get("params"), **body)
        except InvalidURL:  # what this client would not send
            reject()
        case.validate_response(Response.from_any(response), checks=CHECKS)

    check()


@pytest.fixture(scope="session")
def operations(app):
    schema = schemathesis.openapi.from_dict(app.openapi())
    return {f"{found.ok().method} {found.ok().path}": found.ok() for found in schema.get_all_operations()}


def test_what_is_quick_keeps_its_schema(client, operations):
    quick = [operation for name, operation in operations.items() if name.endswith(QUICK)]
    assert len(quick) == len(QUICK)
    for operation in quick:
        exercise(client, operation, 3)


@pytest.mark.slow
def test_everything_keeps_its_schema(client, operations):
    for operation in operations.values():
        exercise(client, operation, 40)


words = st.text(max_size=40) | st.sampled_from(
    ["", "4,0", "rows=3", "../..", "a.py:B", "moves:1,2", "\x00", "1e400"]
)


@given(
    game=st.sampled_from(GAMES) | words,
    what=st.sampled_from(["position", "record"]),
    given_words=st.dictionaries(
        st.sampled_from(["params", "from", "moves", "base", "draw", "seed", "first", "second", "brief"]), words
    ),
)
@settings(max_examples=25, deadline=None, suppress_health_check=QUIET)
def test_any_words_get_an_answer(client, game, what, given_words):
    answer = client.get(f"{API}/games/{_quoted(game)}/{what}", params=given_words)
    assert answer.status_code in (200, 307, 404, 405, 422)
    assert "Traceback" not in answer.text


def _quoted(text):
    from urllib.parse import quote

    return quote(text, safe="") or "x"


@given(body=st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
@settings(max_examples=20, deadline=None, suppress_health_check=QUIET)
def test_any_body_gets_an_answer(client, body):
    answer = client.post(f"{API}/records", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (200, 400, 422)


@given(
    lines=st.lists(
        st.sampled_from(
            [b"numStates 3", b"numActions 2", b"end 2", b"end -1", b"transition 0 0 1 1 1",
             b"transition 1 0 2 1 0.5",
             b"mdptype episodic", b"mdptype continuing", b"discount 0.9", b"discount 1", b"transition 9 9 9 9 9",
             b"numStates -1", b"\xff\xfe", b"transition 0 0 1 nan 1", b"discount 1e999"]
        ) | st.binary(max_size=20),
        max_size=12,
    )
)  # fmt: skip
@settings(max_examples=20, deadline=None, suppress_health_check=QUIET)
def test_any_mdp_gets_an_answer(client, lines):
    text = client.post(f"{API}/plan", content=b"\n".join(lines), headers={"content-type": "text/plain"}).text
    assert "event: plan" in text or "event: failed" in text
    assert "met a fault" not in text
