"""Scenes with exact friction cones, `friction = "cone"`, against theory."""

from pathlib import Path

import numpy as np
import pytest

import mcpframe as mf
from mcpframe import ConeLCP
from mcpframe.exceptions import OptionError
from mcpframe.multibody.model.joining import joined
from mcpframe.scene.settings import Stepping
from mcpframe.simulation.hosting import HostStages

GRAVITY = 9.81
SAME = 1e-10
"""m, rad and their rates: what the order of sums makes of a few hundred steps."""
CERTIFIED = 1e-8
"""Worst certificate of these runs: contacts that are redundant share small impulses to some digits."""


def scene_of(model, mu, slope=0.0, restitution=0.0, law=None, **start):
    """A body on the plane z = 0; the slope turns gravity about y."""
    pull = GRAVITY * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    material = mf.Material(mu=mu, restitution=restitution, **({} if law is None else {"law": law}))
    return mf.Scene(joined([model], gravity=pull), materials=material, **start)


def run(scene, duration, **stepping):
    trajectory = mf.simulate(
        scene, duration=duration, **{"friction": "cone", "certify": "all", "dt": 1e-3} | stepping
    )
    assert not trajectory.failed.any()
    assert np.nanmax(trajectory.certificate, initial=0.0) < CERTIFIED
    return trajectory


@pytest.mark.parametrize("degrees", [0.0, 30.0, 45.0])
def test_a_block_stops_where_theory_says_whatever_its_heading(degrees):
    heading = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    scene = scene_of(mf.systems.box(), mu=0.4, theta_dot=[*heading, 0, 0, 0, 0])
    moved = run(scene, 0.4).theta[-1][:2]
    assert np.linalg.norm(moved) * 2 * 0.4 * GRAVITY == pytest.approx(1.0, abs=1e-3)
    assert moved @ heading == pytest.approx(np.linalg.norm(moved), rel=1e-9)


def test_nothing_creeps_on_a_slope_within_the_cone():
    trajectory = run(scene_of(mf.systems.box(), mu=0.5, slope=0.4), 1.0)
    assert np.abs(trajectory.theta[-1][:2] - trajectory.theta[0][:2]).max() < 1e-9


def test_formulations_agree():
    # One contact: four would share the load, and so friction, in many ways.
    scene = scene_of(mf.systems.sphere(), mu=0.3, theta_dot=[0.8, 0.3, 0, 3.0, 0, 2.0])
    first, other = run(scene, 0.1), run(scene, 0.1, formulation="dca")
    np.testing.assert_allclose(first.theta, other.theta, atol=1e-7)
    np.testing.assert_allclose(first.theta_dot, other.theta_dot, atol=1e-6)


def test_a_ball_that_slides_through_a_bounce_loses_mu_of_both_phases():
    start = {"theta": {"sphere": mf.Pose((0, 0, 0.2))}, "theta_dot": [3.0, 4.0, 0, 0, 0, 0]}
    for solver in ("cone", "auto"):
        scene = scene_of(mf.systems.sphere(), mu=0.1, restitution=0.5, **start)
        trajectory = run(scene, 0.2, solver=solver)
        assert len(trajectory.impacts) == 1
        lost = 0.1 * 1.5 * np.sqrt(2 * GRAVITY * 0.1)
        velocity = (trajectory.theta[-1] - trajectory.theta[-2])[:2] / 1e-3  # rates turn with the ball
        np.testing.assert_allclose(velocity, np.array([3.0, 4.0]) * (1 - lost / 5.0), rtol=1e-5)


def test_spin_dies_by_a_torsional_cone_as_theory_says():
    law = {"name": "torsional", "radius": 0.02}
    scene = scene_of(
        mf.systems.sphere(radius=0.1, mass=2.0), mu=0.3, law=law, theta_dot=[0, 0, 0, 0, 0, 30.0]
    )
    slowed = 0.02 * 0.3 * 2.0 * GRAVITY / (0.4 * 2.0 * 0.1**2)
    assert run(scene, 0.3).theta_dot[-1][5] == pytest.approx(30.0 - 0.3 * slowed, rel=1e-6)


