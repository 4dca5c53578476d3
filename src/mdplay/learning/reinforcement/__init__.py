"""Reinforcement learning in finite MDPs, games and real-valued tasks, compared with the exact optimum."""

from __future__ import annotations

from mdplay.learning.reinforcement.experiment import Experiment, learn_task
from mdplay.learning.reinforcement.methods import METHODS, Method, make_method
from mdplay.learning.reinforcement.results import Curve
from mdplay.learning.reinforcement.rules import After, Rule
from mdplay.learning.reinforcement.tasks import FloatTask, Task

__all__ = [
    "METHODS",
    "After",
    "Curve",
    "Experiment",
    "FloatTask",
    "Method",
    "Rule",
    "Task",
    "learn_task",
    "make_method",
]
