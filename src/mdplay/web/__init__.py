"""The page: a server on this machine for people who play and look on, ``mdplay serve``.

It holds no algorithm: it asks the package, in threads beside the event loop, and passes on what is told.

    serving.py    ``serve``: the server, its address, its end       app.py       the application and its pages
    catalogue.py  the games on offer                                routes.py    the API of games
    asking.py     a position as the page names it                   labs.py      the API of plans, bandits, ...
    words.py      values in words                                   safety.py    what is refused before it is read
    jobs.py       work beside the event loop, as streams            knowing.py   advisers, made once and kept
    telling.py    what advisers, searches and agents tell           child.py     the process that compiles
"""
