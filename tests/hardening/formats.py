"""Every file format that mdplay reads: how a sample is made, and what reading one gives.

``python -m tests.hardening.formats`` reads files on request, for `tests.hardening.files`: in comes a line of JSON,
``{"kind": ..., "path": ...}``, out goes ``{"read": digest}``, ``{"refused": sentence}`` or ``{"broke": error}``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import resource
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mdplay import FormatError, MdplayError, make, match, play, solve
from mdplay.game import num_players
from mdplay.naming.registry import name_of
from mdplay.playing.records import load_records, save_records
from tests.helpers import NIM

MEMORY = 6 << 30  # of addresses beyond those of a child that has just started
TTT, ANTI, SMALL, FOUR = (
    make(name) for name in ("tic-tac-toe", "anti-tic-tac-toe", "2048:rows=2,cols=2", "connect-four:rows=4,cols=4")
)
DOTS = make("dots-and-boxes:rows=1,cols=2")
MDP_TEXT = """numStates 6
numActions 3
start 0
end 4 5
transition 0 0 1 0.25 0.5
transition 0 0 2 -1.5e-2 0.5
transition 0 1 3 1000000 0.125
transition 0 1 0 0.3333333333333333 0.875
transition 1 2 4 1 1
transition 2 0 5 -0.0 0.1
transition 2 0 4 7 0.9
transition 3 0 0 .5 1.0

