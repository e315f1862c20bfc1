"""Semismooth Newton."""

from mcpframe.solvers.newton.method import Newton as Newton
