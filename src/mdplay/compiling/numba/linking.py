"""How kernels are put together: a part is lowered once, and optimised only inside of the kernels that use it.

numba makes a library of every function: with wrappers for Python and all functions that it calls linked in, it is
optimised twice and translated into machine code, before its caller does the same again.  But parts are called by
kernels only.  So the library of a part consists of its LLVM code, and a kernel links all parts that it reaches,
each once, and optimises them together.

Code for features that a game lacks is not compiled: ``if game.has_outcomes:`` is decided before type inference.

A parameter or flag of a game is a constant of its type.  Where it is a bool, this pass writes it as such into
numba's intermediate representation.  Then numba itself removes the branches that are never taken, and what only
they call is never compiled.
"""

from __future__ import annotations

import operator
import secrets
from functools import partial
from typing import Any

from llvmlite.binding import address_of_symbol, parse_assembly
from numba import njit
from numba.core import ir, types
from numba.core.bytecode import FunctionIdentity
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.consts import ConstantInference
from numba.core.environment import lookup_environment
from numba.core.ir_utils import build_definitions, get_definition, guard
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.untyped_passes import InlineClosureLikes, ReconstructSSA

from mdplay.compiling.cache import LIVE
from mdplay.compiling.numba.instances import ASKED, InstanceType
from mdplay.errors import GameError


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


ENVIRONMENT = "_ZN08NumbaEnv"  # how the names of environments begin
NUMBER_BITS = 62

# numba counts the functions of a process to tell those of one name apart, and the number is in the machine code's
# names.  A kernel is loaded beside kernels of other processes, which had counted the same: a function that is not
# inlined would be taken for the other one of its name.
FunctionIdentity._unique_ids = iter(partial(secrets.randbits, NUMBER_BITS), None)


class _NoEnvironments:
    """What numba's target gets for the code generator of a part: only machine code has environments to set."""

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""


class PartLibrary(JITCodeLibrary):
    """The code of a part, without what it calls and without machine code."""

    _whole: Any = None

    @property
    def codegen(self) -> Any:
        """The code generator, as numba's target asks for it."""
        return _NoEnvironments()

    def finalize(self) -> None:
        """End the part: nothing can be added any more."""
        self._raise_if_finalized()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        self._ensure_finalized()
        return 0

    def _get_module_for_linking(self) -> Any:
        """Return the part with all that it calls, for a library of numba's own."""
        if self._whole is None:
            self._whole = parse_assembly(str(self._codegen._create_empty_module(self.name)))
            _link(self._whole, _reached(self))
        return self._whole


class KernelLibrary(JITCodeLibrary):
    """The code of a kernel with all its parts."""

    def finalize(self) -> None:
        """Link the parts that are reached, optimise all of it, make machine code."""
        reached = _reached(self)[1:]
        self._reload_init.update(*(one._reload_init for one in reached))
        _link(self._final_module, reached)
        self._refuse_circles()
        self._linking_libraries: list[Any] = []  # all of them are in it now
        super().finalize()
        self._set_environments()

    def _refuse_circles(self) -> None:
        """Raise GameError if a part calls itself by way of another: its address would be sought when it runs.

        By then it is inlined and gone, and numba does not look for it in machine code that is loaded.
        """
        if any(one.name.startswith(RuntimeLinker.PREFIX) for one in self._final_module.global_variables):
            raise GameError(f"{self.name} does not compile: parts of it call each other in a circle; write a loop")

    def _optimize_final_module(self) -> None:
        """Optimise twice: what is inlined the first time leaves more to do, two to three per cent of the speed."""
        super()._optimize_final_module()
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)

    def _set_environments(self) -> None:
        """Set the environments of the parts; numba sets the kernel's own."""
        for variable in self._final_module.global_variables:
            found = lookup_environment(variable.name) if variable.name.startswith(ENVIRONMENT) else None
            if found is not None:
                self._codegen.set_env(variable.name, found)


def _reached(library: Any) -> list[Any]:
    """Return a library and the libraries that it reaches, each once; numba's own bring theirs along."""
    found, ahead = {library: None}, [library]
    while ahead:
        for one in ahead.pop()._linking_libraries:
            if one not in found:
                found[one] = None
                if isinstance(one, PartLibrary):
                    ahead.append(one)
    return list(found)


def _link(module: Any, libraries: list[Any]) -> None:
    """Link libraries into a module.

    A part's functions are linked as they are: LLVM would leave out one that is not called so far.  After that
    there may be copies of them in other libraries, and they may be left out where all calls are inlined.  numba's
    own libraries come after all parts: LLVM leaves out of them what is not called so far.
    """
    names: list[str] = []
    for one in sorted(libraries, key=lambda one: not isinstance(one, PartLibrary)):
        if isinstance(one, PartLibrary):
            names += [function.name for function in one.get_defined_functions()]
            module.link_in(one._final_module, preserve=True)
        else:
            module.link_in(one._get_module_for_linking(), preserve=True)
    for name in names:
        module.get_function(name).linkage = "linkonce_odr"


class _WithLibrary(Compiler):
    library_class: type[JITCodeLibrary]

    def define_pipelines(self) -> Any:
        """Return numba's own passes, which write into a library of ours, and the one that folds flags."""
        if self.state.library is None:
            name = self.state.func_id.func_qualname
            self.state.library = self.library_class(self.state.targetctx.codegen(), name)
            self.state.library.enable_object_caching()
        pipelines = super().define_pipelines()
        for passes in pipelines:
            fold_flags(passes)
        return pipelines


class PartCompiler(_WithLibrary):
    """Compiles a part."""

    library_class = PartLibrary


class KernelCompiler(_WithLibrary):
    """Compiles a kernel."""

    library_class = KernelLibrary


class _Part(CPUDispatcher):
    """A part: compiled for an int, whichever whole number it is given.

    numba would compile it for ``Literal[int](0)``, for the variable that begins as 0, and for the element of each
    kind of array.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the plain function returns: there is no machine code that Python could call."""
        return self.py_func(*args, **kwargs)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return what numba needs to know of a call."""
        named = {name: _widened(kind) for name, kind in dict(kws).items()}
        return super().get_call_template(tuple(map(_widened, args)), named)


def _widened(kind: Any) -> Any:
    """Return the type of 64 bits for a whole number that is narrower, or a literal."""
    if isinstance(kind, types.IntegerLiteral):
        return types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) and kind.bitwidth < 64 else kind


PART = {"pipeline_class": PartCompiler, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def part_of_kernels(function: Any, **options: Any) -> Any:
    """Return the dispatcher of a function that only kernels call; without a compiler the function itself."""
    dispatcher = njit(nogil=True, **PART, **options)(function)
    if dispatcher is not function:
        dispatcher.__class__ = _Part
    return dispatcher


# ---------------------------------------------------------------- what machine code needs of the process
def outside_names(library: Any) -> list[str]:
    """Return the names of the functions and variables that a library uses and does not define."""
    module = library._final_module
    declared = [one for one in (*module.functions, *module.global_variables) if one.is_declaration]
    return [one.name for one in declared if not one.name.startswith("llvm.")]


def make_ready(target: Any, outside: list[str]) -> None:
    """Let the process have what machine code needs that is to be loaded.

    numba would load all that it could compile with, scipy among it, which takes longer than many a question;
    machine code needs its runtime alone.  What that has not got is looked for in the rest.
    """
    rtsys.initialize(target)
    engine = target.codegen()._engine
    if not all(engine.is_symbol_defined(name) or address_of_symbol(name) for name in outside):
        target.refresh()