mdptype episodic
discount 0.95
"""


@dataclass(frozen=True)
class Format:
    """A kind of file: its ending, how one is made, what reading it gives, and whether it has a checksum."""

    suffix: str
    make: Callable[[Path], None]
    read: Callable[[Path], Any]
    sealed: bool = False


# ---------------------------------------------------------------- Markov decision problems and the course's files
def _arrays(mdp: Any) -> list[Any]:
    ends = (mdp.first_choice, mdp.first_transition)
    return [*ends, mdp.action, mdp.target, mdp.probability, mdp.reward, mdp.discount]


def _read_mdp(path: Path) -> Any:
    from mdplay.planning import plan
    from mdplay.planning.formats.cs747 import read_mdp

    mdp = read_mdp(path)
    if mdp.num_states > 10_000:
        return mdp.num_states
    found = plan(mdp, threads=1)
    return [*_arrays(mdp), found.action]


def _read_mdp_twice(path: Path) -> Any:
    """Read a file by the compiled scanner and by the plain reader, which must agree."""
    from mdplay.planning.formats import cs747

    answers: list[Any] = []
    for limit in (-1, 1 << 40):
        cs747.PLAIN_BYTES = limit
        try:
            mdp = cs747.read_mdp(path)
            answers.append(_digest(_arrays(mdp)))
        except FormatError as error:
            answers.append(
                re.sub(r"line \d+: the file ends", "at the end", str(error))
            )  # with or without a last line
        finally:
            cs747.PLAIN_BYTES = 2_000_000
    if answers[0] != answers[1]:
        raise AssertionError(f"the scanner says {answers[0]}, the reader {answers[1]}")
    if str(path) in answers[0]:
        raise FormatError(answers[0])
    return answers[0]


def _read_actions(path: Path) -> Any:
    from mdplay.planning.formats.cs747 import read_mdp, read_policy

    mdp = path.with_name("for_actions.txt")
    mdp.write_text(MDP_TEXT)
    return read_policy(path, read_mdp(mdp))


def _make_states(path: Path) -> None:
    from mdplay.states.graph import explore

    graph = explore(ANTI)
    texts = [ANTI.text(graph.state(int(i))) for i in np.flatnonzero(graph.kind == 0)]
    path.write_text("".join(f"{text}\n" for text in texts[:300]))


def _read_states(path: Path) -> Any:
    from mdplay.planning.formats.cs747 import read_states

    return read_states(path, ANTI).states


def _make_policy(path: Path) -> None:
    from mdplay.planning.formats.cs747 import policy_line

    rows = [("000000000", 4), ("120000000", 2), ("102000000", 1), ("121200000", 8)]
    path.write_text("1\n" + "".join(policy_line(text, {action: 0.25, 5: 0.75}, 9) for text, action in rows))


def _read_policy(path: Path) -> Any:
    from mdplay.planning.formats.cs747 import read_policy_file

    return sorted(read_policy_file(path, ANTI, 9).rows.items())


def _read_decoded(path: Path) -> Any:
    from mdplay.planning.formats.cs747 import decode, read_states

    states = path.with_name("for_decode.txt")
    states.write_text("000000000\n120000000\n102000000\n")
    return list(decode(ANTI, read_states(states, ANTI), path))


DRN_TEXT = """@type: MDP
@reward_models
cost
@nr_states
3
@model
state 0 [1] init
\taction left [0.5]
\t\t0 : 0.3
\t\t1 : 7/10
\taction right [0]
\t\t2 : 1
state 1 [2]
\taction a [0]
\t\t2 : 1
state 2 [0]
\taction a [0]
\t\t2 : 1
"""
TRA_TEXT = "3 4 5\n0 0 0 0.3 left\n0 0 1 0.7 left\n0 1 2 1 right\n1 0 2 1\n2 0 2 1\n"


def _read_drn(path: Path) -> Any:
    from mdplay.planning.formats.explicit import read_drn

    return _arrays(read_drn(path))


def _read_tra(path: Path) -> Any:
    from mdplay.planning.formats.explicit import read_explicit

    return _arrays(read_explicit(path))


def _make_shard(path: Path) -> None:
    from mdplay.distributed.planning_shard import write_shards
    from mdplay.planning.formats.cs747 import parse_mdp

    write_shards(parse_mdp(MDP_TEXT.encode()), path.parent / "shards", 1)
    (path.parent / "shards" / "0.mdp").rename(path)


def _read_shard(path: Path) -> Any:
    from mdplay.distributed.planning_shard import Shards

    folder = path.parent / "of_others"
    folder.mkdir(exist_ok=True)
    (folder / "0.mdp").write_bytes(path.read_bytes())
    rows = Shards(folder, (0, 6), 0.95).load(0)
    first, choices, transitions = rows.arrays.first_choice, rows.arrays.first_transition, rows.arrays.target
    return [first, choices, transitions, rows.arrays.probability, rows.arrays.reward, rows.action]


# ---------------------------------------------------------------- play
def _records(count: int = 4) -> Any:
    return match(TTT, "random", "random", games=count).records


def _make_results(path: Path) -> None:
    from mdplay.playing.matches.results import Results

    with Results(path) as results:
        for record in _records():
            results.add("key", record)


def _read_results(path: Path) -> Any:
    from mdplay.playing.matches.results import Results

    with Results(path) as results:
        return [record.to_json() for record in results.records("key", TTT, 100).values()]


def _read_records(path: Path) -> Any:
    return [record.to_json() for record in load_records(path)]


def _foreign(game: Any) -> tuple[Callable[[Path], None], Callable[[Path], Any]]:
    """Return how games are written in the form that a file's ending names, and read again."""
    from mdplay.playing.formats import load_games, save_games

    def make_games(path: Path) -> None:
        save_games(path, [play(game, *["random"] * num_players(game), seed=seed) for seed in range(3)])

    return make_games, lambda path: [record.to_json() for record in load_games(path, game=game)]


def _read_openings(path: Path) -> Any:
    from mdplay.playing.matches.games import make_openings

    return make_openings(TTT, str(path), 7, 0)


# ---------------------------------------------------------------- solutions and books
def _solution(game: Any) -> tuple[Callable[[Path], None], Callable[[Path], Any]]:
    def read(path: Path) -> Any:
        from mdplay import Solution

        found = Solution.load(path, game)
        return [found.states, found.value(), [found.choices(game.step(game.initial(), a)) for a in range(1)]]

    return lambda path: solve(game).save(path), read


def _make_book(path: Path) -> None:
    from mdplay.solving.proof.book import make_book

    make_book(FOUR, 2, path)


