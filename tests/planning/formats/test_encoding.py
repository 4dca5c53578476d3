import re

import numpy as np
import pytest

from mdplay import make
from mdplay.errors import FormatError
from mdplay.games.tic_tac_toe.rules import anti_tic_tac_toe
from mdplay.planning import MDP, plan
from mdplay.planning.formats.cs747 import (
    decode,
    encode,
    parse_mdp,
    read_policy_file,
    read_states,
    read_weights,
    write_policy,
)
from mdplay.planning.mdp import Score
from mdplay.solving.responses import best_response
from mdplay.states.graph import explore
from tests.helpers import write
from tests.planning.formats.test_cs747 import mutated

GAME = anti_tic_tac_toe()


@pytest.fixture(scope="module")
def graph():
    return explore(GAME)


@pytest.fixture(scope="module")
def files(graph, tmp_path_factory):
    """A folder with the states of both players and a uniform policy of each."""
    folder = tmp_path_factory.mktemp("attt")
    for player in (0, 1):
        own = [number for number in graph.preorder() if graph.kind[number] == player]
        text = "".join(f"{GAME.text(graph.state(number))}\n" for number in own)
        write(folder, f"states{player + 1}.txt", text)
        write_policy(graph, player, graph.uniform(), folder / f"policy{player + 1}.txt")
    return folder


@pytest.mark.parametrize("player", [0, 1])
def test_encoding_planning_and_decoding_is_a_best_response(graph, files, tmp_path, player):
    own = read_states(files / f"states{player + 1}.txt", GAME)
    opponent = read_policy_file(files / f"policy{2 - player}.txt", GAME, 9)
    text = "".join(encode(GAME, own, opponent))
    assert len(own.texts) == (2423, 2097)[player]
    assert f"end {len(own.texts)} {len(own.texts) + 1}\n" in text
    found = plan(MDP.from_cs747(write(tmp_path, "mdp.txt", text)))
    assert found.closed
    lines = "".join(f"{v:.6f} {max(a, 0)}\n" for v, a in zip(found.value, found.action, strict=True))
    policy = "".join(decode(GAME, own, write(tmp_path, "plan.txt", lines)))
    wanted = best_response(graph, player, graph.uniform(), Score(1, 0, 0))
    write_policy(graph, wanted.player, wanted.weights, tmp_path / "wanted.txt")
    assert policy == (tmp_path / "wanted.txt").read_text()


def test_a_missing_state_is_named(files, tmp_path):
    own = read_states(files / "states1.txt", GAME)
    lines = (files / "policy2.txt").read_text().splitlines()
    gone = lines.pop(1000).split()[0]
    opponent = read_policy_file(write(tmp_path, "short.txt", "\n".join(lines)), GAME, 9)
    with pytest.raises(FormatError, match=f"short.txt, line .* without the state {gone}"):
        list(encode(GAME, own, opponent))


def test_wrong_numbers_of_lines_and_players_are_refused(files, tmp_path):
    own = read_states(files / "states1.txt", GAME)
    with pytest.raises(FormatError, match="line 1: 1 lines; .* needs 2425"):
        list(decode(GAME, own, write(tmp_path, "plan.txt", "0.5 1\n")))
    with pytest.raises(FormatError, match="policy of player 1, who moves"):
        list(encode(GAME, own, read_policy_file(files / "policy1.txt", GAME, 9)))


def test_the_command_encodes_plans_and_decodes_in_one_step(mdplay, files, tmp_path):
    words = ["plan", "anti-tic-tac-toe", "--states", files / "states1.txt", "--opponent", files / "policy2.txt"]
    mdp = write(tmp_path, "mdp.txt", mdplay(*words, "--format", "mdp").out)
    values = write(tmp_path, "values.txt", mdplay("plan", mdp).out)
    assert mdplay(*words).out == values.read_text()
    decoded = mdplay(*words[:4], "--values", values, "--format", "policy").out
    assert decoded == mdplay(*words, "--format", "policy").out and decoded.startswith("1\n")


def test_chance_and_extra_turns_are_encoded(tmp_path):
    """Pig has dice and several rolls a turn; the opponent holds after the first one."""
    game = make("pig:goal=4")
    graph = explore(game)
    texts = [[game.text(graph.state(n)) for n in range(len(graph.kind)) if graph.kind[n] == p] for p in (0, 1)]
    holds = "".join(f"{text} {'0 1' if '+0' not in text else '1 0'}\n" for text in texts[1])
    own = read_states(write(tmp_path, "own.txt", "\n".join(texts[0])), game)
    policy = write(tmp_path, "policy.txt", f"2\n{holds}")
    opponent = read_policy_file(policy, game)
    model = parse_mdp("".join(encode(game, own, opponent)).encode(), name="pig")
    direct = best_response(graph, 0, read_weights(graph, str(policy))[1], Score(1.0, 0.0, 0.0))
    assert plan(model).value[0] == pytest.approx(direct.value)


@pytest.mark.parametrize("name", ["states1.txt", "policy2.txt"])
def test_damaged_files_are_read_or_refused_in_one_sentence(files, tmp_path, name):
    rng = np.random.default_rng(8)
    text = "\n".join((files / name).read_text().splitlines()[:12]) + "\n"
    path = tmp_path / "bad.txt"
    refused = 0
    for _ in range(1000):
        path.write_bytes(mutated(text, rng))
        try:
            read_states(path, GAME) if name.startswith("states") else read_policy_file(path, GAME, 9)
        except FormatError as error:
            refused += 1
            assert re.search(r"bad\.txt, line \d+: \S", str(error))
            assert "\n" not in str(error)
    assert refused > 300
