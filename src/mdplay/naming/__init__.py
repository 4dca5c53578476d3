"""Names and texts: the registry of games, specifications, notation of moves and positions."""
