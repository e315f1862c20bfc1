"""A nonlinear problem with a parameter: a spring that hardens, pressed against a stop.

The spring pulls with k z + z^3 = p until the stop at z = 1 takes the rest of the load.
"""

import casadi
import numpy as np

import mcpframe as mf

z, p = casadi.SX.sym("z"), casadi.SX.sym("p")
F = casadi.Function("F", [z, p], [2 * z + z**3 - p])
problem = mf.MCP(F, lower=0.0, upper=1.0, p=0.0)

z0 = np.zeros(1)
for load in np.linspace(0.0, 4.0, 9):
    solution = mf.solve(problem.with_parameters([load]), "path", z0=z0, throw=True)
    z0 = solution.z  # each load starts from the answer of the one before
    print(f"load {load:.1f}: z = {solution.z[0]:.4f}, the stop carries {max(0.0, -solution.w[0]):.4f}")
assert np.isclose(-solution.w[0], 1.0)
