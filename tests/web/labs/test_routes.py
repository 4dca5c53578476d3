"""Plans, bandits, trainings and tournaments over the API.

Here are tested besides: ``mdplay.web.labs.answering``, ``mdplay.web.labs.answering``,
``mdplay.web.labs.answering``, ``mdplay.web.labs.training``, ``mdplay.web.labs.answering``,
``mdplay.web.labs.answering`` and ``mdplay.web.games.catalogue``.
"""

import numpy as np
import pytest
from starlette.testclient import TestClient

from mdplay import MDP, learn, make, match, plan
from mdplay.bandits.laboratory import Bandit, run_bandit
from mdplay.planning.methods import METHODS as PLAN_METHODS
from mdplay.rng import Random
from mdplay.searching.selectors import SELECTORS
from mdplay.web.app import make_app
from mdplay.web.games.catalogue import Catalogue
from mdplay.web.labs import training
from mdplay.web.labs.routes import METHODS, POLICIES
from mdplay.web.service import Service
from tests.web.reading import events, told

API = "/api/v1"
MAZE = b"""numStates 4
numActions 2
end 3
transition 0 0 1 0 1
transition 0 1 0 0.2 0.5
transition 0 1 2 -1 0.5
transition 1 0 3 1 0.5
transition 1 0 0 0 0.5
transition 2 0 3 2 1
mdptype episodic
discount 0.9
"""


def post(client, path, body, **parameters):
    return client.post(f"{API}/{path}", content=body, params=parameters, headers={"content-type": "text/plain"})


# ---------------------------------------------------------------- plan
@pytest.mark.parametrize("method", ["auto", "vi", "hpi", "lp"])
def test_a_plan_is_the_planners(client, tmp_path, method):
    found = told(post(client, "plan", MAZE, method=method).text, "plan")[0]
    (tmp_path / "maze.txt").write_bytes(MAZE)
    expected = plan(MDP.from_cs747(tmp_path / "maze.txt"), method, tolerance=1e-7)
    assert found["value"] == pytest.approx(expected.value.tolist(), abs=1e-9)
    assert found["action"] == expected.action.tolist()
    assert np.all(np.array(found["lower"]) <= expected.value + 1e-9)
    assert (found["states"], found["terminal"], found["closed"]) == (4, [3], True)
    assert [line.split()[1] for line in found["answer"].splitlines()] == [str(max(a, 0)) for a in found["action"]]


def test_a_file_with_a_fault_is_told_by_its_line_and_not_repeated(client):
    text = post(client, "plan", MAZE.replace(b"discount 0.9", b"discount <script>")).text
    assert events(text)[0][0] == "failed"
    assert "line 11" in told(text, "failed")[0]["message"]
    assert "script" not in text


def test_a_row_that_does_not_sum_to_1_is_told_by_its_line(client):
    text = "numStates 2\nnumActions 1\nend 1\ntransition 0 0 1 1 0.5\nmdptype episodic\ndiscount 0.9\n"
    [failed] = told(post(client, "plan", text).text, "failed")
    assert failed["message"] == "line 4: the probabilities of state 0, action 0 sum to 0.5, not to 1"


def test_infinite_values_are_counted_and_the_reason_of_finite_ones_is_left_out(client):
    loop = "numStates 3\nnumActions 1\nend 2\ntransition 0 0 0 1 1\ntransition 1 0 2 1 1\n"
    text = loop + "mdptype episodic\ndiscount 1\n"
    [plan] = told(post(client, "plan", text).text, "plan")
    assert (plan["value"], plan["infinite"], plan["reason"]) == (["inf", 1.0, 0.0], 1, "")


def test_more_states_than_allowed_are_refused_before_there_is_room_for_them(client):
    text = post(client, "plan", MAZE.replace(b"numStates 4", b"numStates 2000000000")).text
    assert "at most 100,000 states" in told(text, "failed")[0]["message"]


def test_the_methods_and_policies_are_those_of_the_package(client):
    assert set(METHODS) <= {"auto", *PLAN_METHODS}
    assert client.get(f"{API}/bandits/policies").json() == list(POLICIES) == list(SELECTORS)
    assert post(client, "plan", MAZE, method="magic").status_code == 422


# ---------------------------------------------------------------- bandits
def test_curves_grow_over_runs_and_are_the_laboratorys(client):
    asked = {"means": "0.9,0.5", "policies": "ucb1", "steps": 20, "runs": 6, "seed": 4}
    found = told(client.get(f"{API}/bandits", params=asked).text, "curve")
    assert found[-1]["curves"][0]["runs"] == 6
    single = [run_bandit(Bandit("bernoulli", (0.9, 0.5)), "ucb1", steps=20, runs=1, seed=4 + i) for i in range(6)]
    regret = np.mean([curve.regret for curve in single], axis=0)
    assert found[-1]["curves"][0]["regret"] == pytest.approx(regret.tolist(), abs=1e-5)


@pytest.mark.parametrize(
    "asked",
    [
        {"policies": "magic"},
        {"policies": "evil.py:Rule"},
        {"steps": 100_000, "runs": 20_000},
        {"means": "0.5,,x"},
        {"means": "1e99,2"},
        {"arms": 1},
    ],
)
def test_other_bandits_are_refused(client, asked):
    assert client.get(f"{API}/bandits", params=asked).status_code == 422


def test_gaussian_arms_without_means_are_drawn_anew(client):
    asked = {"kind": "gaussian", "arms": 7, "policies": "ucb1", "steps": 5, "runs": 2}
    assert told(client.get(f"{API}/bandits", params=asked).text, "bandit") == [
        {"arms": 7, "means": [], "bound": None}
    ]


