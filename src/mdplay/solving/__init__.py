"""Exact values: tables, proof search, policies and best responses behind one ``solve``.

solvers.py      ``solve``: the survey of a game, and the choice of a solver
solution.py     ``Solution``: what ``solve`` returns
values.py       ``Table``: the base class of all tables; ``to_arrays`` of each says which arrays are saved
files.py        solution files: saved, read and resumed
hashed.py, indexed.py, subset.py    backward induction (kernels of hash tables: hashed_kernel.py)
retrograde.py, stochastic.py        games with cycles: retrograde analysis, value iteration
policies.py, responses.py, responding.py    policy iteration, best responses, exploitability
proof/          proof search of single positions, and opening books
"""
