"""Planning in shards by the workers of an engine: driver.py drives, shard.py works, shards.py is the files."""
