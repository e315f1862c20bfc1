"""Runs that lead nowhere: the error says when, which dof and why, and the steps before are kept."""

import pickle
import warnings

import numpy as np
import pytest
from trees import random_tree

import mcpframe as mf
from mcpframe.cli import main
from mcpframe.multibody.model.shapes import Box, Geometry, Plane, Sphere
from mcpframe.scene.controllers import PD
from mcpframe.simulation.answers import is_impossible
from mcpframe.simulation.audit.rates import ResolutionWarning
from mcpframe.simulation.engine import Engine
from mcpframe.simulation.inertias import check_inertias, felt_and_moved
from mcpframe.simulation.stops import NoMotionError

Y = (0.0, 1.0, 0.0)


def arm(links=2):
    model, parent, pose = mf.Model(), "world", None
    for k in range(links):
        inertia = np.eye(3) / 100
        model.add_link(f"link_{k}", parent, mf.Hinge("pin", Y), pose, 1.0, (0, 0, -0.2), inertia)
        parent, pose = f"link_{k}", mf.Pose((0, 0, -0.4))
    return model


def fed(gain=1e4, **stepping):
    """An arm whose controller pushes it on."""
    return mf.Scene(
        arm(),
        theta=[0.3, 0.2],
        controllers=[lambda state, time: gain * state.theta_dot],
        stepping=mf.Stepping(**{"duration": 1.0, **stepping}),
    )


def lost(scene, **options):
    with pytest.warns(ResolutionWarning), pytest.raises(NoMotionError) as caught:
        mf.simulate(scene, **options)
    return caught.value


def test_a_run_beyond_all_numbers_tells_time_dof_and_cause_and_keeps_its_steps(tmp_path):
    error = lost(fed(), out=tmp_path)
    run = error.trajectory
    assert f"step {error.step}, at t = {run.time[-1]:g} s" in str(error)
    fastest = run.model.dof_names[int(np.abs(run.theta_dot[-1]).argmax())]
    assert f"The fastest before it is {fastest!r}" in str(error)
    assert "probable cause: forces of controllers" in str(error)
    assert len(run) == error.step > 2
    assert np.isfinite(run.theta).all()
    assert np.isfinite(run.theta_dot).all()
    np.testing.assert_array_equal(mf.Trajectory.load(tmp_path).theta, run.theta)


def test_the_steps_before_are_those_of_a_run_that_ends_there():
    error = lost(fed())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResolutionWarning)
        short = mf.simulate(fed(duration=1e-3 * (error.step - 1)))
    np.testing.assert_array_equal(short.theta, error.trajectory.theta)


def test_an_explicit_rule_with_stiff_gains_is_named():
    model = arm()
    motors = [PD(model, 1000.0, 50.0, [0.3, -0.2])]
    scene = mf.Scene(model, theta=[0.8, 0.6], controllers=motors, stepping=mf.Stepping(integrator="rk4"))
    assert "rk4 takes stiff springs, dampers and PD as they are" in str(lost(scene))
    assert np.abs(mf.simulate(scene, integrator="midpoint").theta_dot[-1]).max() < 1e-3


def test_a_controller_that_returns_no_number_keeps_the_steps_before(tmp_path):
    def fails(state, time):
        return np.full(2, np.nan if time >= 0.05 else 0.0)

    scene = mf.Scene(arm(), theta=[0.3, 0.2], controllers=[fails])
    with pytest.raises(
        NoMotionError, match=r"step 51: controller .*fails.* at 0.05 s: tau: entry 0 is nan"
    ) as caught:
        mf.simulate(scene, out=tmp_path)
    assert caught.value.trajectory.time[-1] == pytest.approx(0.05)
    assert len(mf.Trajectory.load(tmp_path)) == 51


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler", "rk4"])
def test_coordinates_that_are_no_numbers_end_the_run(integrator):
    """Rates of 1e307 are numbers, and so are ten seconds of them, but not twenty."""
    slide = mf.Link("slide", hinge=mf.Hinge("prismatic"), mass=1.0, inertia=np.eye(3))
    way = mf.Stepping(dt=10.0, integrator=integrator)
    scene = mf.Scene(mf.Model([slide], gravity=(0, 0, 0)), theta_dot=[1e307], stepping=way)
    with pytest.raises(NoMotionError, match=r"step 2, at t = 10 s: .*'slide', at a rate of 1e\+307"):
        Engine(scene).advance(scene.initial_state(), 0, 3)


