"""Functions that compiled code gets as instructions, where they stand.

numba's ``overload`` compiles a function of its own around an ``intrinsic``, and that takes 25 ms for each type of
arguments.  What is emitted costs nothing but its instructions, and knows the function that it is in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import types
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import lower_builtin

Choose = Callable[..., Any]  # (typing context, types of the arguments) -> signature and emitter, or None


def emitted(function: Callable[..., Any]) -> Callable[[Choose], Choose]:
    """Give a plain function its instructions; it is called without keywords.

    What is decorated gets the types of the arguments, and returns the signature and
    ``emit(context, builder, sig, args)``, or None if the function does not take these types.
    """

    def register(choose: Choose) -> Choose:
        @infer_global(function)
        class Template(AbstractTemplate):
            def generic(self, args: Any, kws: Any) -> Any:
                found = None if kws else choose(self.context, *args)
                return None if found is None else found[0]

        @lower_builtin(function, types.VarArg(types.Any))
        def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return choose(context.typing_context, *sig.args)[1](context, builder, sig, args)

        return choose

    return register
