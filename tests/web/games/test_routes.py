"""The API of games: what it shows is what the package knows.

Here are tested besides: ``mdplay.web.games.requests``, ``mdplay.web.games.catalogue``,
``mdplay.web.games.requests``, ``mdplay.web.games.events``, ``mdplay.web.games.requests``,
``mdplay.games.qubic.agents`` and ``mdplay.games.twenty48.player``.
"""

import random
import threading
from concurrent.futures import Future

import pytest

from mdplay import Position, Prover, make, solve
from mdplay.bits import elements
from mdplay.evaluating.evaluation import Evaluation, MoveEvaluation
from mdplay.playing.evaluators import evaluator_method
from mdplay.web.games import evaluators
from mdplay.web.games import events as streams
from mdplay.web.games.catalogue import Catalogue
from mdplay.web.games.requests import ask
from tests.web.reading import events, moves, told

API = "/api/v1"


def random_lines(game, count, seed=5, longest=40):
    """Yield the moves of random games, cut off anywhere before their end."""
    rng = random.Random(seed)
    for _ in range(count):
        position = Position.start(game)
        for _ in range(rng.randrange(longest)):
            following = position.play(rng.choice(position.moves))
            if following.is_over:
                break
            position = following
        yield position


# ---------------------------------------------------------------- lists
def test_the_list_tells_what_the_page_needs(client):
    games = {game["id"]: game for game in client.get(f"{API}/games").json()}
    assert next(iter(games)) == "own-nasty"  # of the command line: first
    assert set(games) >= {"connect-four", "tic-tac-toe", "anti-tic-tac-toe", "dots-and-boxes", "qubic", "2048"}
    four = games["connect-four"]
    assert [parameter["name"] for parameter in four["parameters"]] == ["rows", "cols"]
    assert {agent["id"] for agent in four["agents"]} == {"perfect", "mcts", "heuristic", "random"}
    assert {agent["id"] for agent in games["qubic"]["agents"]} >= {"perfect", "threats", "mcts"}
    assert (four["view"], games["qubic"]["view"], games["2048"]["view"]) == ("svg", "cube", "tiles")
    assert (games["2048"]["players"], games["2048"]["chance"], games["2048"]["points"]) == (1, True, True)
    assert games["own-nasty"]["title"] == "Nasty"


@pytest.mark.parametrize(
    "name", ["connect-four", "tic-tac-toe", "anti-tic-tac-toe", "dots-and-boxes", "qubic", "2048"]
)
def test_the_list_says_how_a_game_is_evaluated_as_the_package_does(client, name):
    games = {game["id"]: game for game in client.get(f"{API}/games").json()}
    assert games[name]["solver"] == evaluator_method(make(name))


# ---------------------------------------------------------------- positions
def test_a_random_opponent_is_offered_where_a_table_solves_the_game(client):
    offered = {game["id"]: game["opponents"] for game in client.get(f"{API}/games?pictures=false").json()}
    assert offered["tic-tac-toe"] == ["perfect", "uniform"]
    for large in ("connect-four", "othello", "qubic", "2048"):
        assert offered[large] == ["perfect"]


def test_parameters_that_make_no_game_are_refused_by_what_is_possible(client):
    answer = client.get(f"{API}/games/connect-four/position", params={"params": "rows=20,cols=10"})
    assert answer.json()["detail"] == "these parameters make no game: cols * (rows + 1) is at most 63"


def test_a_position_has_all_that_is_needed_to_play_on(client):
    found = client.get(f"{API}/games/dots-and-boxes/position", params={"moves": "0,2,6,8"}).json()
    assert found["points"] == [0.0, 1.0]
    assert (found["player"], found["over"], found["last"], found["status"]) == (1, False, 8, "Blue to move")
    assert [past["player"] for past in found["past"]] == [0, 1, 0, 1]
    assert [legal["action"] for legal in found["legal"]] == [1, 3, 4, 5, 7, 9, 10, 11]
    assert 'data-action="11"' in found["svg"]


def test_chance_is_drawn_unless_the_page_does_not_want_it(client):
    url = f"{API}/games/2048/position"
    assert client.get(url, params={"draw": "false"}).json()["chance"]
    first, again = (client.get(url, params={"seed": 3}).json() for _ in range(2))
    assert first["events"] == again["events"]
    assert len(first["events"]) == 2
    move = first["legal"][0]["move"]
    following = client.get(url, params={"from": first["position"], "moves": move, "base": "100"}).json()
    assert following["events"][0] == move
    assert following["points"][0] >= 100


