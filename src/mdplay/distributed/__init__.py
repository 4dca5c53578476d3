"""Work beyond one process: the executors of ``mdplay.runtime.executors``.

opening.py      an executor from its name              sharing.py    large values, once for all workers
executor.py     what all executors do, and serial      keeping.py    answers of finished tasks, in files
actors.py       objects that live in workers
processes.py    worker processes of this machine     chunks.py     tasks done a few at a time
worker.py       what runs in such a process          on_ray.py     Ray, here or on a cluster
"""
