"""Convex programming with cvxpy."""

from mcpframe.solvers.qp.method import QP as QP
