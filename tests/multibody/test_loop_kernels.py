"""Closures in compiled code against those in Python: rows, biases, errors, and the nearest motion."""

import numpy as np
import pytest
from trees import random_motion, random_tree

from mcpframe import Node
from mcpframe.jit import Indices, IndicesOut, VectorOut, kernel
from mcpframe.multibody import Ball, Distance, Gear, Pin, Weld, closure_rows
from mcpframe.multibody.kernels.loop_motion import nearest_motion
from mcpframe.multibody.kernels.loops import loop_biases, loop_rate, loop_rows
from mcpframe.multibody.memory import loop_records as rec
from mcpframe.multibody.memory.loop_packing import loop_space, pack_loops
from mcpframe.multibody.memory.records import B_VELOCITY
from mcpframe.spatial.transforms import Pose


@kernel(Indices, VectorOut, IndicesOut, VectorOut, VectorOut)
def rows_and_rates(I, X, IE, XE, out):
    loop_rows(I, X, IE, XE)
    loop_biases(I, X, IE, XE)
    for row in range(IE[0 + rec.N_ROWS]):
        out[row] = loop_rate(I, X, IE, XE, row, B_VELOCITY)


@kernel(Indices, VectorOut, IndicesOut, VectorOut, IndicesOut, VectorOut, VectorOut)
def nearest(I, X, IE, XE, IR, XR, out):
    nearest_motion(I, X, IE, XE, IR, XR, out, False)


def turned(rng, body):
    return Node(body, rng.uniform(-0.5, 0.5, 3), Pose.from_rpy((0, 0, 0), rng.uniform(-1, 1, 3)).rotation)


def closures(rng, model):
    """One of every kind, between links, and to the world."""
    names = [f"link{k}" for k in rng.permutation(model.n_links)]
    dofs = [str(name) for name in rng.choice(model.dof_names, 3, replace=False)]
    return {
        "weld": Weld(turned(rng, names[0]), turned(rng, names[1])),
        "pin": Pin(turned(rng, names[0]), turned(rng, names[1]), axis=tuple(rng.standard_normal(3))),
        "ball": Ball(turned(rng, names[0]), turned(rng, "world")),
        "distance": Distance(turned(rng, names[0]), turned(rng, names[1]), 0.7),
        "gear": Gear({dofs[0]: 1.0, dofs[1]: -2.0, dofs[2]: 0.3}, offset=0.1),
    }


def with_closure(kind, seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 9, armature=0.1)
    for each in kind.split("+"):
        model.add_closure(closures(rng, model)[each])
    return rng, model, model.state(*random_motion(rng, model))


KINDS = ["weld", "pin", "ball", "distance", "gear", "weld+gear+distance"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_those_of_python(kind, seed):
    _, model, state = with_closure(kind, seed)
    IE, XE = pack_loops(model)
    state.free_acceleration()
    n, wanted = int(IE[rec.N_ROWS]), closure_rows(state)
    rates = np.zeros(n)
    rows_and_rates(state.I, state.X, IE, XE, rates)
    np.testing.assert_allclose(XE[IE[rec.ERROR] :][:n], wanted.error, atol=1e-12)
    np.testing.assert_allclose(XE[IE[rec.BIAS] :][:n], wanted.bias, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(rates, wanted.velocity(state), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [*KINDS, "ball+ball"])
def test_the_nearest_motion_keeps_the_loops_with_the_least_energy(kind, seed):
    """Also where rows repeat each other: the same ball twice."""
    rng, model, state = with_closure(kind.split("+")[0] if kind == "ball+ball" else kind, seed)
    if kind == "ball+ball":
        model.add_closure(model.closures[0])
        state = model.state(state.theta, state.theta_dot)
    IE, XE = pack_loops(model)
    IR, XR = loop_space(state.skeleton.n_bodies, IE)
    state.free_acceleration()
    n, rows = int(IE[rec.N_ROWS]), closure_rows(state)
    G, Mass = rows.jacobian(state), state.mass_matrix()
    right = G @ rng.standard_normal(model.n_dofs)
    rows_and_rates(state.I, state.X, IE, XE, np.zeros(n))
    XR[IR[rec.RIGHT] : IR[rec.RIGHT] + n] = right
    motion = np.zeros(model.n_dofs)
    nearest(state.I, state.X, IE, XE, IR, XR, motion)
    np.testing.assert_allclose(G @ motion, right, atol=1e-9)
    of_closures = np.linalg.lstsq(G.T, Mass @ motion, rcond=None)[0]
    np.testing.assert_allclose(G.T @ of_closures, Mass @ motion, atol=1e-9)
