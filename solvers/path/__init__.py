"""A PATH-like solver: Newton's method on the normal map, with pivoting inside."""

from mcpframe.solvers.path.method import Path as Path
