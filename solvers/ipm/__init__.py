"""Primal-dual interior point."""

from mcpframe.solvers.ipm.method import IPM as IPM
