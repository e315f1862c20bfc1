"""`os` for compiled callers: a workspace that has held other contacts gives the problem of a new one."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.contact import RECORD
from mcpframe.contact.impact_step import ImpactStep
from mcpframe.contact.law import find_law, law_rows
from mcpframe.formulations.operational.stages import assemble, operational_stages, plan
from mcpframe.multibody.kernels.entries import NOTHING
from mcpframe.multibody.memory.loop_packing import pack_loops
from mcpframe.solving.stages import (
    A_AT,
    B_AT,
    CONTACT_ROWS,
    M_AT,
    N_COMPONENTS,
    N_ROWS,
    PROBLEM_HEAD,
    Q_AT,
    SOFTNESS,
)

CAPACITY, N_BALLS = 8, 4
ON_THE_FLOOR = [(k, -1) for k in range(N_BALLS)]
AGAINST_EACH_OTHER = [(k, k + 1) for k in range(N_BALLS - 1)]
SETS = {
    "all on the floor": ON_THE_FLOOR,
    "in a row": AGAINST_EACH_OTHER,
    "one on the floor": [(2, -1)],
    "floor and row": ON_THE_FLOOR + AGAINST_EACH_OTHER,
    "ends": [(0, -1), (3, -1)],
}


@pytest.fixture(scope="module")
def state():
    balls = [
        mf.Link(f"ball_{k}", pose=mf.Pose((k, 0.0, 0.5)), mass=1.0 + k, inertia=(0.1 + 0.05 * k) * np.eye(3))
        for k in range(N_BALLS)
    ]
    model = mf.Model(balls)
    rng = np.random.default_rng(3)
    return model.state(model.neutral(), rng.normal(size=model.n_dofs))


@pytest.fixture(scope="module")
def formulation(state):
    contact = mf.Contact("ball_0", "world", np.zeros(3), (0.0, 0.0, 1.0), mu=0.5)
    laws = [law_rows(find_law("coulomb"), contact, 1e-3, 4)]
    return operational_stages(state.model.tree.skeleton, pack_loops(state.model)[0], laws, laws, 1e-3)


def contacts_of(pairs):
    """Return contact rows (body A, body B, key, material) and records of pairs of balls, -1 the floor."""
    names = [*(f"ball_{k}" for k in range(N_BALLS)), "world"]
    made = [
        mf.Contact(
            names[a],
            names[b],
            (a + 0.5 * (b >= 0), 0.0, 0.5 * (b >= 0)),
            (-1.0, 0.0, 0.0) if b >= 0 else (0.0, 0.0, 1.0),
            mu=0.5,
        )
        for a, b in pairs
    ]
    rows = np.array([(a, b, key, 0) for key, (a, b) in enumerate(pairs)], dtype=np.int64)
    return rows.ravel(), np.concatenate([contact.record for contact in made]), made


def problem(state, space, pairs, shift=0.0):
    """Return M, q, A, b that the workspace gets for an impact at the contacts."""
    IR, XR = space
    IP = np.zeros(PROBLEM_HEAD + CAPACITY * CONTACT_ROWS, dtype=np.int64)
    rows, records, _ = contacts_of(pairs)
    assert records.size == len(pairs) * RECORD
    IE, XE = pack_loops(state.model)
    plan(state.I, IE, IR, XR, IP, rows, len(pairs))
    shifts = np.outer(np.full(len(pairs), shift), [1.0, 0.0, 0.0]).ravel()
    softness = np.zeros(SOFTNESS * len(pairs))
    assert assemble(state.I, state.X, IE, XE, IR, XR, records, shifts, softness, 0.0, NOTHING) == 0

    def read(count, matrix, vector):
        n = IP[count]
        parts = XR[IP[matrix] : IP[matrix] + n * n].reshape(n, n), XR[IP[vector] : IP[vector] + n]
        return [part.copy() for part in parts]

    return *read(N_ROWS, M_AT, Q_AT), *read(N_COMPONENTS, A_AT, B_AT)


@pytest.mark.parametrize("before", SETS)
@pytest.mark.parametrize("after", SETS)
def test_contacts_of_other_trees_leave_nothing_behind(state, formulation, before, after):
    used = formulation.room(CAPACITY)
    problem(state, used, SETS[before])
    fresh = problem(state, formulation.room(CAPACITY), SETS[after])
    for part, expected in zip(problem(state, used, SETS[after]), fresh, strict=True):
        np.testing.assert_array_equal(part, expected)


@pytest.mark.parametrize("which", SETS)
def test_the_problem_is_that_of_the_formulation_in_python(state, formulation, which):
    rebound, os = 0.25, mf.formulation("os")
    M, q, A, b = problem(state, formulation.room(CAPACITY), SETS[which], shift=-rebound)
    contacts = contacts_of(SETS[which])[2]
    step = ImpactStep(state, contacts, rebound=np.full(len(contacts), rebound))
    expected, rows = os.build(step)[0], os.rows(step)
    for part, other in ((M, expected.M), (q, expected.q), (A, rows.A), (b, rows.b)):
        np.testing.assert_allclose(part, other, atol=1e-12)
