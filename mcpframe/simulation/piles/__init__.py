"""Piles: islands of free bodies too large for dense problems, solved by the velocities of their bodies."""
