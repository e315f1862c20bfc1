"""Kernels: the O(N) sweeps over a tree, compiled."""
