"""Figures and tables of Sutton and Barto, "Reinforcement Learning" (2nd edition), one module for each chapter."""
