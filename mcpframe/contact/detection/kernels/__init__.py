"""Kernels of detection: pairs of shapes in closed form, the broad phase, and the loop over both."""
