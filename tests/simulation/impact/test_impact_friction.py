"""Friction in impacts against closed forms: it leans on the whole normal impulse, in every law and way."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.multibody.model.shapes import Geometry, Plane, Sphere
from mcpframe.simulation.engine import Engine

FORMULATIONS = sorted(mf.available_formulations())
DT = 1e-8
"""The impact is at the start; bodies go on for this long, and frames turn with them."""
SOON = 1e-6
"""What that changes in rates of up to a hundred."""
RADIUS, V_N, E = 0.1, 2.0, 0.7
INERTIA = 0.4 * RADIUS**2
EVERY_WAY = [(name, "lemke") for name in FORMULATIONS] + [("os", "auto"), ("os", "path"), ("os", "pgs")]
every_way = pytest.mark.parametrize(("formulation", "solver"), EVERY_WAY)


def after_impact(model, theta, theta_dot, material, **stepping):
    way = mf.Stepping(dt=DT, **stepping)
    scene = mf.Scene(model, theta=theta, theta_dot=theta_dot, materials=material, stepping=way)
    block = Engine(scene).advance(scene.initial_state(), 0, 1)
    assert len(block.impacts) == 1
    assert block.impacts.energy_after[0] <= block.impacts.energy_before[0]
    return block


def thrown(v_t, spin, material, turning=(0.0, 0.0), **stepping):
    """Throw a ball of 1 kg at the floor: v_x, v_z, then the spins about x, y, z after it."""
    ball = mf.Link("ball", mass=1.0, inertia=INERTIA * np.eye(3), geometry=Geometry(Sphere(RADIUS)))
    model = mf.Model([ball], gravity=(0, 0, 0), geometry=(Geometry(Plane()),))
    rates = [v_t, 0, -V_N, turning[0], spin, turning[1]]
    block = after_impact(model, [0, 0, RADIUS, 0, 0, 0, 1], rates, material, **stepping)
    return block.theta_dot[-1][[0, 2, 3, 4, 5]]


def walton(v_t, spin, mu, e):
    """Speed along the floor and spin after it [Walton 1993], no tangential restitution.

    The slip s = v_t - r ω takes (7/2) J / m to stop; friction has at most mu (1 + e) m v_n.
    """
    slip = v_t - RADIUS * spin
    impulse = np.sign(slip) * min(mu * (1.0 + e) * V_N, 2.0 / 7.0 * abs(slip))
    return v_t - impulse, spin + RADIUS * impulse / INERTIA


@every_way
@pytest.mark.parametrize("restitution_model", ["poisson", "newton"])
@pytest.mark.parametrize(
    ("v_t", "spin", "mu"),
    [(4.0, 0.0, 0.1), (4.0, -30.0, 0.1), (1.0, 60.0, 0.2), (1.0, 0.0, 0.5), (2.0, 8.0, 0.11)],
    ids=["slides", "backspin slides", "topspin slides", "grips", "grips in decompression"],
)
def test_a_spinning_ball_leaves_the_floor_as_walton_says(
    v_t, spin, mu, restitution_model, formulation, solver
):
    way = {"formulation": formulation, "solver": solver, "restitution_model": restitution_model}
    found = thrown(v_t, spin, mf.Material(mu=mu, restitution=E), **way)
    known = walton(v_t, spin, mu, E)
    np.testing.assert_allclose(found, [known[0], E * V_N, 0.0, known[1], 0.0], atol=SOON * 10)


@every_way
def test_j14_itself_has_no_friction_on_what_is_given_back(formulation, solver):
    """[J14, Eq. (58)]: the stored impulse returns along the normal; what slides has mu p_c alone."""
    material = mf.Material(mu=0.1, restitution=E)
    found = thrown(4.0, 0.0, material, formulation=formulation, solver=solver, decompression="j14")
    assert found[0] == pytest.approx(4.0 - 0.1 * V_N, abs=SOON)


def test_the_impulse_of_friction_is_mu_times_that_along_the_normal():
    ball = mf.Link("ball", mass=1.0, inertia=INERTIA * np.eye(3), geometry=Geometry(Sphere(RADIUS)))
    model = mf.Model([ball], gravity=(0, 0, 0), geometry=(Geometry(Plane()),))
    start = [0, 0, RADIUS, 0, 0, 0, 1], [4.0, 0, -V_N, 0, 0, 0]
    impulse = after_impact(model, *start, mf.Material(mu=0.1, restitution=E)).contacts.impulse[0]
    np.testing.assert_allclose(impulse, (1.0 + E) * V_N * np.array([-0.1, 0.0, 1.0]), atol=SOON)


WHOLE = (1.0 + E) * V_N
"""Normal impulse of both phases, N s, of a ball of 1 kg."""


@every_way
def test_every_bound_of_a_law_leans_on_the_whole_normal_impulse(formulation, solver):
    """Sliding along t_1 with its own mu, spin about n, rolling about y: each has its budget of WHOLE."""
    way = {"formulation": formulation, "solver": solver}
    anisotropic = mf.Material(0.5, E, {"name": "anisotropic", "mu_1": 0.05, "mu_2": 0.4})
    along = thrown(4.0, 0.0, anisotropic, **way)[0]
    assert along == pytest.approx(4.0 - 0.05 * WHOLE, abs=SOON)
    torsional = mf.Material(0.1, E, {"name": "torsional", "radius": 0.02})
    spun = thrown(0.0, 0.0, torsional, turning=(0.0, 10.0), **way)[4]
    assert spun == pytest.approx(10.0 - 0.02 * 0.1 * WHOLE / INERTIA, abs=SOON)
    rolling = mf.Material(0.0, E, {"name": "rolling", "radius": 0.003})
    rolled = thrown(0.0, 30.0, rolling, **way)[3]
    assert rolled == pytest.approx(30.0 - 0.003 * WHOLE / INERTIA, abs=SOON)


LENGTH, TIP = 1.0, 0.01


def rod(lean):
    """A uniform rod of 1 kg with a ball at its lower end, on the floor, rising towards x."""
    along = np.array([np.cos(lean), 0.0, np.sin(lean)])
    inertia = LENGTH**2 / 12.0 * (np.eye(3) - np.outer(along, along)) + 1e-6 * np.eye(3)
    end = Geometry(Sphere(TIP), mf.Pose(-LENGTH / 2 * along))
    link = mf.Link("rod", mass=1.0, inertia=inertia, geometry=end)
    theta = [0, 0, TIP + LENGTH / 2 * np.sin(lean), 0, 0, 0, 1]
    return mf.Model([link], gravity=(0, 0, 0), geometry=(Geometry(Plane()),)), theta


def struck(lean, v_x, mu, **stepping):
    """Return Λ of the tip along (x, z), and its velocity after the rod has struck the floor."""
    model, theta = rod(lean)
    block = after_impact(model, theta, [v_x, 0, -V_N, 0, 0, 0], mf.Material(mu=mu, restitution=E), **stepping)
    state = model.state(block.theta[-1], block.theta_dot[-1])
    point = np.array([-LENGTH / 2 * np.cos(lean), 0.0, -LENGTH / 2 * np.sin(lean) - TIP])
    node = mf.Node("rod", tuple(point))
    return state.compliance([node])[3:, 3:][np.ix_([0, 2], [0, 2])], state.node_velocities([node])[0, [3, 5]]


@every_way
def test_a_rod_that_grips_the_floor_pivots_about_its_end(formulation, solver):
    """No slip in both phases: p_n stops v_n - Λ_nt / Λ_tt v_t, and ε of it comes back at a tip that holds."""
    Lambda, after = struck(1.2, 0.3, 5.0, formulation=formulation, solver=solver)
    known = E * (V_N + Lambda[0, 1] / Lambda[0, 0] * 0.3)
    np.testing.assert_allclose(after, [0.0, known], atol=SOON)


@every_way
def test_a_rod_that_slides_through_the_impact_rebounds_at_its_share(formulation, solver):
    """Friction is mu p_n, against the slip, in both: p_n (Λ_nn - mu Λ_nt) = (1 + ε) v_n."""
    mu = 0.2
    Lambda, after = struck(1.2, 5.0, mu, formulation=formulation, solver=solver)
    p_n = (1.0 + E) * V_N / (Lambda[1, 1] - mu * Lambda[0, 1])
    known = [5.0 + p_n * (Lambda[0, 1] - mu * Lambda[0, 0]), E * V_N]
    np.testing.assert_allclose(after, known, atol=SOON)
