"""Beyond games: plan, bandits, learn, tournament, records, the reproduction."""
