"""A contact law of one's own: a film of oil, in every formulation."""

import numpy as np
from pydantic import Field

import mcpframe as mf


@mf.register_contact_law
class Lubricated(mf.AbstractContactLaw):
    """A film of oil: the force against the slip is `viscosity` times its speed, whatever the normal force.

    beta = [F_n; f_1; f_2] and sigma = slip along t_1, t_2, with no bounds on f and sigma:

        v_n _|_ F_n >= 0,     t_i . v - sigma_i = 0,     f_i + viscosity dt sigma_i = 0.
    """

    name = "lubricated"
    viscosity: float = Field(1.0, ge=0.0, description="force per speed of slip, N s/m")

    def rows(self, contact: mf.Contact, dt: float) -> mf.LawRows:
        """Return rows with a free pair (f_i, sigma_i) for each tangent."""
        Wd = np.vstack([np.zeros((3, 3)), np.eye(3)])  # no moments; forces along n, t_1, t_2
        P = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        lower = (0.0, -np.inf, -np.inf)
        return mf.LawRows(Wd, -P.T, P, self.viscosity * dt * np.eye(2), beta_lower=lower, sigma_lower=-np.inf)


mass, c, dt, corners = 2.0, 3.0, 0.01, 4
state = mf.systems.box(mass=mass).state(theta_dot=[1.0, 0.5, 0, 0, 0, 0])
contacts = mf.systems.contacts_of(state, corners)
step = mf.ContactStep(state, contacts, dt, law={"name": "lubricated", "viscosity": c})
for name in mf.available_formulations():
    formulation = mf.formulation(name)
    problem, recovery = formulation.build(step)
    outcome = formulation.recover(recovery, mf.solve(problem, "lemke", throw=True))
    print(f"{name:8s} {problem.n:3d} rows, v+ = {outcome.theta_dot[:2].round(6)} m/s")
    assert np.allclose(outcome.theta_dot[:2], np.array([1.0, 0.5]) / (1.0 + corners * c * dt / mass))
