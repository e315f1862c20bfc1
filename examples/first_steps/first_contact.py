"""A box slides on the floor: one contact step in every formulation, then step by step until it rests."""

import numpy as np

import mcpframe as mf

mu, speed, g, dt = 0.5, 1.0, 9.81, 1e-3
model = mf.systems.box()  # or mf.load_urdf("robot.urdf", floating_base=True), or a Model of your own
state = model.state(theta_dot=[speed, 0, 0, 0, 0, 0])  # a free hinge: linear velocity, then angular
step = mf.ContactStep(state, mf.systems.contacts_of(state, 4, mu=mu), dt)  # the four lower corners

for name in mf.available_formulations():
    formulation = mf.formulation(name)
    problem, recovery = formulation.build(step)
    outcome = formulation.recover(recovery, mf.solve(problem, "lemke", throw=True))
    print(f"{name:8s} {problem.n:3d} rows, v+ = {outcome.theta_dot[0]:.6f} m/s, {outcome.modes[0]}")
    assert np.isclose(outcome.theta_dot[0], speed - mu * g * dt)

formulation, steps, way = mf.formulation("os"), 0, 0.0
while outcome.modes[0] != "sticking":
    contacts = mf.systems.contacts_of(state, 4, mu=mu)  # where the corners are now
    problem, recovery = formulation.build(mf.ContactStep(state, contacts, dt))
    outcome = formulation.recover(recovery, mf.solve(problem, throw=True))
    state.update(model.integrate(state.theta, outcome.theta_dot, dt), outcome.theta_dot)
    steps, way = steps + 1, way + dt * outcome.theta_dot[0]

print(f"at rest after {steps * dt:.3f} s and {way:.4f} m; Coulomb says {speed / mu / g:.3f} s", end=" ")
print(f"and {speed**2 / (2 * mu * g):.4f} m")
assert abs(steps * dt - speed / mu / g) < 2 * dt
assert abs(way - speed**2 / (2 * mu * g)) < 2 * dt * speed
