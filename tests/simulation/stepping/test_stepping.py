"""Simulations of systems with known answers."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.detection.materials import Material
from mcpframe.multibody.model.shapes import Box, Geometry, Plane, Sphere
from mcpframe.scene.scene import Scene
from mcpframe.scene.settings import Stepping
from mcpframe.simulation.engine import Engine
from mcpframe.simulation.recording.energy_audit import EnergyWarning
from mcpframe.simulation.rules import RISING
from mcpframe.simulation.simulate import simulate

G = 9.81
DT = 1e-3
IMPACT = 2e-6
"""Relative error of heights and times of impacts, found to 1e-6 m of overlap at metres per second."""
ROUNDING = 1e-12
FIRST_ORDER = 2 * DT
"""Relative error of a semi-implicit Euler step over about a second."""


def body(shape, mass=1.0, size=0.1, slope=0.0):
    """One free body on a floor; a slope is gravity that leans towards x."""
    link = mf.Link("body", mass=mass, inertia=0.4 * mass * size**2 * np.eye(3), geometry=Geometry(shape))
    gravity = G * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    return mf.Model([link], gravity=gravity, geometry=[Geometry(Plane(), name="floor")])


def run(model, theta, theta_dot=(0.0,) * 6, mu=0.0, restitution=0.0, **stepping):
    scene = Scene(
        model,
        theta=[*theta, 0, 0, 0, 1],
        theta_dot=list(theta_dot),
        materials=Material(mu=mu, restitution=restitution),
        stepping=Stepping(**{"dt": DT, "integrator": "rk4", **stepping}),
    )
    return simulate(scene)


def box():
    return Box((0.2, 0.2, 0.2))


@pytest.mark.parametrize("restitution_model", ["poisson", "newton"])
def test_a_ball_bounces_at_the_times_and_heights_of_the_textbook(restitution_model):
    """Falling from h it hits after t_1 = √(2h/g), then every 2 e^k t_1; peaks are e^(2k) h."""
    ball = run(
        body(Sphere(0.1)), (0, 0, 1.1), restitution=0.5, duration=1.5, restitution_model=restitution_model
    )
    first = np.sqrt(2.0 / G)
    flights = 2.0 * first * 0.5 ** np.arange(1, 5)
    np.testing.assert_allclose(
        ball.impacts.time[:5], first + np.concatenate([[0.0], np.cumsum(flights)]), rtol=IMPACT
    )
    height = ball.theta[:, 2] - 0.1
    between = (ball.time > first) & (ball.time < first + flights[0])
    assert height[between].max() == pytest.approx(0.25, abs=0.125 * G * DT**2 + IMPACT)


@pytest.mark.parametrize("restitution", [0.2, 0.5, 0.8])
def test_a_ball_comes_to_rest_when_the_sum_of_its_flights_ends(restitution):
    """At √(2h/g) (1 + e)/(1 - e), less the bounces that are not made.

    Those would leave at less than g dt and come back within the step, or are slower than the rest speed where
    contacts are looked for, so that they rise by the tolerance more; all that would follow such a bounce take
    2 v/(g (1 - e)). What it has sunk in by when it lands, the tolerance at most, rises by a share in every
    step.
    """
    end = np.sqrt(0.2 / G) * (1.0 + restitution) / (1.0 - restitution)
    ball = run(body(Sphere(0.1)), (0, 0, 0.2), restitution=restitution, duration=end + 0.02)
    near = 1e-6 + np.sqrt(2.0 * G * 1e-6) * DT
    slow = max(G * DT, np.sqrt(2.0 * G * (near + 1e-6)))
    assert end - 2.0 * slow / (G * (1.0 - restitution)) <= ball.impacts.time[-1] <= end
    still = ball.time >= end + DT
    rise = RISING * 1e-6 / DT * (1.0 - RISING) ** np.arange(still.sum())
    assert (np.abs(ball.theta_dot[still]).max(axis=1) <= rise + ROUNDING).all()
    assert np.abs(ball.theta[still, 2] - 0.1).max() <= 1e-6


def test_no_more_than_the_allowed_number_of_impacts_is_made_in_a_step():
    """A ball between two walls that it reaches ten times in a step."""
    sides = ((-0.2, np.pi / 2), (0.2, -np.pi / 2))
    walls = [Geometry(Plane(), mf.Pose.from_rpy((x, 0, 0), (0, lean, 0))) for x, lean in sides]
    ball = mf.Link("ball", mass=1.0, inertia=0.004 * np.eye(3), geometry=Geometry(Sphere(0.1)))
    model = mf.Model([ball], gravity=(0, 0, 0), geometry=walls)
    way = {"restitution": 1.0, "dt": 0.05, "duration": 0.05}
    many = run(model, (0, 0, 0), (40.0, 0, 0, 0, 0, 0), **way)
    assert many.n_impacts[-1] == 10
    assert abs(many.theta_dot[-1, 0]) == pytest.approx(40.0)
    few = run(model, (0, 0, 0), (40.0, 0, 0, 0, 0, 0), **way, max_impacts=3)
    assert few.n_impacts[-1] == 3
    assert abs(few.theta_dot[-1, 0]) <= 1e-6 / way["dt"]  # what has sunk in rises
    assert few.penetration.max() <= 1e-6


def test_nothing_sinks_in_deeper_than_the_tolerance_and_impacts_take_energy():
    ball = run(body(Sphere(0.1)), (0, 0, 1.1), (2.0, 0, 0, 0, 0, 0), mu=0.5, restitution=0.8, duration=1.0)
    assert ball.penetration.max() <= 1e-6
    assert (ball.impacts.energy_after <= ball.impacts.energy_before).all()
    assert (ball.impacts.energy_compressed <= ball.impacts.energy_before).all()


def test_a_block_slides_to_rest_after_the_known_way_and_stays():
    """v²/(2 mu g); friction takes a whole step's worth at most too early or late."""
    block = run(body(box()), (0, 0, 0.1), (1.0, 0, 0, 0, 0, 0), mu=0.5, duration=0.4)
    way = 1.0 / (2.0 * 0.5 * G)
    assert block.theta[-1, 0] == pytest.approx(way, abs=1.0 * DT)
    still = block.time > 1.0 / (0.5 * G) + 2 * DT
    assert np.ptp(block.theta[still, 0]) <= ROUNDING


