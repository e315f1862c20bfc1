"""Friction on the exact cone."""

from mcpframe.solvers.cone.method import Cone as Cone