def test_the_error_travels_between_processes():
    error = pickle.loads(pickle.dumps(lost(fed())))
    assert error.step == len(error.trajectory)
    assert "probable cause" in str(error)


def test_the_command_tells_what_is_known_of_a_run_that_leads_nowhere(tmp_path, capsys):
    scene = tmp_path / "fed.toml"
    (tmp_path / "feed.py").write_text("def feed(state, time):\n    return 1e4 * state.theta_dot\n")
    scene.write_text(
        '[[model]]\nsystem = "pendulum"\noptions = { links = 2 }\n[initial]\ntheta = [0.3, 0.2]\n'
        '[collision]\nignore = ["*"]\n[[controller]]\nkind = "function"\nfunction = "feed.py:feed"\n'
    )
    words = ["simulate", str(scene), "--out", str(tmp_path / "run"), "--no-plots", "--allow-code"]
    assert main(words) == 1
    printed = capsys.readouterr()
    assert "WARNING: 'link_" in printed.out
    assert "stopped: step" in printed.err
    assert len(mf.Trajectory.load(tmp_path / "run")) > 2


def test_a_step_that_has_too_many_parts_ends_the_run_in_words_that_name_what_touches():
    """A ball that rests on the floor and is thrown to and fro by two walls, ten times in a step."""
    leans = {(0.0, 0.0, 0.0): 0.0, (-0.2, 0.0, 0.0): np.pi / 2, (0.2, 0.0, 0.0): -np.pi / 2}
    planes = [Geometry(Plane(), mf.Pose.from_rpy(at, (0, lean, 0))) for at, lean in leans.items()]
    ball = mf.Link("ball", mass=1.0, inertia=0.004 * np.eye(3), geometry=Geometry(Sphere(0.1)))
    model, thrown = mf.Model([ball], geometry=planes), [40.0, 0, 0, 0, 0, 0]
    stepping = mf.Stepping(dt=0.05, duration=0.05)
    scene = mf.Scene(
        model, [0, 0, 0.1, 0, 0, 0, 1], thrown, materials=mf.Material(restitution=1.0), stepping=stepping
    )
    assert len(mf.simulate(scene)) == 2
    said = "step 1, at t = 0 s: is not done after max_trials = 12. Where it begins 'ball' and 'world' touch"
    with pytest.raises(NoMotionError, match=said) as stop:
        mf.simulate(scene, max_trials=12)
    assert len(stop.value.trajectory) == 1


def crossing_axes(**head):
    """A point mass on three axes that cross: nothing holds it about the line to the mass."""
    point = {"mass": 0.1, "inertia": np.zeros((3, 3))}
    model = mf.Model(gravity=(0, 0, -9.81))
    model.add_link("yaw", "world", mf.Hinge("pin", (0, 0, 1)), com=(1e-7, 0, 0), **point)
    model.add_link("roll", "yaw", mf.Hinge("pin", (1, 0, 0)), com=(0, 0, 1e-7), **point)
    model.add_link("head", "roll", mf.Hinge("pin", (0, 1, 0)), com=(0.1, 0.2, 0.3), **point | head)
    return mf.Scene(model, theta=[0.0, 0.3, 0.2], theta_dot=[1.0, -1.0, 1.0])


def test_a_hinge_that_feels_no_inertia_is_refused_before_the_first_step():
    words = r"'yaw' cannot be moved .*feels an inertia of .*next to nothing of .*armature"
    with pytest.raises(mf.ModelError, match=words):
        mf.simulate(crossing_axes())
    assert len(mf.simulate(crossing_axes(inertia=1e-4 * np.eye(3)), duration=0.01)) == 11


