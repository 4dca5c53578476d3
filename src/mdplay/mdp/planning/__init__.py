"""Planners of models, with bounds that prove how good their answers are.

planner.py          plan, evaluate a policy, verify       methods.py          the methods, by their names
bounds.py           proof with a discount below 1         undiscounted.py     without a discount; graph.py helps
backends.py         who sweeps: plain_backend.py in numpy, compiled_backend.py with kernels.py and krylov.py
pool.py             threads that share a sweep            aside.py            what cannot be stopped
"""
