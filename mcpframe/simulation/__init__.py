"""Simulation: what a run leaves behind, and pictures of it.

A run hands blocks of steps to a `Recorder`, which keeps them in memory or appends them to a file that a kill
cannot spoil; what comes out is a `Trajectory`. `plots` and `strip` draw it without a display.
"""
