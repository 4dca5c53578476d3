"""Learning: the verb, its common result, utilities of points.  Games bring learners of their own."""
