"""Solvers: each turns a mixed complementarity problem into a claim (plugins of the group mcpframe.solvers)."""