def test_the_end_is_told(client):
    over = client.get(f"{API}/games/tic-tac-toe/position", params={"moves": "0,3,1,4,2"}).json()
    assert (over["over"], over["result"], over["status"], over["legal"]) == (True, 1.0, "X has won.", [])


# ---------------------------------------------------------------- values
@pytest.mark.parametrize("name", ["tic-tac-toe", "anti-tic-tac-toe", "dots-and-boxes"])
def test_every_value_shown_is_the_solvers(client, name):
    game = make(name)
    solution = solve(game)
    for position in random_lines(game, 6):
        text = client.get(f"{API}/games/{name}/values", params={"moves": ",".join(position.played)}).text
        expected = {choice.action: choice for choice in solution.choices(position.state)}
        shown = moves(text)
        assert set(shown) == set(position.actions)
        for action, data in shown.items():
            assert (data["value"], data["distance"], data["exact"]) == (
                expected[action].value,
                expected[action].distance,
                True,
            )
        verdict = told(text, "verdict")[-1]
        assert verdict["value"] == solution.value(position.state)
        assert solution.action(position.state) in verdict["best"]
        assert events(text)[-1] == ("end", {})


@pytest.mark.parametrize("name", ["tic-tac-toe", "anti-tic-tac-toe", "dots-and-boxes", "dodgem"])
def test_a_line_is_best_play_to_the_end(client, name):
    """Every move of the line keeps the value, by the solver, and the line leads to the end of the game."""
    game = make(name)
    solution = solve(game)
    for position in random_lines(game, 4):
        url = f"{API}/games/{name}/line?moves={','.join(position.played)}"
        for action in (None, position.actions[0]):
            text = client.get(url if action is None else f"{url}&action={action}").text
            (found,) = told(text, "line")
            state, moves_left = position.state, list(found["moves"])
            assert found["plies"] == len(moves_left) and found["over"]
            for number, move in enumerate(moves_left):
                played = next(a for a in elements(game.legal(state)) if game.move_text(state, a) == move)
                if number or action is None:
                    assert played in solution.best(state)
                else:
                    assert played == action
                state = game.step(state, played)
            assert not game.legal(state)


def test_a_line_after_an_illegal_action_is_refused(client):
    answer = client.get(f"{API}/games/tic-tac-toe/line", params={"moves": "4", "action": 4})
    assert (answer.status_code, answer.json()) == (422, {"detail": "that action is not legal here"})


def test_a_game_with_chance_has_no_line(client):
    (found,) = told(client.get(f"{API}/games/pig/line", params={"params": "goal=10"}).text, "line")
    assert found == {"moves": [], "plies": 0, "over": False}


def test_a_verdict_says_how_the_moves_differ(client):
    text = client.get(f"{API}/games/tic-tac-toe/values", params={"moves": "4,1"}).text
    assert told(text, "verdict")[-1]["why"] == "6 of 7 moves win."


def test_values_of_connect_four_are_those_of_a_fresh_prover(client):
    game = make("connect-four")
    prover = Prover(game)
    late = [position for position in random_lines(game, 40, seed=11) if len(position.past) >= 18]
    for position in late[:3]:
        text = client.get(f"{API}/games/connect-four/values", params={"moves": ",".join(position.played)}).text
        for choice in prover.choices(position.state):
            data = moves(text)[choice.action]
            assert (data["value"], data["score"], data["distance"], data["exact"]) == (
                choice.value,
                choice.score,
                choice.distance,
                True,
            )


def test_the_start_of_connect_four_is_told_in_a_sentence(client):
    text = client.get(f"{API}/games/connect-four/values").text
    verdict = told(text, "verdict")[-1]
    assert (verdict["headline"], verdict["exact"], verdict["best"]) == ("Red wins with the 41st disc", True, [3])
    assert {action: data["score"] for action, data in moves(text).items()} == {
        0: -2, 1: -1, 2: 0, 3: 1, 4: 0, 5: -1, 6: -2,
    }  # fmt: skip


def test_values_against_a_random_opponent(client):
    game = make("dots-and-boxes")
    solution = solve(game, opponent="uniform")
    text = client.get(f"{API}/games/dots-and-boxes/values", params={"opponent": "uniform"}).text
    assert {action: data["value"] for action, data in moves(text).items()} == pytest.approx(
        {choice.action: choice.value for choice in solution.choices()}
    )
    assert "random opponent" in told(text, "verdict")[-1]["source"]


