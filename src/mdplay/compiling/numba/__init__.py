"""The side of the bridge that knows numba.

compiler.py     kernels compiled, saved and loaded            word_type.py   U64, a word that cannot go wrong
instances.py    games as types, annotations as types          masks.py       bit masks and random words
methods.py      game.legal(s) in compiled code                states.py      states as words
rewriting.py    generator expressions as loops                numbers.py     what Python's whole numbers can do
memory.py       arrays without book-keeping                   vectors.py     eight boards in one vector
linking.py      parts put together in kernels                 emitting.py    functions as instructions
folding.py      what a game has not got is not compiled
"""
