"""Exact answers: tables, proof search, policies and best responses behind one ``solve``."""