def test_what_is_no_bandit_is_told_in_the_stream(client):
    text = client.get(f"{API}/bandits", params={"means": "2,3"}).text
    assert "probabilities" in told(text, "failed")[0]["message"]


# ---------------------------------------------------------------- learn
def test_what_was_learned_plays(client):
    assert "points" in client.get(f"{API}/learn/methods", params={"game": "tic-tac-toe"}).json()
    asked = {"game": "tic-tac-toe", "method": "points", "episodes": 500, "seed": 3}
    learned = told(client.get(f"{API}/learn", params=asked).text, "learned")[0]
    agents = client.get(f"{API}/games/tic-tac-toe/agents").json()
    assert learned["id"] in [agent["id"] for agent in agents]
    text = client.get(f"{API}/games/tic-tac-toe/agent", params={"agent": learned["id"], "seed": 1}).text
    game = make("tic-tac-toe")
    expected = learn(game, method="points", episodes=500, seed=3).agent().act(game.initial(), Random(1))
    assert told(text, "move")[0]["action"] == expected
    wide = client.get(f"{API}/games/tic-tac-toe/agents", params={"params": "cols=4"}).json()
    assert learned["id"] not in [agent["id"] for agent in wide]


def test_the_curve_of_two_players_shows_what_was_learned_and_not_the_result_of_self_play(client, monkeypatch):
    monkeypatch.setattr(training, "GAMES", 10)
    monkeypatch.setattr(training, "POSITIONS", 20)
    asked = {"game": "tic-tac-toe", "method": "network", "episodes": 3000, "seed": 3}
    series = told(client.get(f"{API}/learn", params=asked).text, "curve")[-1]["series"]
    assert [one["name"] for one in series] == ["against random", "optimal moves"]
    for one in series:
        episodes, shares = zip(*one["points"], strict=True)
        assert episodes[-1] == 3000
        assert all(0 <= share <= 1 for share in shares)
    assert series[1]["points"][-1][1] > 0.9


def test_the_curve_of_one_player_is_its_mean_result():
    curve = training.Curve(make("2048"))
    curve.add(100, 250.0, training.NO_JUDGE)
    assert curve.document()["series"] == [{"name": "mean result", "points": [[100, 250.0]]}]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"game": "chess"}, 404),
        ({"game": "tic-tac-toe", "method": "magic"}, 422),
        ({"game": "tic-tac-toe", "episodes": 10**9}, 422),
        ({}, 422),
    ],
)
def test_other_trainings_are_refused(client, asked, code):
    assert client.get(f"{API}/learn", params=asked).status_code == code


# ---------------------------------------------------------------- tournaments
def test_a_cross_table_fills_while_the_matches_are_played(client):
    asked = {"game": "tic-tac-toe", "agents": "random,mcts:20,perfect", "games": 4, "seed": 5}
    text = client.get(f"{API}/tournament", params=asked).text
    tables = told(text, "table")
    counts = [table["done"] for table in tables]
    assert counts[0] == 1, "there is a table before the first pair has finished"
    assert counts == sorted(counts)
    assert {4, 8, 12} <= set(counts)
    assert told(text, "stats")[-1]["done"] == 12
    played = match(make("tic-tac-toe"), "random", "mcts:simulations=20", games=4, seed=5)
    assert tables[-1]["cells"][0]["wins"] == played.tally.wins, "the games are those of the command line"
    assert tables[-1]["agents"] == ["random", "mcts:simulations=20", "perfect"]
    cells = tables[-1]["cells"]
    assert [cell["agents"] for cell in cells] == [
        ["random", "mcts:simulations=20"], ["random", "perfect"], ["mcts:simulations=20", "perfect"],
    ]  # fmt: skip
    assert all(cell["wins"] + cell["draws"] + cell["losses"] == 4 for cell in cells)
    assert {rating["agent"] for rating in tables[-1]["ratings"]} == set(tables[-1]["agents"])


@pytest.mark.parametrize(
    "asked",
    [
        {"game": "tic-tac-toe", "agents": "random"},
        {"game": "tic-tac-toe", "agents": "random,random"},
        {"game": "tic-tac-toe", "agents": "random,policy:1"},
        {"game": "tic-tac-toe", "agents": "random,mcts:999999"},
        {"game": "tic-tac-toe", "agents": "random,evil.py:X"},
        {"game": "2048", "agents": "random,mcts:10"},
        {"game": "tic-tac-toe", "agents": "mcts:1,mcts:2,mcts:3,mcts:4,mcts:5,mcts:6,mcts:7"},
        {"game": "tic-tac-toe", "agents": "random,mcts:5", "games": 1000},
    ],
)
def test_other_tournaments_are_refused(client, asked):
    assert client.get(f"{API}/tournament", params=asked).status_code == 422


# ---------------------------------------------------------------- reproduction
def test_the_page_of_the_reproduction_is_served_where_there_is_one(tmp_path):
    service = Service(Catalogue(), reproduction=tmp_path)
    with TestClient(make_app(service), base_url="http://127.0.0.1:8765") as client:
        assert client.get(f"{API}/reproduction").json()["page"] is None
        assert client.get("/reproduction/page").status_code == 404
        (tmp_path / "index.html").write_text("<h1>Five systems</h1>")
        page = client.get(client.get(f"{API}/reproduction").json()["page"])
        assert page.text == "<h1>Five systems</h1>"
        assert "script-src" not in page.headers["content-security-policy"]  # default-src 'none': no script at all
        assert "default-src 'none'" in page.headers["content-security-policy"]