def test_a_finished_game_and_pending_chance_have_a_verdict_too(client):
    over = told(client.get(f"{API}/games/tic-tac-toe/values", params={"moves": "0,3,1,4,2"}).text, "verdict")
    assert (over[0]["headline"], over[0]["over"], over[0]["best"]) == ("X has won", True, [])
    chance = told(client.get(f"{API}/games/2048/values").text, "verdict")
    assert (chance[0]["headline"], chance[0]["over"]) == ("Chance moves", False)
    assert (chance[0]["value"], chance[0]["exact"]) == (None, False)


def test_brief_values_tell_the_position_alone(client):
    text = client.get(f"{API}/games/tic-tac-toe/values", params={"brief": "true", "moves": "0"}).text
    assert told(text, "move") == []
    assert told(text, "verdict")[-1]["kind"] == "draw"


def test_a_users_game_is_solved_and_its_texts_stay_texts(client):
    text = client.get(f"{API}/games/own-nasty/values").text
    game = client.app.state.service.catalogue["own-nasty"].make()
    solution = solve(game)
    assert {action: data["value"] for action, data in moves(text).items()} == {
        choice.action: choice.value for choice in solution.choices()
    }
    page = client.get(f"{API}/games/own-nasty/position").json()
    assert page["legal"][0]["move"] == "1<script>alert(0)</script>"  # JSON: a text, never a page
    for word in ("script", "href", "style=", "onload", "onclick", "x.example"):
        assert word not in page["svg"]
    assert 'data-action="0"' in page["svg"]


# ---------------------------------------------------------------- searches and agents
def test_a_search_tells_statistics_and_a_tree(client):
    text = client.get(f"{API}/games/tic-tac-toe/search", params={"simulations": 500, "seconds": 20}).text
    stats = told(text, "stats")[-1]
    assert stats["simulations"] == told(text, "done")[0]["simulations"] >= 500 or stats["proven"]
    assert sum(move["share"] for move in stats["moves"]) == pytest.approx(1)
    assert sum(child["visits"] for child in stats["tree"]["children"]) <= stats["tree"]["visits"]
    assert {move["action"] for move in stats["moves"]} == set(range(9))


@pytest.mark.parametrize(
    ("name", "agent", "setting"),
    [("tic-tac-toe", "mcts", 50), ("tic-tac-toe", "random", 0), ("connect-four", "heuristic", 2)],
)
def test_agents_move_legally_and_a_seed_repeats_them(client, name, agent, setting):
    asked = {"agent": agent, "setting": setting, "seed": 5}
    found = [told(client.get(f"{API}/games/{name}/agent", params=asked).text, "move") for _ in range(2)]
    assert found[0] == found[1]
    assert found[0][0]["action"] in Position.start(make(name)).actions


def test_perfect_play_never_gives_anything_away(client):
    game = make("tic-tac-toe")
    solution = solve(game)
    for position in random_lines(game, 5, seed=8):
        asked = {"agent": "perfect", "moves": ",".join(position.played)}
        action = told(client.get(f"{API}/games/tic-tac-toe/agent", params=asked).text, "move")[0]["action"]
        assert action in solution.best(position.state)


# ---------------------------------------------------------------- what is refused
@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/games/chess/position", 404),
        ("/games/tic-tac-toe/position?moves=4,4", 422),
        ("/games/tic-tac-toe/position?from=zzz", 422),
        ("/games/tic-tac-toe/position?params=rows=99", 422),
        ("/games/tic-tac-toe/position?params=../../etc/passwd", 422),
        ("/games/tic-tac-toe/position?params=rows%3D3.py:x", 422),
        ("/games/tic-tac-toe/position?base=1,2,3", 422),
        ("/games/tic-tac-toe/position?base=1e999,0", 422),
        ("/games/tic-tac-toe/position?moves=" + "4," * 4000, 422),
        ("/games/tic-tac-toe/agent?agent=policy", 422),
        ("/games/tic-tac-toe/agent?agent=evil.py:Agent", 422),
        ("/games/tic-tac-toe/agent?agent=mcts&setting=1000000", 422),
        ("/games/connect-four/agent?agent=heuristic&setting=99", 422),
        ("/games/tic-tac-toe/agent?moves=0,3,1,4,2", 422),
        ("/games/tic-tac-toe/search?seconds=61", 422),
        ("/games/tic-tac-toe/search?seconds=nan", 422),
        ("/games/2048/values?opponent=uniform", 422),
        ("/games/..%2f..%2fetc%2fpasswd/position", 404),
        ("/nowhere", 404),
    ],
)
def test_what_cannot_be_is_refused_and_not_repeated(client, path, code):
    answer = client.get(API + path)
    assert answer.status_code == code
    assert set(answer.json()) == {"detail"}
    for piece in ("zzz", "passwd", "evil", "99", "chess", "4,4"):
        assert piece not in answer.text


