"""Plan: an MDP of the text form, planned and told."""

from __future__ import annotations

import re
from typing import Any

import mdplay

import numpy as np

from mdplay.errors import MdplayError
from mdplay.mdp.formats.cs747 import parse_mdp
from mdplay.mdp.result import Plan
from mdplay.web.labs.limits import Deadline
from mdplay.web.numbers import plain, plain_list
from mdplay.web.work.jobs import Job, notice_of
from mdplay.web.work.workshop import Workshop

MAX_STATES = 100_000
PLAN_SECONDS = 60.0
NAME = "the text"  # of the MDP in messages
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


def tell_plan(job: Job, workshop: Workshop, body: bytes, method: str, tolerance: float) -> None:
    """Plan in an MDP of the text form and tell values, actions, bounds and residuals."""
    try:
        model = parse_mdp(body, name=NAME, max_states=MAX_STATES)
    except MdplayError as error:
        message = QUOTED.sub("that", str(error)).removeprefix(f"{NAME}, ")  # the line, not what stands in it
        job.emit("failed", {"message": message[:300]})
        return
    deadline = Deadline(job, PLAN_SECONDS)

    def show(sweeps: int, distance: float) -> None:
        deadline()
        job.emit("stats", {"sweeps": int(sweeps), "residual": plain(distance)})

    def work() -> Plan:
        return mdplay.plan(model, method, tolerance=tolerance, threads=1, show=show)

    task = {"kind": "plan", "text": body.decode("utf-8", "replace"), "method": method}
    found = workshop.done("the planner", task, work, check=job.check, notice=notice_of(job))
    job.emit("plan", plan_document(model, found))


def plan_document(model: Any, found: Plan) -> dict[str, Any]:
    """Return a plan for the page; ``answer`` is the text that ``mdplay plan`` prints.

    The reason is why ``auto`` chose the method.  It speaks of the states of finite value, so it is left out where
    others are infinite.
    """
    actions, infinite = found.action.clip(min=0).tolist(), len(found.infinite)
    return {
        "states": int(model.num_states),
        "transitions": int(model.num_transitions),
        "discount": float(model.discount),
        "terminal": np.flatnonzero(model.terminal).tolist(),
        "method": found.method,
        "reason": "" if infinite or found.reason == "as asked" else found.reason,
        "infinite": infinite,
        "iterations": int(found.iterations),
        "seconds": found.seconds,
        "tolerance": found.tolerance,
        "gap": plain(found.gap),
        "closed": bool(found.closed),
        "undecided": found.undecided.tolist(),
        "history": [[int(sweep), plain(residual)] for sweep, residual in found.history[-500:]],
        "value": plain_list(found.value),
        "action": found.action.tolist(),
        "lower": plain_list(found.lower),
        "upper": plain_list(found.upper),
        "answer": "".join(f"{v:.9f} {a}\n" for v, a in zip(found.value.tolist(), actions, strict=True)),
    }
