"""The worker process and the server's side of it.

Server                                                     Worker
backends.py      requests in progress, worker processes    worker.py     the process and its requests
on_executor.py   searches by the workers of an executor    jobs.py       work in a thread that emits events
                                                           workshop.py   kernels compiled in separate processes
                                                           child.py      such a process
"""
