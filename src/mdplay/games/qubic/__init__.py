"""Qubic: its rules, threats, the proof of the first player's win with its book and checker, agents, a network."""

from pathlib import Path

from mdplay.games.qubic.rules import Qubic
from mdplay.naming.registry import register_extras

register_extras(
    Qubic,
    evaluators={"book": "mdplay.games.qubic.agents:BookEvaluator"},
    agents={
        "perfect": "mdplay.games.qubic.agents:QubicPerfectAgent",
        "threats": "mdplay.games.qubic.agents:ThreatsAgent",
    },
    networks={"": Path(__file__).with_name("qubic.network")},
    proofs={
        "prove": "mdplay.games.qubic.proof:prove",
        "verify": "mdplay.games.qubic.verify:verify_book",
    },
)

__all__ = ["Qubic"]
