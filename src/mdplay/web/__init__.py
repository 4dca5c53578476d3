"""The web app: a local server for ``mdplay serve``.

It contains no algorithm.  The server passes requests to a worker process, which calls the package, and streams the
results to the browser.

    app.py       ``serve`` and the application: the API, the page and its files
    service.py   the objects that all routes use
    safety.py    requests that are refused, before and after they are read
    games/       the API of games: routes.py (``listing`` makes the list of games), catalogue.py (games and
                 agents on offer), requests.py (positions), events.py (evaluations and searches)
    labs/        the API beyond games: planning, bandits, learning, tournaments, reproduction
    work/        the worker process, its jobs and streams, and the processes that compile
    static/      the page: modules and style sheets, without a build step

A request goes from a route (``games/routes.py``) through ``service.py`` to the pool of ``work/backends.py``, which
passes it to the worker process (``work/worker.py``) or to an executor.  There a function for this kind of request
(``games/events.py``) returns the work, and a job (``work/jobs.py``) runs it.  Its events return as a stream.
"""
