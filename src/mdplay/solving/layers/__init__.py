"""Exact solving in layers by the workers of an engine: driver.py drives, shard.py works."""
