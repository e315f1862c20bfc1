"""Solvers: each turns a complementarity problem into a claim (plugins of the group mcpframe.solvers)."""
