"""Threads, signals, memory and executors."""