def test_a_block_inside_the_cone_does_not_creep_down_a_slope():
    block = run(body(box(), slope=np.radians(20.0)), (0, 0, 0.1), mu=0.5, duration=0.5)
    assert np.abs(block.theta[:, :3] - [0, 0, 0.1]).max() <= ROUNDING
    assert set(block.contacts.mode.tolist()) == {1}  # sticking


def test_a_block_outside_the_cone_slides_down_as_it_should():
    slope = np.radians(20.0)
    block = run(body(box(), slope=slope), (0, 0, 0.1), mu=0.2, duration=0.5)
    speed = G * (np.sin(slope) - 0.2 * np.cos(slope)) * 0.5
    assert block.theta_dot[-1, 0] == pytest.approx(speed, rel=FIRST_ORDER)


@pytest.mark.parametrize("dt", [1e-3, 5e-4])
def test_a_sphere_rolls_down_a_slope_with_five_sevenths_of_the_pull(dt):
    """Within the angle that it turns in a step, by which the axes of its rates are off: first order in dt."""
    slope = np.radians(20.0)
    sphere = run(body(Sphere(0.1), slope=slope), (0, 0, 0.1), mu=0.5, duration=0.5, dt=dt)
    speed = 5.0 / 7.0 * G * np.sin(slope) * 0.5
    velocity = sphere.state(len(sphere) - 1).link_velocities()[0]
    assert velocity[3] == pytest.approx(speed, rel=speed / 0.1 * dt)


