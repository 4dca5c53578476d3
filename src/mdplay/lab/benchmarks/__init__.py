"""Speed beside other libraries: the same work in turns, answers compared, processor time; ``mdplay bench``."""
