"""Piles: large islands of free bodies with sparse problems; the same answers, certified, or named."""

from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

import mcpframe as mf
from mcpframe.multibody.model.shapes import Geometry, Plane, Sphere
from mcpframe.problem.friction import FrictionProblem
from mcpframe.scene.settings import Stepping
from mcpframe.simulation import engine
from mcpframe.simulation.memory import slots as run_at
from mcpframe.simulation.piles import push
from mcpframe.simulation.piles import slots as at
from mcpframe.simulation.piles.judging import write_point
from mcpframe.simulation.piles.solving import LATER, solve_pile
from mcpframe.simulation.piles.stating import contact_map, stated
from mcpframe.simulation.rules import ROUGH
from mcpframe.simulation.simulate import RunStoppedError

RADIUS, DT, TOL = 0.05, 1e-3, 1e-9
ROUNDING = 1e-13
"""What two ways to add up velocities differ by, beside 1 + |q|."""
HALF = 0.2
"""Half the width of the box, m."""


def walls():
    """Return the floor, and half-spaces around it."""
    sides = [Geometry(Plane())]
    for k in range(4):
        angle = 0.5 * np.pi * k
        inwards = np.array([np.cos(angle), np.sin(angle), 0.0])
        turn = mf.Pose.from_rpy(-HALF * inwards, (0.0, 0.5 * np.pi, angle))
        sides.append(Geometry(Plane(), turn, name=f"wall_{k}"))
    return sides


