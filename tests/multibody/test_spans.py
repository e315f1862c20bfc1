"""Kernels go through the trees that they are told of, and leave all others as they are."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.multibody.kernels import entries
from mcpframe.multibody.memory import records as rec

SEVERAL = 5


def flying(rng):
    """Return a state of free bodies, with forces at their hinges."""
    links = [mf.Link(f"body_{i}", mass=1.0 + i, inertia=np.diag([0.1, 0.2, 0.3])) for i in range(SEVERAL)]
    theta, rates = rng.normal(size=(SEVERAL, 7)), rng.normal(size=(SEVERAL, 6))
    theta[:, 3:] /= np.linalg.norm(theta[:, 3:], axis=1)[:, None]
    state = mf.Model(links).state(theta.ravel(), rates.ravel())
    rec.MEMORY.part(state.I, state.X, rec.TAU)[:] = rng.normal(size=rates.size)
    return state


def accelerate(I, X):
    """Place bodies, and accelerate them."""
    assert entries.free_dynamics(I, X, entries.NOTHING) == 0


@pytest.mark.parametrize("chosen", [[2], [0, 1], [0, 3, 4], [1, 2, 4]])
def test_bodies_outside_of_the_spans_are_left_untouched_to_the_bit(rng, chosen):
    state = flying(rng)
    I, X, whole = state.I.copy(), state.X.copy(), state.X.copy()
    accelerate(state.I, whole)
    rows = rec.MEMORY.part(I, X, rec.SPANS)
    I[rec.N_SPANS] = len(chosen)
    rows[: len(chosen)] = [(k, k + 1, 6 * k, 6 * k + 6) for k in chosen]
    accelerate(I, X)
    others = np.setdiff1d(np.arange(SEVERAL), chosen)
    for part, each in ((rec.BODIES, 1), (rec.THETA_DDOT, 6), (rec.DOFS, 6)):
        own, full, before = (
            rec.MEMORY.part(I, A, part).reshape(SEVERAL, each, -1) for A in (X, whole, state.X)
        )
        np.testing.assert_array_equal(own[chosen], full[chosen])
        np.testing.assert_array_equal(own[others], before[others])
        assert (own[chosen] != before[chosen]).any()


def test_a_model_without_bodies_has_a_span_of_none():
    state = mf.Model([]).state()
    assert state.I[rec.N_SPANS] == 1
    np.testing.assert_array_equal(rec.MEMORY.part(state.I, state.X, rec.SPANS), [[0, 0, 0, 0]])
    assert state.kinetic_energy() == 0.0
