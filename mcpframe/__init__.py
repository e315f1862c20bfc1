"""Contact dynamics of articulated systems as mixed complementarity problems.

>>> import mcpframe as mf
>>> mf.solve(mf.MixedLCP([[1.0]], [-9.8]), "lemke").z
array([9.8])
"""

from mcpframe.batch import solve_many
from mcpframe.config import Config, load_config, load_solver
from mcpframe.exceptions import (
    FileFormatError,
    McpframeError,
    NotSolvedError,
    OptionError,
    PluginError,
    ProblemError,
)
from mcpframe.friction import FrictionProblem
from mcpframe.io.corpus import Corpus
from mcpframe.io.fclib import load_fclib
from mcpframe.io.npz import load_problem, load_record, save_problem, save_solution
from mcpframe.layout import ContactBlocks, Layout
from mcpframe.plugin import AbstractFormulation, AbstractSolver, Request
from mcpframe.problem import MCP, MixedLCP
from mcpframe.registry import (
    available_formulations,
    available_solvers,
    formulation,
    register_formulation,
    register_solver,
    solver,
)
from mcpframe.solution import Claim, Solution, Status
from mcpframe.solve import solve

__version__ = "0.1.0"

__all__ = [
    "MCP",
    "AbstractFormulation",
    "AbstractSolver",
    "Claim",
    "Config",
    "ContactBlocks",
    "Corpus",
    "FileFormatError",
    "FrictionProblem",
    "Layout",
    "McpframeError",
    "MixedLCP",
    "NotSolvedError",
    "OptionError",
    "PluginError",
    "ProblemError",
    "Request",
    "Solution",
    "Status",
    "available_formulations",
    "available_solvers",
    "formulation",
    "load_config",
    "load_fclib",
    "load_problem",
    "load_record",
    "load_solver",
    "register_formulation",
    "register_solver",
    "save_problem",
    "save_solution",
    "solve",
    "solve_many",
    "solver",
]
