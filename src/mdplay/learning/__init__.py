"""Learning: n-tuple networks for 2048, temporal differences, curves."""
