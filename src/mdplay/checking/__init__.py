"""Does a game keep its contract?  Random games in plain Python, then the compiled rules are asked the same."""
