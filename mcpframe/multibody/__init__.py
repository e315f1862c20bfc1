"""Multibody models: links, hinges, loop closures, states, and the spatial operators on them."""

from mcpframe.multibody.closures import Ball, Closure, Distance, Gear, Pin, Weld, closure_rows
from mcpframe.multibody.model.hinge import Hinge
from mcpframe.multibody.model.link import Link
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.projection import project_loops, project_rates
from mcpframe.multibody.rows import Rows, hinge_constraint_rows, hinge_rate_rows

__all__ = [
    "Ball",
    "Closure",
    "Distance",
    "Gear",
    "Hinge",
    "Link",
    "Model",
    "Node",
    "Pin",
    "Rows",
    "Weld",
    "closure_rows",
    "hinge_constraint_rows",
    "hinge_rate_rows",
    "project_loops",
    "project_rates",
]
