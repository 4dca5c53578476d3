"""The page: a server on this machine for people who play and look on, ``mdplay serve``.

It holds no algorithm, and the server computes nothing: it asks a worker, in a process of its own, which asks the
package, and passes on what is told.

    serving.py   ``serve``: the server, its address, its end
    app.py       the application: the API, the page and its files
    service.py   what all routes work with
    safety.py    what is refused before it is read
    refusing.py  what is refused when it was read
    numbers.py   numbers on their way to the page
    games/       the API of games: the catalogue, positions as they are asked for, values in words, agents, records
    labs/        the API beyond games: plan, bandits, learn, tournament, reproduction
    work/        the worker: what it is asked, who it is, its jobs told as streams; the children that compile
    static/      the page itself: modules, styles, no build

A request goes from a route (``games/routes.py``) through ``service.py`` to the pool (``work/pool.py``) and whoever
does it (``work/doers.py``), by default the worker's process (``work/worker.py``).  There a function of its kind
(``games/answering.py``) returns the work, and a job (``work/jobs.py``) tells of it.  What is told comes back the
same way, as a stream (``work/streams.py``).
"""
