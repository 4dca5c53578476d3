"""Search: Monte Carlo trees, depth-limited search, random games, and the selectors of both."""
