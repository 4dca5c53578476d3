"""What a game has not got is not compiled: ``if game.has_outcomes:`` is decided before numba looks at types.

A parameter or flag of a game is a constant of its type.  Where it is a bool, this pass writes it as such into
numba's intermediate representation.  Then numba itself removes the branches that are never taken, and what only
they call is never compiled.
"""

from __future__ import annotations

import operator
from typing import Any

from numba.core import ir
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.consts import ConstantInference
from numba.core.ir_utils import build_definitions, get_definition, guard
from numba.core.untyped_passes import InlineClosureLikes, ReconstructSSA

from mdplay.bridge.compiling.instances import ASKED, InstanceType
from mdplay.bridge.fingerprint import LIVE


@register_pass(mutates_CFG=False, analysis_only=False)
class FoldFlags(FunctionPass):
    """Write flags of games, and their negations, as constants."""

    _name = "fold_flags"

    def __init__(self) -> None:  # numba's own is abstract
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Return whether anything was folded."""
        code, folded = state.func_ir, False
        for block in code.blocks.values():
            for assign in block.find_insts(ir.Assign):
                found = _constant(state, assign.value)
                if found is not None:
                    assign.value, folded = found, True
        if folded:
            code._definitions = build_definitions(code.blocks)
            code._consts = ConstantInference(code)
        return folded


def _constant(state: Any, value: Any) -> Any:
    """Return the constant that an expression is, or None if it is none."""
    if not isinstance(value, ir.Expr) or value.op not in ("getattr", "unary"):
        return None
    source = guard(get_definition, state.func_ir, value.value)
    if value.op == "getattr":
        found = _flag(state, source, value.attr)
    else:
        negated = value.fn is operator.not_ and isinstance(source, ir.Const) and isinstance(source.value, bool)
        found = not source.value if negated else None
    return None if found is None else ir.Const(found, value.loc)


def _flag(state: Any, source: Any, name: str) -> bool | None:
    """Return the flag that a game among the arguments has by this name."""
    kind = state.args[source.index] if isinstance(source, ir.Arg) else None
    if not isinstance(kind, InstanceType):
        return None
    found = getattr(LIVE[kind.identity], name, None)
    if not isinstance(found, bool):
        return None
    ASKED[kind.identity].add(name)
    return found


def fold_flags(passes: Any) -> None:
    """Let a pipeline fold flags, before branches are removed for the first and for the last time."""
    passes.add_pass_after(FoldFlags, InlineClosureLikes)
    passes.add_pass_after(FoldFlags, ReconstructSSA)
    passes.finalize()
