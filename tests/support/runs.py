"""Runs to record and draw: a pendulum in free swing, with contacts made up on the way."""

import numpy as np

import mcpframe as mf
from mcpframe.simulation.recording.header import Header
from mcpframe.simulation.recording.steps import (
    NO_IMPACTS,
    SLIDING,
    SOLVED,
    STICKING,
    ContactTable,
    ImpactTable,
    StepBlock,
)

DT = 1e-2


def header(links=3, **parts):
    return Header(mf.systems.pendulum(links=links), solvers=("lemke", "auto"), seed=7, **parts)


def swing(model, n, theta=0.7, dt=DT):
    """n states of a model that falls freely, by semi-implicit Euler."""
    state = model.state(np.full(model.n_theta, theta) if model.n_theta == model.n_dofs else None)
    for k in range(n):
        state.update(time=k * dt)
        yield state
        rates = state.theta_dot + dt * state.free_acceleration()
        state.update(model.integrate(state.theta, rates, dt), rates)


def contact_rows(state, k):
    """k % 3 contacts of the links' centres with the world, and one between the first and last link."""
    n = k % 3
    ends = state.link_poses()[1]
    between = int(k % 4 == 3)
    bodies_a = [i % len(ends) for i in range(n)] + [0] * between
    bodies_b = [-1] * n + [len(ends) - 1] * between
    m = n + between
    return ContactTable(
        body_a=bodies_a,
        body_b=bodies_b,
        key=[10 * a + b for a, b in zip(bodies_a, bodies_b, strict=True)],
        point=np.array([ends[a] for a in bodies_a]).reshape(m, 3),
        normal=np.tile([0.0, 0.0, 1.0], (m, 1)),
        gap=np.full(m, -1e-9 * k),
        impulse=np.tile([0.01, 0.0, 0.1 + 1e-3 * k], (m, 1)),
        mode=[SLIDING if i else STICKING for i in range(m)],
    )


def impact_rows(state, k):
    if k % 5 != 4:
        return NO_IMPACTS
    energy = state.kinetic_energy()
    return ImpactTable(
        time=[state.time],
        n_contacts=[1],
        energy_before=[energy + 1.0],
        energy_compressed=[energy - 1.0],
        energy_after=[energy],
    )


def one_step(state, k):
    """Step k as a block: whatever a simulator would say of it."""
    contacts, impacts = contact_rows(state, k), impact_rows(state, k)
    solved = k > 0
    return StepBlock(
        time=[state.time],
        theta=[state.theta],
        theta_dot=[state.theta_dot],
        kinetic_energy=[state.kinetic_energy()],
        potential_energy=[state.potential_energy()],
        residual=[1e-12 * k if solved else np.nan],
        status=[SOLVED if solved else -1],
        solver=[k % 2 if solved else -1],
        iterations=[k],
        build_seconds=[1e-6 * solved],
        solve_seconds=[2e-6 * solved],
        recover_seconds=[3e-6 * solved],
        n_contacts=[len(contacts)],
        penetration=[1e-9 * k],
        drift=[1e-15],
        n_impacts=[len(impacts)],
        contacts=contacts,
        impacts=impacts,
    )


def steps(model, n):
    """The first n steps of a swing as one block."""
    return StepBlock.concatenate([one_step(state, k) for k, state in enumerate(swing(model, n))])


def assert_same_steps(found, expected):
    """Claim that two blocks agree bit by bit."""
    for one, other in (
        (found, expected),
        (found.contacts, expected.contacts),
        (found.impacts, expected.impacts),
    ):
        for (name, a), (_, b) in zip(one.items(), other.items(), strict=True):
            assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), name