def test_fixed_steps_report_how_deep_bodies_overlap():
    ball = run(body(Sphere(0.1)), (0, 0, 0.6), duration=0.5, scheme="time_stepping")
    assert 1e-6 < ball.penetration.max() <= np.sqrt(2 * G * 0.5) * DT
    assert ball.theta[-1, 2] == pytest.approx(0.1, abs=np.sqrt(2 * G * 0.5) * DT)


@pytest.mark.parametrize("formulation", ["os", "nmc_os", "mc"])
def test_every_formulation_drives_the_same_run(formulation):
    block = run(
        body(box()),
        (0, 0, 0.15),
        (1, 0, 0, 0, 0, 0),
        mu=0.3,
        restitution=0.4,
        duration=0.3,
        formulation=formulation,
        integrator="midpoint",
    )
    start = (0, 0, 0.15), (1, 0, 0, 0, 0, 0)
    same = run(body(box()), *start, mu=0.3, restitution=0.4, duration=0.3, integrator="midpoint")
    np.testing.assert_allclose(block.theta[:, :3], same.theta[:, :3], atol=1e-6)


HOPELESS = {"name": "pgs", "max_sweeps": 1, "polish": False}
SOLVED = {"mu": 0.5, "duration": 0.01, "solver": HOPELESS, "integrator": "midpoint"}
"""A short run whose every step is a problem to solve: with rk4 a box that slides on is none."""


def test_a_failed_solve_stops_the_run_unless_told_otherwise():
    with pytest.raises(mf.NotSolvedError, match="pgs"):
        run(body(box()), (0, 0, 0.1), (1.0, 0, 0, 0, 0, 0), **SOLVED)


def test_a_failed_solve_falls_back_to_auto_where_asked():
    block = run(body(box()), (0, 0, 0.1), (1.0, 0, 0, 0, 0, 0), on_failure="auto", **SOLVED)
    assert len(block.failed) == 0
    assert block.solver[1] == 1  # auto; from its solution even the hopeless one may go on


def test_going_on_with_the_best_point_is_recorded_as_failed():
    block = run(body(box()), (0, 0, 0.1), (1.0, 0, 0, 0, 0, 0), on_failure="best", **SOLVED)
    assert len(block.failed) == len(block) - 1


def slid_box(**stepping):
    """A box that lands, slides and comes to rest."""
    materials = Material(mu=0.3, restitution=0.4)
    way = Stepping(**{"dt": 2e-3, **stepping})
    start = {"theta": [0, 0, 0.15, 0, 0, 0, 1], "theta_dot": [1, 0, 0, 0, 0, 0]}
    return Scene(body(box()), **start, materials=materials, stepping=way)


def states_of(block):
    return np.column_stack([block.time, block.theta, block.theta_dot])


@pytest.mark.parametrize("options", [{}, {"formulation": "mc"}, {"solver": "pgs", "on_failure": "auto"}])
def test_an_engine_that_takes_a_checkpoint_goes_on_to_the_same_bits(options):
    scene = slid_box(**options)
    engine, state = Engine(scene), scene.initial_state()
    engine.advance(state, 0, 70)
    kept, other = engine.checkpoint(), scene.model.state(state.theta, state.theta_dot, state.time)
    resumed = Engine(scene)
    resumed.restore(kept)
    found, expected = resumed.advance(other, 70, 60), engine.advance(state, 70, 60)
    assert states_of(found).tobytes() == states_of(expected).tobytes()


def test_closed_contacts_are_solved_from_the_last_step_in_about_one_pivot():
    """A cold start of four corners takes more than ten; bounces are over by step 110, it slides to 168."""
    scene = slid_box()
    assert Engine(scene).advance(scene.initial_state(), 0, 150).iterations[-1] <= 2


