"""Lemke's complementary pivoting."""

from mcpframe.solvers.lemke.method import Lemke as Lemke
