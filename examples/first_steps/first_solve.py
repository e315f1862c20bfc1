"""A weight on the floor and a bouncing start: solve, look at the answer, swap the solver."""

import numpy as np

import mcpframe as mf

# m (v+ - v) = p - m g dt, with 0 <= v+ complementary to the impulse p >= 0.
mass, v, g, dt = 2.0, -0.3, 9.8, 0.01
problem = mf.MixedLCP([[1.0 / mass]], [v - g * dt])

for name, reason in mf.available_solvers().items():
    if reason:
        print(f"{name:8s} cannot run here: {reason}")
        continue
    solution = mf.solve(problem, name)
    if solution.status is mf.Status.UNSUPPORTED:
        print(f"{name:8s} {solution.message}")
        continue
    print(f"{name:8s} {solution.status.name:8s} p = {solution.z[0]:.6f} N s, v+ = {solution.w[0]:.1e} m/s")
    assert solution.ok
    assert np.isclose(solution.z[0], mass * (g * dt - v))