def spheres(n, seed=0, **stepping):
    """Return n spheres in layers of nine above the floor of a box, no two layers above each other."""
    rng, links, poses = np.random.default_rng(seed), [], []
    for k in range(n):
        radius = RADIUS * rng.uniform(0.9, 1.0)
        mass = 1000.0 * 4.0 / 3.0 * np.pi * radius**3
        inertia = 0.4 * mass * radius**2 * np.eye(3)
        links.append(mf.Link(f"s{k}", mass=mass, inertia=inertia, geometry=Geometry(Sphere(radius))))
        cell = np.array([k % 3 - 1.0, k // 3 % 3 - 1.0, k // 9 + 0.5])
        place = 2.02 * RADIUS * cell
        place[:2] += 0.03 * (-1.0) ** (k // 9) + rng.uniform(-1e-3, 1e-3, 2)
        poses.append([*place, 0.0, 0.0, 0.0, 1.0])
    return mf.Scene(
        mf.Model(links, geometry=walls()),
        np.ravel(poses),
        materials=mf.Material(mu=0.5),
        stepping=Stepping(**{"dt": DT, "scheme": "time_stepping", "certify": "all", "tol": TOL, **stepping}),
    )


@pytest.fixture(autouse=True)
def early(monkeypatch):
    """Have small islands be piles already."""
    monkeypatch.setattr(engine, "PILE_FROM", 10)


@pytest.fixture
def piles(monkeypatch):
    """Return the piles that a run has solved."""
    seen, give = [], push.give

    def look(*arrays):
        I, X, columns, blocks = arrays[4:]
        part, n = at.PILE.part, I[at.N_CONTACTS]
        H, free = contact_map(I, X), part(I, X, at.FREE)[:n, :3].ravel()
        mass, still = sp.eye_array(H.shape[0], format="csc"), np.zeros(H.shape[0])
        problem = FrictionProblem.from_global(mass, H, still, free, part(I, X, at.MU)[:n])
        lcp = stated(I, X).problem
        z = np.zeros(lcp.n)
        write_point(I, X, columns, blocks, z)
        r, edges = part(I, X, at.R_BEST)[:n, :3].copy(), part(I, X, at.EDGES)[:n].copy()
        seen.append(Solved(problem, r, edges, lcp, z, float(X[at.RESIDUAL]), float(arrays[3][run_at.TRIAL])))
        return give(*arrays)

    monkeypatch.setattr(push, "give", look)
    return seen


class Solved(NamedTuple):
    """A pile that was solved in a step of h: as a friction problem, and as the problem that it states."""

    problem: FrictionProblem
    r: Any
    edges: Any
    lcp: Any
    z: Any
    residual: float
    h: float


def unknowns(problem, r):
    """Return z of `to_mixed_lcp(4)`: velocities, parts along the four directions, the least slack."""
    v, u = problem.velocities(r.ravel()), problem.relative_velocities(r.ravel()).reshape(-1, 3)
    parts = [r[:, 0], *np.maximum(r[:, 1:].T, 0.0), *np.maximum(-r[:, 1:].T, 0.0)]
    return np.concatenate([v, np.transpose(parts).ravel(), np.abs(u[:, 1:]).max(axis=1)])


def test_trials_are_solved_as_well_as_they_are_judged_and_what_is_taken_to_the_tolerance(monkeypatch):
    asked = []

    def solve(I, X, columns, blocks, warm, tol):
        asked.append(tol)
        return solve_pile(I, X, columns, blocks, warm, tol)

    monkeypatch.setattr(push, "solve_pile", solve)
    run = mf.simulate(spheres(27, scheme="event_driven", duration=0.2))
    rough = ROUGH * 1e-6 / DT  # a share of the penetration tolerance within a step
    assert set(asked) == {TOL, rough}
    assert asked.count(rough) > asked.count(TOL) / 2
    assert not len(run.failed)
    assert np.nanmax(run.residual) < 10.0 * TOL
    assert np.nanmax(run.certificate) < TOL
    assert run.penetration.max() < 3e-6
    assert (run.impacts.energy_after <= run.impacts.energy_before * (1 + 1e-12)).all()


def test_what_is_taken_of_piles_keeps_well_within_the_tolerance_for_its_certificate(monkeypatch):
    left = []

    def solve(I, X, columns, blocks, warm, tol):
        solved = solve_pile(I, X, columns, blocks, warm, tol)
        left.append((tol, float(X[at.RESIDUAL])))
        return solved

    monkeypatch.setattr(push, "solve_pile", solve)
    mf.simulate(spheres(27, scheme="event_driven", duration=0.2))
    assert max(residual for tol, residual in left if tol == TOL) <= LATER * TOL


def test_a_pile_of_spheres_comes_down_with_every_step_certified():
    run = mf.simulate(spheres(60, duration=0.35))
    assert run.n_contacts.max() > engine.PILE_FROM
    assert len(run.failed) == 0
    assert np.nanmax(run.certificate) <= 1e-6
    assert run.penetration.max() <= 3e-3


def test_more_contacts_may_hang_together_than_a_dense_problem_holds():
    n, mass = 9, 0.5
    inertia = 0.4 * mass * RADIUS**2 * np.eye(3)
    links = [
        mf.Link(f"s{k}", mass=mass, inertia=inertia, geometry=Geometry(Sphere(RADIUS))) for k in range(n**3)
    ]
    places = [2.0 * RADIUS * np.array([k % n, k // n % n, k // n**2 + 0.5]) for k in range(n**3)]
    theta = np.ravel([[*place, 0.0, 0.0, 0.0, 1.0] for place in places])
    stepping = Stepping(dt=DT, scheme="time_stepping", certify="all")
    model = mf.Model(links, geometry=[Geometry(Plane())])
    run = mf.simulate(
        mf.Scene(model, theta, materials=mf.Material(mu=0.5), stepping=stepping), duration=3 * DT
    )
    assert run.n_contacts[-1] > engine.MOST_CONTACTS
    assert len(run.failed) == 0
    assert np.nanmax(run.certificate) <= 1e-6
    np.testing.assert_allclose(run.theta[-1], theta, rtol=0, atol=1e-8)


def test_the_polygon_of_a_pile_solves_the_rows_of_coulomb_friction(piles):
    mf.simulate(spheres(36, duration=0.25))
    assert len(piles) > 50
    for pile in piles[::10]:
        assert (pile.edges == 4).all()
        lcp = pile.problem.to_mixed_lcp(4)
        assert lcp.certify(unknowns(pile.problem, pile.r))[2] <= 2.0 * TOL * lcp.scale


def test_the_cone_of_a_pile_is_round(piles):
    run = mf.simulate(spheres(36, duration=0.25, friction="cone"))
    assert len(run.failed) == 0
    assert len(piles) > 50
    for pile in piles[::10]:
        assert (pile.edges == 0).all()
        assert pile.problem.certify(pile.r.ravel())[2] <= 2.0 * TOL * pile.problem.scale


@pytest.mark.parametrize("friction", ["polygon", "cone"])
def test_the_framework_judges_piles_as_they_judge_themselves(friction, piles):
    """What ends the search is the judged residual of the rows, up to what rounding is excused there."""
    mf.simulate(spheres(36, duration=0.2, friction=friction))
    assert len(piles) > 20
    for pile in piles[::10]:
        judged = pile.lcp.certify(pile.z)[2] / pile.lcp.scale
        assert judged <= pile.residual + ROUNDING
        assert judged <= TOL
    worse = pile.z.copy()
    worse[0] += 1e-3
    assert pile.lcp.certify(worse)[2] > 1e-5


def test_an_error_tells_how_far_the_rows_of_a_polygon_are_off(monkeypatch):
    monkeypatch.setattr(push, "solve_pile", lambda I, X, *_: solve_pile(I, X, *_) and False)
    monkeypatch.setattr(push, "DENSE", 0)
    with pytest.raises(RunStoppedError) as caught:
        mf.simulate(spheres(36, duration=0.15, on_failure="stop", certify="none"))
    problem, solution = caught.value.problem, caught.value.solution
    assert isinstance(problem, mf.MixedLCP)
    assert solution.residual <= TOL * problem.scale


def test_sparse_and_dense_problems_lead_to_the_same_motion(monkeypatch, piles):
    scene = spheres(36, duration=0.15)
    run = mf.simulate(scene)
    assert len(piles) > 20
    monkeypatch.setattr(engine, "PILE_FROM", 10**6)
    dense = mf.simulate(scene)
    np.testing.assert_allclose(run.theta_dot, dense.theta_dot, rtol=0, atol=1e-5)
    np.testing.assert_allclose(run.theta, dense.theta, rtol=0, atol=1e-7)


def test_piles_go_on_from_checkpoints_with_the_same_bits(piles):
    scene = spheres(36)
    state, other = scene.initial_state(), scene.initial_state()
    first = engine.Engine(scene)
    first.advance(state, 0, 180)
    assert len(piles) > 20
    other.update(state.theta, state.theta_dot, state.time)
    second = engine.Engine(scene)
    second.restore(first.checkpoint())
    for run, at_state in (first, state), (second, other):
        run.advance(at_state, 180, 20)
    assert (state.theta == other.theta).all()
    assert (state.theta_dot == other.theta_dot).all()


def test_sliding_that_ends_in_a_heap_is_not_looked_into_as_a_jam(piles):
    """Forces that were there before explain it; only what is new is asked about in shorter steps."""
    mf.simulate(spheres(36, duration=0.3))
    shorter = [pile for pile in piles if 0.0 < pile.h < 0.5 * DT]
    assert len(piles) > 100
    assert len(shorter) < 0.1 * len(piles)


def test_other_solvers_try_what_is_not_solved(monkeypatch, piles):
    monkeypatch.setattr(push, "solve_pile", lambda *_: False)
    run = mf.simulate(spheres(27, duration=0.15))
    assert len(piles) > 2
    assert len(run.failed) == 0
    assert np.nanmax(run.certificate) <= 1e-6


def test_what_is_not_solved_is_named_or_stops(monkeypatch):
    monkeypatch.setattr(push, "solve_pile", lambda *_: False)
    monkeypatch.setattr(push, "DENSE", 0)
    run = mf.simulate(spheres(36, duration=0.15, on_failure="best", certify="none"))
    assert len(run.failed) > 0
    with pytest.raises(RunStoppedError, match="pile: ITERATION_LIMIT"):
        mf.simulate(spheres(36, duration=0.15, on_failure="stop", certify="none"))


def test_a_solver_that_is_named_is_the_one_that_solves(piles):
    run = mf.simulate(spheres(18, duration=0.1, solver="lemke"))
    assert run.n_contacts.max() >= engine.PILE_FROM
    assert not piles


def test_harvesting_piles_changes_no_bit(tmp_path, piles):
    scene = spheres(27, duration=0.15)
    alone, solved = mf.simulate(scene), len(piles)
    seen = mf.simulate(scene, harvest=tmp_path / "problems.h5")
    assert solved > 2
    assert len(piles) == 2 * solved
    assert (alone.theta == seen.theta).all()
    with mf.Corpus(tmp_path / "problems.h5") as corpus:
        assert len(corpus) >= solved
        assert mf.solve(corpus[len(corpus) - 1].problem).ok