def test_a_hinge_of_a_long_chain_is_held_by_the_next_links():
    """However much hangs on it: the inertia of all that it moves is no measure."""
    model = mf.Model(gravity=(0, 0, -9.81))
    for k in range(1500):
        rod = {"mass": 0.1, "com": (0, 0, -0.05), "inertia": 1e-4 * np.eye(3)}
        place = mf.Pose((0, 0, -0.1 if k else 0.0))
        model.add_link(
            f"link_{k}", f"link_{k - 1}" if k else "world", mf.Hinge("pin", (0, 1, 0)), place, **rod
        )
    state = model.state(np.full(model.n_theta, 0.01))
    check_inertias(state)
    assert felt_and_moved(state)[0][0] < 1e-2
    assert state.mass_matrix()[0, 0] > 1e3


def subtree(parents, k):
    found = [k]
    for j in range(k + 1, len(parents)):
        if parents[j] in found:
            found.append(j)
    return found


def test_a_hinge_feels_what_the_mass_matrix_says(rng):
    """With the hinges of its subtree free and all others held: 1 / (Mass_subtree⁻¹)_dd."""
    model = random_tree(rng, 12, armature=0.3, extra_roots=0.2)
    state = model.state(model.random_theta(rng))
    felt, moved = felt_and_moved(state)
    mass, link, parents = state.mass_matrix(), state.tree.dof_link, state.tree.parents
    for k in range(len(model.links)):
        dofs = np.flatnonzero(np.isin(link, subtree(parents, k)))
        own = np.flatnonzero(link[dofs] == k)
        expected = 1.0 / np.linalg.inv(mass[np.ix_(dofs, dofs)]).diagonal()[own]
        np.testing.assert_allclose(felt[link == k], expected, rtol=1e-9)
    assert (felt <= (1.0 + 1e-9) * moved).all()
    assert (moved <= (1.0 + 1e-9) * mass.diagonal()).all()


def test_a_body_far_away_feels_its_inertia():
    body = mf.Link("body", mass=1.0, inertia=1e-7 * np.eye(3))
    check_inertias(mf.Model([body]).state([1e6, -1e6, 1e6, 0, 0, 0, 1]))


def test_a_proof_that_nothing_can_rise_is_an_answer_at_any_speed():
    """w = -z - 1 has no solution, and Farkas says so; the best point may be near where little is to rise."""
    problem = mf.MixedLCP([[-1.0]], [-1.0])
    solution = mf.solve(problem, "auto")
    assert solution.status is mf.Status.INFEASIBLE
    assert is_impossible(problem, solution, rise=1e6, tol=1e-9)


def test_impulses_whose_rounding_breaks_the_tolerance_are_no_answer_where_something_is_to_rise():
    """The residual of such a point is excused, however large it is."""
    near, apart = ([[1.0, -1.0], [-1.0, 1.0 + e]] for e in (1e-13, 1.0))
    problem = mf.MixedLCP(near, [-1.0, -1.0])
    solution = mf.solve(problem, "lemke")
    assert solution.ok
    assert np.abs(solution.z).max() > 1e12
    assert is_impossible(problem, solution, rise=1.0, tol=1e-9)
    problem = mf.MixedLCP(apart, [-1.0, -1.0])
    assert not is_impossible(problem, mf.solve(problem, "lemke"), rise=1.0, tol=1e-9)


def test_a_step_that_needs_more_looks_than_trials_ends_the_run_in_words_that_name_what_is_fast():
    """A bullet that would fly a hundred thousand times the thickness of a plate in one step."""
    bullet = mf.Link("bullet", mass=0.01, inertia=1e-6 * np.eye(3), geometry=Geometry(Sphere(0.001)))
    plate = Geometry(Box((0.001, 1.0, 1.0)), mf.Pose((1.0, 0, 0)), "plate")
    model = mf.Model([bullet], gravity=(0, 0, 0), geometry=[plate])
    stepping = mf.Stepping(dt=0.01, duration=0.01)
    scene = mf.Scene(model, [0, 0, 0, 0, 0, 0, 1], [1.5e4, 0, 0, 0, 0, 0], stepping=stepping)
    with pytest.raises(
        NoMotionError, match="after max_trials = 20000.*nothing touches.*at a rate of 1.5e[+]04"
    ):
        mf.simulate(scene)
