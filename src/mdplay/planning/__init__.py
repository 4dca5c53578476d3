"""Finite Markov decision processes: models, formats, planners with proven bounds."""

from __future__ import annotations

from mdplay.planning.mdp import MDP
from mdplay.planning.planner import Plan, evaluate_policy, plan, verify

__all__ = ["MDP", "Plan", "evaluate_policy", "plan", "verify"]
