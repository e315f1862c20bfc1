"""Adaptive dynamics [G06]: bodies of which some joints move and the others are rigid for the time being."""
