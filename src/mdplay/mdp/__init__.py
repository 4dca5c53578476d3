"""Finite Markov decision processes: models, formats, planners with proven bounds."""

from __future__ import annotations

from mdplay.mdp.planning.planner import evaluate_policy, plan, verify
from mdplay.mdp.process import MDP
from mdplay.mdp.result import Plan

__all__ = ["MDP", "Plan", "evaluate_policy", "plan", "verify"]
