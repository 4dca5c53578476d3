"""The page: a server on this machine for people who play and look on, ``mdplay serve``.

It holds no algorithm: it asks the package, in threads beside the event loop, and passes on what is told.

    serving.py   ``serve``: the server, its address, its end
    app.py       the application: the API, the page and its files
    service.py   what all routes work with
    safety.py    what is refused before it is read
    numbers.py   numbers on their way to the page
    games/       the API of games: the catalogue, positions as they are asked for, values in words, agents, records
    labs/        the API beyond games: plan, bandits, learn, tournament, reproduction
    work/        jobs beside the event loop, told as streams; the children that compile
    static/      the page itself: modules, styles, no build
"""