@pytest.mark.parametrize("formulation", ["os", "mc"])
@pytest.mark.parametrize("restitution_model", ["poisson", "newton"])
def test_an_observer_is_told_of_every_problem_solved_for_good(restitution_model, formulation):
    told = []
    scene = slid_box(restitution_model=restitution_model, formulation=formulation)
    block = Engine(scene, told.append).advance(scene.initial_state(), 0, 130)
    phases = {"poisson": 2, "newton": 1}[restitution_model]
    kinds = [seen.kind for seen in told]
    assert len(kinds) - kinds.count("step") == phases * len(block.impacts) > 0
    assert all(seen.solution.ok and seen.problem.certify(seen.solution.z)[2] <= 1e-9 for seen in told)
    assert (np.diff([seen.time for seen in told]) >= 0.0).all()
    lasts = {seen.time: seen.dt for seen in told if seen.kind == "step"}
    assert all(dt > 0.0 for dt in lasts.values())


def test_an_observer_can_build_the_problem_again_from_the_step():
    def rebuilt(seen):
        again, _ = scene.stepping.formulation.build(seen.step)
        np.testing.assert_allclose(again.q, seen.problem.q, atol=ROUNDING)
        np.testing.assert_allclose(again.M_dense, seen.problem.M_dense, atol=ROUNDING)

    scene = slid_box()
    Engine(scene, rebuilt).advance(scene.initial_state(), 0, 100)


def leaning_rod(restitution_model, mu=0.767):
    """A rod of one metre that comes down on one end, sticks in compression and slips back."""
    tip = Geometry(Sphere(1e-3), mf.Pose((0.5 * np.sin(0.707), 0, -0.5 * np.cos(0.707) + 1e-3)))
    rod = mf.Link("rod", mass=1.0, inertia=np.diag([1 / 12, 1 / 12, 1e-4]), geometry=tip)
    model = mf.Model([rod], gravity=(0, 0, 0), geometry=[Geometry(Plane(), name="floor")])
    return mf.Scene(
        model,
        [0, 0, 0.5 * np.cos(0.707) + 1e-4, 0, 0, 0, 1],
        [-0.229, 0, -1.42, 0, 1.222, 0],
        materials=Material(mu=mu, restitution=0.95),
        stepping=Stepping(dt=1e-4, duration=1e-3, restitution_model=restitution_model),
    )


@pytest.mark.parametrize("restitution_model", ["poisson", "newton"])
def test_impacts_that_a_drive_adds_energy_to_are_kept_in_the_trajectory_and_warned_about_once(
    restitution_model,
):
    """A bat of 1 kg that is held at 2 m/s sends a ball of 1 kg off at (1 + e) 2 m/s."""
    slide = {"mass": 1.0, "inertia": np.eye(3), "hinge": mf.Hinge("prismatic", (1, 0, 0))}
    bat = mf.Link("bat", **slide, geometry=Geometry(Sphere(0.1)))
    ball = mf.Link("ball", **slide, geometry=Geometry(Sphere(0.1), mf.Pose((0.2005, 0, 0))))
    model = mf.Model([bat, ball], gravity=(0, 0, 0))
    model.add_closure(mf.closures.Gear({"bat": 1.0}, lambda t: (2.0, 0.0)))
    way = Stepping(dt=1e-3, duration=2e-3, restitution_model=restitution_model, drift_control="none")
    scene = mf.Scene(model, theta_dot=[2.0, 0.0], materials=Material(restitution=0.5), stepping=way)
    with pytest.warns(EnergyWarning, match=r"1 of 1 impacts added kinetic energy") as told:
        run = simulate(scene)
    assert len(told) == 1
    np.testing.assert_allclose(run.theta_dot[-1], [2.0, 3.0], atol=ROUNDING)
    assert run.impacts.energy_after[0] - run.impacts.energy_before[0] == pytest.approx(4.5)


@pytest.mark.parametrize("mu", [0.0, 0.767])
@pytest.mark.parametrize("restitution_model", ["poisson", "newton"])
def test_a_rod_that_slips_back_gets_no_energy_from_nowhere(restitution_model, mu):
    """Kane's paradox: at mu = 0.767 all of Newton's rebound would add a fifth."""
    rod = simulate(leaning_rod(restitution_model, mu))
    assert rod.impacts.energy_after[0] <= rod.impacts.energy_before[0] * (1.0 + ROUNDING)
