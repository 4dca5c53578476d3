"""All states of a game by the workers of an engine, each of which has those with hashes of its own.

driver.py enumerates, round after round; shard.py is the states of one worker; log.py what it found, in files.
"""
