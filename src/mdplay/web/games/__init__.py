"""Games in the web app: the list of games, positions, the values of moves as text, and players."""
