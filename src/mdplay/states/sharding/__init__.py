"""All states of a game by the workers of an engine, each of which has those with hashes of its own.

driver.py     enumerates, round after round            shard.py      the states of one worker
log.py        what a shard found, in files             layers.py     values from the last ply back to the first
"""