def test_a_block_on_an_ellipse_stops_by_the_friction_along_its_heading():
    law = {"name": "anisotropic", "mu_1": 0.2, "mu_2": 0.5}
    for axis, mu in ((0, 0.2), (1, 0.5)):
        start = [0.0] * 6
        start[axis] = 1.0
        moved = run(scene_of(mf.systems.box(), mu=1.0, law=law, theta_dot=start), 0.6).theta[-1]
        assert moved[axis] * 2 * mu * GRAVITY == pytest.approx(1.0, abs=1e-3)


def test_steps_without_contacts_and_limits_beside_cones_are_solved():
    chain = mf.systems.pendulum(links=4)
    scene = mf.Scene(chain, theta={"link_1": 0.8}, theta_dot={"link_1": 1.0}, materials=mf.Material(mu=0.5))
    run(scene, 1.0)


def test_the_word_chooses_cones_and_the_usual_solver_takes_them():
    stepping = Stepping(friction="cone")
    assert stepping.formulation.friction == "cone"
    assert ConeLCP in stepping.solver.problems
    assert stepping.with_options(friction="polygon").solver == stepping.solver
    with pytest.raises(OptionError, match="lemke takes no exact friction cones, these do: auto, cone"):
        Stepping(friction="cone", solver="lemke")
    with pytest.raises(OptionError, match="friction"):
        Stepping(friction="round")


def test_problems_of_such_runs_are_kept_in_files(tmp_path):
    state = mf.systems.quadruped().state()
    step = mf.ContactStep(state, mf.systems.contacts_of(state, 4, mu=0.5), 1e-3)
    problem, _ = mf.formulation("os", friction="cone").build(step)
    mf.save_problem(tmp_path / "one.npz", problem)
    with mf.Corpus(tmp_path / "many.h5", "a") as corpus:
        corpus.append(problem)
    kept = [mf.load_problem(tmp_path / "one.npz"), next(iter(mf.Corpus(tmp_path / "many.h5"))).problem]
    for again in kept:
        np.testing.assert_array_equal(again.M, problem.M)
        np.testing.assert_array_equal(again.discs.table, problem.discs.table)
        np.testing.assert_array_equal(again.discs.sizes, problem.discs.sizes)
        assert mf.solve(again).ok


SCENES = Path(__file__).parents[2] / "examples" / "scenes"


def bouncing_box():
    """A box that falls on an edge, slides, and is thrown back: impacts whose discs lean on what is stored."""
    pose = mf.Pose.from_rpy((0.3, 0.2, 0.1), (0, 0, 0.4))
    start = {"theta": {"box": pose}, "theta_dot": [1.0, 2.0, 0, 0, 0, 0]}
    return scene_of(mf.systems.box(), mu=0.3, restitution=0.5, **start)


def sliding_block():
    heading = np.array([1.0, 1.0]) / np.sqrt(2.0)
    return scene_of(mf.systems.box(), mu=0.4, theta_dot=[*heading, 0, 0, 0, 0])


NATIVE = {
    "quadruped": (lambda: mf.load_scene(SCENES / "quadruped.toml"), 0.1),
    "sliding block": (sliding_block, 0.4),
    "box stack": (lambda: mf.load_scene(SCENES / "box_stack.toml"), 0.1),
    "pendulum": (lambda: mf.load_scene(SCENES / "pendulum_j14.toml").with_stepping(dt=2e-3), 1.6),
    "bouncing box": (bouncing_box, 0.5),
    "closed chain": (lambda: mf.load_scene(SCENES / "four_bar.toml"), 0.2),
}


@pytest.mark.parametrize("name", NATIVE)
def test_compiled_steps_are_those_of_the_formulation_in_python(name, monkeypatch):
    make, duration = NATIVE[name]
    exact = {"friction": "cone", "solver": "cone", "certify": "all"}
    with monkeypatch.context() as alone:
        for stage in ("_push", "_solve"):
            alone.setattr(HostStages, stage, None)
        compiled = mf.simulate(make(), duration=duration, **exact)
    formulation = type(mf.formulation("os"))
    monkeypatch.setattr(formulation, "stages", lambda self, *arguments: None)
    python = mf.simulate(make(), duration=duration, **exact)
    assert not compiled.failed.any()
    assert len(compiled.impacts) == len(python.impacts)
    np.testing.assert_allclose(compiled.theta, python.theta, atol=SAME)
    np.testing.assert_allclose(compiled.theta_dot, python.theta_dot, atol=SAME)
    np.testing.assert_array_equal(compiled.n_contacts, python.n_contacts)
    assert np.nanmax(compiled.certificate, initial=0.0) < CERTIFIED
