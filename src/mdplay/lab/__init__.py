"""Reproduction of published results, and benchmarks."""
