"""Exact answers: counting and solving by enumeration."""