@pytest.mark.parametrize("path", ["position", "values", "search", "agent"])
def test_a_game_whose_file_has_changed_is_not_answered_by_its_old_rules(client, own_game, path):
    text = own_game.read_text()
    try:
        own_game.write_text(f"{text}\n# another line\n")
        answer = client.get(f"{API}/games/own-nasty/{path}")
    finally:
        own_game.write_text(text)
    assert answer.status_code == 409
    assert answer.json()["detail"].startswith(
        "the file of this game has changed since the server read it; restart"
    )
    assert client.get(f"{API}/games/own-nasty/position").status_code == 200


def test_no_text_from_outside_reaches_the_reader_of_specs(client, monkeypatch):
    def opened(*_, **__):
        raise AssertionError("a text from outside was read as a spec")

    monkeypatch.setattr("mdplay.naming.specs.read_spec", opened)
    monkeypatch.setattr("mdplay.naming.registry.read_spec", opened)
    monkeypatch.setattr("mdplay.naming.registry.load_module", opened)
    for path in ("position?params=rows=4,cols=4", "position?from=120000000", "values", "search?simulations=10"):
        assert client.get(f"{API}/games/tic-tac-toe/{path}").status_code == 200
    assert client.get(f"{API}/games/tic-tac-toe/agent?agent=mcts&setting=10").status_code == 200


# ---------------------------------------------------------------- while a game is prepared
class Gathered:
    """A job that only remembers what it was told."""

    def __init__(self):
        self.told, self.stopped = [], threading.Event()

    def emit(self, event, data):
        self.told.append((event, data))

    def check(self):
        pass

    def show(self, _):
        pass


def test_while_a_game_is_prepared_tree_search_tells_and_nothing_is_final(monkeypatch):
    asked, job = ask(Catalogue()["tic-tac-toe"], moves="4"), Gathered()
    ready = threading.Event()
    threading.Timer(2.5, ready.set).start()
    monkeypatch.setattr(evaluators, "make_evaluator", lambda *_, **__: ready.wait() and "the evaluator")

    def guess(future):
        return streams._estimate(job, asked, future)

    assert streams._evaluator(job, asked, evaluators.Evaluators(), "perfect", guess) == "the evaluator"
    assert [data["text"] for event, data in job.told if event == "notice"][-1] == ""
    verdicts = [data for event, data in job.told if event == "verdict"]
    assert verdicts and not any(verdict["done"] for verdict in verdicts)
    guesses = [verdict for verdict in verdicts if not verdict["exact"]]
    assert all(guess["best"] == [] and "line" not in guess for guess in guesses), "nothing is best yet"
    assert {guess["headline"] for guess in guesses} <= {"O to move"}
    assert {data["move"] for event, data in job.told if event == "move"} == set("01235678")


def test_a_first_guess_names_no_best_move_and_no_line(monkeypatch):
    guess = Evaluation(
        {0: MoveEvaluation.of(0.1, False)},
        MoveEvaluation.of(0.1, False),
        (0,),
        "tree search",
        ("a", "b"),
        done=True,
    )
    monkeypatch.setattr(streams.SearchEvaluator, "evaluate", lambda *_, **__: [guess])
    asked, job = ask(Catalogue()["chess-ending"]), Gathered()
    assert streams._estimate(job, asked, Future())
    [verdict] = [data for event, data in job.told if event == "verdict"]
    assert (verdict["headline"], verdict["best"], verdict["done"]) == ("White to move", [], False)
    assert "line" not in verdict


def test_of_a_puzzle_nothing_is_best_while_no_way_is_found():
    asked, job = ask(Catalogue()["sliding-puzzle"]), Gathered()
    none, some = MoveEvaluation.of(0.0, False), MoveEvaluation.of(0.25, False)
    streams._emit(job, asked, Evaluation({0: none, 1: some}, none, (0,), "tree search", ("a", "b"), done=True), {})
    assert [data["action"] for event, data in job.told if event == "move"] == [1]
    [verdict] = [data for event, data in job.told if event == "verdict"]
    assert (verdict["headline"], verdict["best"], verdict["best_moves"]) == ("No solution found yet", [], [])
    assert "line" not in verdict


def test_a_list_without_pictures_draws_none(client):
    assert not any("svg" in game for game in client.get(f"{API}/games?pictures=false").json())
