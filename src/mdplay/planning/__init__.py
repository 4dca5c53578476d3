"""Finite Markov decision processes: models, formats, planners with proven bounds."""

from __future__ import annotations

from mdplay.planning.chain import Chain, policy_chain
from mdplay.planning.mdp import MDP
from mdplay.planning.planner import Plan, evaluate_policy, plan, verify

__all__ = ["MDP", "Chain", "Plan", "evaluate_policy", "plan", "policy_chain", "verify"]