def _read_book(path: Path) -> Any:
    from mdplay.solving.proof.book import load_book

    book = load_book(path, FOUR)
    return [book.plies, book.rows, book.scores]


def _qubic_rows() -> Any:
    from mdplay.games.qubic.book import StrategyBook, shipped_book

    book = shipped_book()
    return StrategyBook(book.attackers[:200], book.defenders[:200], book.cells[:200])


def _make_qubic(path: Path) -> None:
    from mdplay.games.qubic.book import write_book

    write_book(path, _qubic_rows())


def _read_qubic(path: Path) -> Any:
    from mdplay.games.qubic.verify import read_rows, verify

    rows = read_rows(path)
    verify(rows)
    return rows


def _make_proof(path: Path) -> None:
    from mdplay.storage.arrays import save

    book = _qubic_rows()
    arrays = {"attackers": book.attackers, "defenders": book.defenders, "cells": book.cells}
    save(path, arrays, kind="qubic-proof", meta={"start": [1, 0], "failed": [[1, 2, 0, 100]]})


def _read_proof(path: Path) -> Any:
    from mdplay.games.qubic.proof import ProofSettings, StrategyProver

    prover = StrategyProver(ProofSettings(slots=1 << 12))
    prover.resume(path)
    return [prover.table, sorted(prover.failed)]


# ---------------------------------------------------------------- learning
def _training(method: str) -> Any:
    from mdplay.games.twenty48.training import TilesTraining, TrainingSettings

    training = TilesTraining.begin(TrainingSettings(method=method, network="0123,012,048c"))
    training.network.weights[:] = np.arange(training.network.weights.size)
    training.scores, training.moves = (np.arange(50, dtype=np.int32) for _ in range(2))
    training.tiles = np.arange(50, dtype=np.uint8) % 11
    return training


def _read_training(path: Path) -> Any:
    from mdplay.games.twenty48.rules import State
    from mdplay.games.twenty48.training import TilesTraining

    found = TilesTraining.load(path)
    network = found.network
    assert len(found.curve) == 1
    return [found.settings, network.weights, found.coherence, found.scores, network.estimate(State(0x1234, 0))]


def _make_tuple_network(path: Path) -> None:
    from mdplay.games.tic_tac_toe.rules import TicTacToe
    from mdplay.learning.training import NetworkTraining, Settings

    training = NetworkTraining.begin(TicTacToe(), Settings("0-1-2,0-4-8", 3.0))
    training.network.weights[:] = np.arange(training.network.weights.size)
    training.add_point()
    training.save(path)


def _read_tuple_network(path: Path) -> Any:
    from mdplay.games.tic_tac_toe.rules import TicTacToe
    from mdplay.learning.training import NetworkTraining

    found = NetworkTraining.load(path, TicTacToe())
    found.text(), [point.line() for point in found.curve]
    return [found.settings, found.network.weights, found.coherence, found.episodes, found.curve]


def _make_network(path: Path) -> None:
    from mdplay.games.twenty48.files import write_network

    write_network(path, _training("td").network)


def _read_network(path: Path) -> Any:
    from mdplay.games.twenty48.files import read_network
    from mdplay.games.twenty48.rules import State

    network = read_network(path)
    return [network.tuples, network.weights, network.estimate(State(0x1234, 0))]


def _make_points(path: Path) -> None:
    from mdplay.learning.cell_counting import learn_utilities

    learn_utilities(TTT, episodes=(50, 100)).save(path)


def _read_points(path: Path) -> Any:
    from mdplay.learning.cell_utilities import PointsAgent

    agent = PointsAgent(TTT, str(path))
    return [agent.utilities, agent.values(TTT.initial())]


# ---------------------------------------------------------------- the rest
def _read_game(path: Path) -> Any:
    name = name_of(make(str(path)))
    sys.modules.pop(path.stem, None)
    return name[1]


def _make_step(path: Path) -> None:
    from mdplay.lab.reproduction.steps import Figure, ResultTable, Step, run_step

    figure = Figure(
        "title", "command", "text", {"x": 1.5}, ResultTable(["a"], [["1"]]), (b"png", b"dark"), "<svg/>"
    )
    run_step(Step(path.stem, lambda show: figure), path.parent, lambda done: None)


