"""Enumeration of every solution of a tiny problem."""

from mcpframe.solvers.enumeration.method import Enumeration as Enumeration
