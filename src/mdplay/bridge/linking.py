"""How kernels are put together: a part is lowered once, and optimised only inside of the kernels that use it.

numba makes of every function a library of its own: with wrappers that Python could call, all that it calls linked
in, optimised twice and translated into machine code, before its caller does the same again.  Nobody calls a part
but kernels.  So a part's library is nothing but its LLVM code, and a kernel's links all parts that it reaches,
each once, and optimises them together.
"""

from __future__ import annotations

from typing import Any

from numba import njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment

LINKAGE = "linkonce_odr"  # there may be another copy of it, and nobody may call it
ENVIRONMENT = "_ZN08NumbaEnv"  # how the names of environments begin


class _NoEnvironments:
    """What stands for the code generator of a part: its environment is set in the kernels."""

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""


class PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a part, not optimised and without machine code."""

    _whole: Any = None

    @property
    def codegen(self) -> Any:
        """The code generator as numba's target asks for it."""
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
        """Return the part with all that it calls, for a library that is not ours."""
        if self._whole is None:
            self._whole = self._final_module.clone()
            _link(self._whole, _reached(self)[1:])
        return self._whole


class KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel with all its parts."""

    def finalize(self) -> None:
        """Link the parts that are reached, optimise all of it, make machine code."""
        reached = _reached(self)[1:]
        self._linking_libraries = [one for one in reached if not isinstance(one, PartLibrary)]
        self._reload_init.update(*(one._reload_init for one in reached))
        _link(self._final_module, [one for one in reached if isinstance(one, PartLibrary)])
        super().finalize()
        self._set_environments()

    def _set_environments(self) -> None:
        for variable in self._final_module.global_variables:
            if variable.name.startswith(ENVIRONMENT):
                environment = lookup_environment(variable.name)
                if environment is not None:
                    self._codegen.set_env(variable.name, environment)


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
    """Link parts into a module; what they define may be there twice and be left out when nobody calls it."""
    names = []
    for one in libraries:
        if isinstance(one, PartLibrary):
            module.link_in(one._final_module, preserve=True)
            names += [function.name for function in one.get_defined_functions()]
        else:
            module.link_in(one._get_module_for_linking(), preserve=True)
    for name in names:
        module.get_function(name).linkage = LINKAGE


class _WithLibrary(Compiler):  # type: ignore[misc]
    library_class: type[JITCodeLibrary]

    def define_pipelines(self) -> Any:
        """Return numba's own passes, which write into a library of ours."""
        if self.state.library is None:
            name = self.state.func_id.func_qualname
            self.state.library = self.library_class(self.state.targetctx.codegen(), name)
            self.state.library.enable_object_caching()
        return super().define_pipelines()


class PartCompiler(_WithLibrary):
    """Compiles a part."""

    library_class = PartLibrary


class KernelCompiler(_WithLibrary):
    """Compiles a kernel."""

    library_class = KernelLibrary


PART = {"pipeline_class": PartCompiler, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def part_of_kernels(function: Any, **options: Any) -> Any:
    """Return the dispatcher of a function that only kernels call."""
    return njit(nogil=True, **PART, **options)(function)
