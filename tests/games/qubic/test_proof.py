"""Tests of ``mdplay.games.qubic.proof``.

Here are tested besides: ``mdplay.games.qubic.proof_kernels`` and ``mdplay.games.qubic.proof_kernels``.
"""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from mdplay.errors import FormatError, LimitError
from mdplay.games.qubic.proof import ProofSettings, StrategyProver, prove_qubic
from mdplay.games.qubic.rules import Qubic
from mdplay.games.qubic.verify import read_rows, verify
from mdplay.storage.arrays import save
from tests.helpers import ROOT

# Positions of the full proof, the defender to move, that are proved in moments.
TINY = (4121, 281474980904992)  # one answer, ten expansions
WIDE = (4398048673793, 9223372036854906944)  # 57 answers, about a thousand expansions
HARD = (5241, 274880021376)  # one answer; the first second move fails
SMALL = ProofSettings(slots=1 << 18)


def rows_of(book):
    return np.stack([book.attackers, book.defenders, book.cells.astype(np.uint64)], axis=1)


def holds(proof, start):
    return verify(rows_of(proof.book), start).verified


def test_a_tiny_proof_passes_the_checker():
    proof = StrategyProver(ProofSettings(slots=1 << 12), TINY).run()
    assert (proof.proved, proof.replies) == (1, 1)
    assert len(proof.book) == 2 and holds(proof, TINY)
    assert (proof.expansions, proof.threat_nodes) == (10, 1541)  # the same with and without the compiler


def test_a_proof_over_many_answers_passes_the_checker(needs_compiler):
    proof = StrategyProver(SMALL, WIDE).run()
    assert proof.proved == proof.replies == 57
    assert len(proof.book) > 10 and holds(proof, WIDE)
    assert proof.document()["verdict"] == "proved"


def test_the_search_repeats_itself(needs_compiler):
    first, second = (StrategyProver(SMALL, WIDE).run() for _ in range(2))
    assert first.book.text() == second.book.text()
    assert (first.expansions, first.threat_nodes) == (second.expansions, second.threat_nodes)


def test_there_are_twelve_answers_to_a_corner(needs_compiler):
    prover = StrategyProver(SMALL)
    assert len(prover.expand((1, 0))) == 12  # known: Qubic has 12 second moves after a rich first one
    game = Qubic()
    for k in range(0, 192, 7):  # the same canonical children from every image
        image = {child.position for child in prover.expand((game.moved(WIDE[0], k), game.moved(WIDE[1], k)))}
        assert image == {child.position for child in prover.expand(WIDE)}


def test_no_proof_is_claimed_where_the_limit_ends(needs_compiler):
    proof = StrategyProver(ProofSettings(slots=1 << 18, limit=5, rounds=1), HARD).run()
    assert proof.book is None and proof.proved == 0 and proof.document()["verdict"] == "open"


def test_a_lost_position_is_not_proved(needs_compiler):
    # the defender has three in a row and is to move
    proof = StrategyProver(
        ProofSettings(slots=1 << 18, limit=50, rounds=2), (1 << 63 | 1 << 62 | 1 << 21 | 1 << 40, 0b0111)
    ).run()
    assert proof.book is None


def test_a_full_table_forgets_what_is_open(needs_compiler):
    prover = StrategyProver(ProofSettings(slots=1 << 14), HARD)
    forgotten = []
    forget = prover.forget
    prover.forget = lambda: (forgotten.append(1), forget())
    proof = prover.run()
    assert forgotten and proof.book is not None and holds(proof, HARD)
    with pytest.raises(LimitError, match="does not fit"):
        StrategyProver(ProofSettings(slots=1 << 10), HARD).run()


class Killed(Exception):
    """Stands for a kill in the middle of a proof."""


def test_a_killed_proof_goes_on_from_its_checkpoint(tmp_path, needs_compiler):
    checkpoint = tmp_path / "proof.checkpoint"

    def kill(proved, replies):
        if proved > 40:
            raise Killed

    with pytest.raises(Killed):
        prove_qubic(checkpoint, settings=SMALL, start=WIDE, save_seconds=0.0, pause=kill)
    assert checkpoint.exists()
    resumed = StrategyProver(SMALL, WIDE)
    resumed.resume(checkpoint)
    assert len(resumed.proved_by_search()) > 0
    proof = prove_qubic(checkpoint, settings=SMALL, start=WIDE)
    assert proof.proved == 57 and holds(proof, WIDE)
    assert not checkpoint.exists()  # the work is done


def test_failed_second_moves_are_not_tried_again(tmp_path, needs_compiler):
    checkpoint = tmp_path / "proof.checkpoint"
    first = StrategyProver(SMALL, HARD)
    first.run()
    assert first.failed
    first.save(checkpoint)
    second = StrategyProver(SMALL, HARD)
    second.resume(checkpoint)
    assert second.failed == first.failed
    assert second.run().expansions < 1000


def test_checkpoints_of_another_proof_are_refused(tmp_path, needs_compiler):
    checkpoint = tmp_path / "proof.checkpoint"
    StrategyProver(SMALL, HARD).save(checkpoint)
    with pytest.raises(FormatError, match="another proof"):
        StrategyProver(SMALL, WIDE).resume(checkpoint)
    save(checkpoint, {}, kind="network")
    with pytest.raises(FormatError, match="holds a network"):
        StrategyProver(SMALL, WIDE).resume(checkpoint)


@pytest.mark.slow
def test_the_whole_proof_survives_kills_and_is_verified(tmp_path):
    book = tmp_path / "book.txt"
    command = [sys.executable, "-m", "mdplay", "prove", "qubic", "--out", str(book), "--save-every", "1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    for _ in range(3):
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 600
        before = _changed(book)
        while process.poll() is None and _changed(book) == before and time.monotonic() < deadline:
            time.sleep(0.2)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not book.exists()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "12 of 12 answers proved" in done.stdout
    verdict = verify(read_rows(book))
    assert verdict.verified, verdict.gap


def _changed(book):
    checkpoint = book.with_name(book.name + ".checkpoint")
    return checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0


@pytest.mark.parametrize(
    "name, value",
    [
        ("cells", np.array([64])),
        ("cells", np.array([-1])),
        ("cells", np.array([1.0])),
        ("cells", np.array([1, 2])),
        ("cells", None),
        ("attackers", np.zeros((1, 1), np.uint64)),
        ("failed", 7),
        ("failed", [[1, 2]]),
        ("failed", None),
        ("start", 7),
        ("start", None),
    ],
)
def test_a_forged_checkpoint_is_refused(tmp_path, name, value):
    arrays = {
        "attackers": np.ones(1, np.uint64),
        "defenders": np.ones(1, np.uint64),
        "cells": np.ones(1, np.int64),
    }
    meta = {"start": list(TINY), "failed": []}
    holder = arrays if name in arrays else meta
    holder[name] = value
    if value is None:
        del holder[name]
    save(tmp_path / "forged", arrays, kind="qubic-proof", meta=meta)
    with pytest.raises(FormatError):
        StrategyProver(ProofSettings(slots=1 << 12), TINY).resume(tmp_path / "forged")
