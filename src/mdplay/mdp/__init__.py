"""Finite Markov decision processes: models, formats, planners with proven bounds."""

from __future__ import annotations

from mdplay.mdp.model import MDP
from mdplay.mdp.planning import Plan, evaluate, plan, verify

__all__ = ["MDP", "Plan", "evaluate", "plan", "verify"]
