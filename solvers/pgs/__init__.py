"""Projected Gauss-Seidel."""

from mcpframe.solvers.pgs.method import PGS as PGS
