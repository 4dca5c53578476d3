"""The part of the compiler that knows numba.

compiler.py     compiles, saves and loads kernels
linking.py      links the parts of a kernel, and folds the flags of a game into constants
instances.py    games as types, annotations as types
methods.py      ``game.legal(s)`` in compiled code
rewriting.py    generator expressions as loops
numbers.py      the methods and functions of Python's integers
vectors.py      eight 4 x 4 boards in one vector

`PRIVATE` lists every private attribute of numba that these modules use.  Private attributes may change in any
release, so ``pyproject.toml`` has an upper bound for numba; a test looks up each entry and names those that are
missing.
"""

PRIVATE = {  # attribute, by its module in numba.core -> what it is used for
    "bytecode.FunctionIdentity._unique_ids": "gets random numbers, so that processes name functions differently",
    "cgutils._StructProxy._getvalue": "returns the LLVM value of an array without its reference count",
    "codegen.CPUCodegen._create_empty_module": "creates the module of a part with all that it calls",
    "codegen.CPUCodegen._engine": "knows which symbols the process has",
    "codegen.CPUCodegen._module_pass_manager": "optimizes a kernel for the second time",
    "codegen.JITCodeLibrary._codegen": "creates modules and pass managers",
    "codegen.JITCodeLibrary._ensure_finalized": "checks that a library of a part is complete",
    "codegen.JITCodeLibrary._final_module": "is the LLVM module that parts are linked into",
    "codegen.JITCodeLibrary._finalized": "marks the library of a part as complete",
    "codegen.JITCodeLibrary._get_module_for_linking": "is overridden to return a part with all that it calls",
    "codegen.JITCodeLibrary._linking_libraries": "lists the libraries that a library calls",
    "codegen.JITCodeLibrary._optimize_final_module": "is overridden to optimize twice",
    "codegen.JITCodeLibrary._raise_if_finalized": "checks that the library of a part is not complete yet",
    "codegen.JITCodeLibrary._reload_init": "lists the functions that a loaded kernel calls first",
    "compiler.CompileResult._rebuild": "makes a loaded kernel callable",
    "compiler.CompileResult._reduce": "returns what is saved of a kernel",
    "dispatcher.Dispatcher._cache": "is replaced by the cache of mdplay",
    "extending._Intrinsic._defn": "is numba's own definition of int()",
    "ir.FunctionIR._consts": "is computed again after flags were folded",
    "ir.FunctionIR._definitions": "is computed again after flags were folded",
    "typing.context.BaseContext._insert_global": "lets numba try mdplay's instructions before its own functions",
    "typing.context.BaseContext._lookup_global": "finds numba's own functions of the same name",
    "typing.context.BaseContext._remove_global": "removes them, to enter them again behind the instructions",
    "typing.typeof._numba_type_": "is the attribute of a plain function that numba asks for its type",
}
