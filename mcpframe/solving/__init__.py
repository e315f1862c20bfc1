"""Solving: what plugins are, where they are found, and how a solver's claim becomes a solution."""
