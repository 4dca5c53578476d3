"""Learning: networks by self-play, utilities of cells, learning curves, and reinforcement learning.

Games can register learners of their own.
"""
