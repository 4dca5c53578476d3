"""Games as others write them.

converting.py   read, write and convert files of games     ``mdplay convert``
foreign.py      what a format of others is, and what they share
sgf.py          SGF in the manner of Little Golem

A game brings its formats (``mdplay.naming.registry.register_extras``: ``formats``), each a class derived from
``ForeignFormat``.
"""
