"""Engines: programs that choose moves, spoken to in lines of JSON, in the manner of UCI.

protocol.py       the lines: their fields, read within bounds     docs/engine.md, schema.json
server.py         mdplay as an engine                             ``mdplay engine``
thinking.py       what it does between go and bestmove
process.py        an engine as a process: asked with a deadline, ended for certain
agent.py          an engine as an agent                           ``engine:COMMAND``
"""
