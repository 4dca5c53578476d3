"""The worker, and what the server has of it.

On the server's side                                In the worker
pool.py        the requests under way               worker.py     who does requests, and the process
doers.py       a worker in a process, in threads    jobs.py       work that tells events, in a thread
on_executor.py   searches by an executor's workers      workshop.py   kernels compiled in processes of their own
streams.py     what is told, on to the client       child.py      what such a process does
"""