def _read_step(path: Path) -> Any:
    from mdplay import __version__
    from mdplay.lab.reproduction.steps import _kept

    return _kept(path, {"version": __version__})


def _text(content: str) -> Callable[[Path], None]:
    return lambda path: path.write_text(content) and None


FORMATS = {
    "mdp": Format(".txt", _text(MDP_TEXT), _read_mdp),
    "mdp by two readers": Format(".txt", _text(MDP_TEXT), _read_mdp_twice),
    "DRN": Format(".drn", _text(DRN_TEXT), _read_drn),
    "explicit MDP": Format(".tra", _text(TRA_TEXT), _read_tra),
    "MDP shard": Format(".mdp", _make_shard, _read_shard, sealed=True),
    "actions": Format(".txt", _text("0\n2\n0\n0\n0\n0\n"), _read_actions),
    "states": Format(".txt", _make_states, _read_states),
    "policy": Format(".txt", _make_policy, _read_policy),
    "values": Format(".txt", _text("0.5 4\n0.25 2\n-1 8\n0 0\n0 0\n"), _read_decoded),
    "record": Format(".jsonl", lambda path: save_records(path, _records()), _read_records),
    "results": Format(".db", _make_results, _read_results),
    "SGF": Format(".sgf", *_foreign(FOUR)),
    "strings of moves": Format(".moves", *_foreign(FOUR)),
    "runs of 2048": Format(".2048", *_foreign(SMALL)),
    "openings": Format(".txt", _text("000010000\nmoves:0,1,2\n000000000\n"), _read_openings),
    "hashed solution": Format(".solution", *_solution(TTT), sealed=True),
    "table solution": Format(".solution", *_solution(DOTS), sealed=True),
    "chance solution": Format(".solution", *_solution(SMALL), sealed=True),
    "opening book": Format(".book", _make_book, _read_book, sealed=True),
    "qubic book": Format(".txt", _make_qubic, _read_qubic),
    "packed qubic book": Format(".gz", _make_qubic, _read_qubic, sealed=True),
    "qubic proof": Format(".checkpoint", _make_proof, _read_proof, sealed=True),
    "checkpoint": Format(".safetensors", lambda path: _training("td").save(path), _read_training, sealed=True),
    "coherent checkpoint": Format(".tc", lambda path: _training("tc").save(path), _read_training, sealed=True),
    "network of tuples": Format(".safetensors", _make_tuple_network, _read_tuple_network, sealed=True),
    "network": Format(".safetensors", _make_network, _read_network, sealed=True),
    "network of TDL2048": Format(".w", _make_network, _read_network),
    "network of TDL2048-Demo": Format(".bin", _make_network, _read_network),
    "points": Format(".json", _make_points, _read_points),
    "game": Format(".py", _text(NIM), _read_game),
    "figure": Format(".json", _make_step, _read_step),
}


# ---------------------------------------------------------------- the child
def _digest(value: Any) -> str:
    """Return a text that differs whenever the content does."""
    total = hashlib.sha256()
    for item in value if isinstance(value, list) else [value]:
        total.update(item.tobytes() if isinstance(item, np.ndarray) else repr(item).encode())
    return total.hexdigest()[:16]


def answer(kind: str, path: Path) -> dict[str, Any]:
    """Read a file and say how that ended."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return {"read": _digest(FORMATS[kind].read(path))}
    except MdplayError as error:
        return {"refused": str(error)}
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        return {"broke": f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})"[:300]}


def main() -> None:
    """Answer requests until the input ends."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else prints does not answer
    for line in sys.stdin:
        request = json.loads(line)
        if request["kind"] == "ready":
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
            found: dict[str, Any] = {"ready": True}
        else:
            found = answer(request["kind"], Path(request["path"]))
        print(json.dumps(found), file=out, flush=True)


if __name__ == "__main__":
    main()
