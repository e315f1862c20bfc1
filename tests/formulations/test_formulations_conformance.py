"""What every formulation owes its users, tested alike for all of them.

One step, many ways to write it: a solution found in any formulation, carried through `recover` and
`express`, must solve the problem of every other, with the same velocity. Momentum is balanced by dense
operators that no formulation uses, sizes are those of the papers' tables.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from contact_scenes import DT, LAWS, SCENES, Scene, rates

import mcpframe as mf
from mcpframe import systems
from mcpframe.contact.impact_step import ImpactStep
from mcpframe.multibody import project_loops, project_rates
from mcpframe.multibody.closures import Gear, Weld
from mcpframe.multibody.reference.operators import DenseOperators

FORMULATIONS = sorted(name for name, reason in mf.available_formulations().items() if not reason)

SOLVE = 1e-12
"""Residual asked of the solver: three digits more than what must be left after the solution is carried."""
CARRIED = 1e-9
"""Natural residual, relative to 1 + max |q|, of a solution carried from another formulation."""
SAME = 1e-9
"""Difference of velocities, relative to 1 + the largest: the promise of all formulations."""
BALANCE = 1e-9
"""Momentum not accounted for, relative to 1 + the largest momentum and impulse."""
PHYSICS = 1e-9
"""Largest figure of a certificate: the solver's 1e-12, relative to 1 + max |q|, at speeds of 1 mm/s."""
EXACT = 1e-12
"""Rounding in problems of a few rows with entries near one."""

SIZES = {
    "nmc": lambda n, N, rows: 6 * n + (6 * n - N) + sum(rows),
    "mc": lambda n, N, rows: N + sum(rows),
    "rmc": lambda n, N, rows: sum(rows[1:]),
    "os": lambda n, N, rows: sum(rows),
    "nmc_os": lambda n, N, rows: 6 * n - N + sum(rows),
    "trinkle": lambda n, N, rows: 2 * (6 * n - N) + sum(rows[1:]),
    "dca": lambda n, N, rows: sum(rows),
}
"""Size of the problem for n links, N dofs and rows of (closures, limits, contacts); SPEC, section 4."""

SPARSE = {"nmc", "nmc_os", "trinkle"}
"""Formulations on link velocities, whose rows meet only at common links."""

every_formulation = pytest.mark.parametrize("name", FORMULATIONS)
every_scene = pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
every_law = pytest.mark.parametrize("law", LAWS)


@dataclass(frozen=True)
class Solved:
    """A step in one formulation, solved there."""

    formulation: mf.AbstractFormulation
    problem: mf.MixedLCP
    recovery: object
    outcome: mf.Outcome

    @staticmethod
    def of(name, step, **options):
        formulation = mf.formulation(name, **options)
        problem, recovery = formulation.build(step)
        solution = mf.solve(problem, tol=SOLVE, throw=True)
        return Solved(formulation, problem, recovery, formulation.recover(recovery, solution))

    def carry(self, outcome):
        """The outcome of another formulation as a solution of this problem, and what it means here."""
        z, w, residual = self.problem.certify(self.formulation.express(self.recovery, outcome))
        assert residual <= CARRIED * self.problem.scale
        solution = mf.Solution(z, w, residual, mf.Status.SOLVED, mf.Status.SOLVED, "carried", "", 0, 0.0)
        return self.formulation.recover(self.recovery, solution)


def solved(name, step, **options):
    """The outcome of a step in one formulation."""
    return Solved.of(name, step, **options).outcome


@cache
def solved_everywhere(scene, law):
    """A scene in every formulation; kept, since several claims are about the same solutions."""
    step = scene.step(LAWS[law])
    return step, {name: Solved.of(name, step) for name in FORMULATIONS}


def assert_same_velocity(theta_dot, expected):
    assert np.abs(theta_dot - expected).max(initial=0.0) <= SAME * (1.0 + np.abs(expected).max(initial=0.0))


def assert_agreement(everywhere):
    """Carry every solution into every formulation."""
    for here in everywhere.values():
        for there in everywhere.values():
            assert_same_velocity(there.carry(here.outcome).theta_dot, here.outcome.theta_dot)


def assert_physics(step, found):
    certificate = mf.certify_step(step, found.outcome)
    assert certificate.worst <= PHYSICS, str(certificate)


@every_law
@every_scene
def test_outcomes_are_certified_by_physics(scene: Scene, law):
    step, everywhere = solved_everywhere(scene, law)
    for found in everywhere.values():
        assert_physics(step, found)


IMPACTS = [
    pytest.param(scene, law, FORMULATIONS[(s + k) % len(FORMULATIONS)], id=f"{scene.name}-{law}")
    for s, scene in enumerate(SCENES)
    for k, law in enumerate(LAWS)
]
"""Formulations in turn, so that each meets every scene and every law: there are more of both."""


@pytest.mark.parametrize(("scene", "law", "name"), IMPACTS)
def test_impacts_are_certified_by_physics(scene: Scene, law, name):
    before = scene.step(LAWS[law])
    step = ImpactStep(before.state, before.contacts, LAWS[law])
    assert_physics(step, Solved.of(name, step))


def test_impacts_bring_every_formulation_together_with_every_scene_and_every_law():
    scenes, laws, names = zip(*(case.values for case in IMPACTS), strict=True)
    assert len(set(zip(scenes, names, strict=True))) == len(SCENES) * len(FORMULATIONS)
    assert len(set(zip(laws, names, strict=True))) == len(LAWS) * len(FORMULATIONS)


@every_law
@every_scene
def test_a_solution_of_one_formulation_solves_all_others(scene: Scene, law):
    _, everywhere = solved_everywhere(scene, law)
    assert_agreement(everywhere)


MANY_FACES = {("coulomb, eight directions", "enum"), ("rolling", "enum")}
"""A thousand faces and more to look at; other laws have friction and spin on fewer."""
TAKEN = [
    pytest.param(law, solver, marks=[pytest.mark.slow] * ((law, solver) in MANY_FACES))
    for law in LAWS
    for solver in sorted(mf.available_solvers())
]


@pytest.mark.parametrize(("law", "solver"), TAKEN)
def test_every_law_is_taken_by_every_solver(law, solver):
    """One sphere that slides and spins; enumeration takes problems of this size only."""
    state = systems.sphere().state(theta_dot=[1.0, 0.2, 0.0, 0.5, 0.0, 1.0])
    step = mf.ContactStep(state, systems.contacts_of(state, 1), DT, law=LAWS[law])
    here, there = Solved.of("os", step), Solved.of("mc", step)
    solution = mf.solve(here.problem, solver)
    if solution.status is mf.Status.UNSUPPORTED:
        pytest.skip(solution.message)
    assert solution.ok
    found = here.formulation.recover(here.recovery, solution)
    assert_same_velocity(there.carry(found).theta_dot, found.theta_dot)


ASKS = {
    "contact bias": {"contact_bias": True},
    "position level": {"position_level": True},
    "closures without bias": {"closure_bias": False},
    "Baumgarte": {"baumgarte": 0.2},
    "all of them": {"contact_bias": True, "position_level": True, "baumgarte": 0.2},
}


def asked(step, **asks):
    """The same step, asking something else of its rows."""
    return mf.ContactStep(
        step.state, step.contacts, step.dt, step.tau, step.wrenches, step.law, **{**step.asks, **asks}
    )


@pytest.mark.parametrize("asks", ASKS.values(), ids=ASKS)
@every_scene
def test_what_a_step_asks_means_the_same_in_all_formulations(scene: Scene, asks):
    step = asked(scene.step("coulomb"), **asks)
    everywhere = {name: Solved.of(name, step) for name in FORMULATIONS}
    assert_agreement(everywhere)
    for found in everywhere.values():
        assert_physics(step, found)


@every_scene
def test_friction_directions_mean_the_same_in_all_formulations(scene: Scene):
    step = asked(scene.step("coulomb"), **ASKS["all of them"])
    assert_agreement({name: Solved.of(name, step, friction_directions=6) for name in FORMULATIONS})


@every_scene
def test_scenes_have_the_modes_that_they_are_named_for(scene: Scene):
    _, everywhere = solved_everywhere(scene, "coulomb")
    assert set(everywhere["mc"].outcome.modes) == scene.modes


@every_scene
def test_velocities_are_the_same_whoever_solves_where_they_are_unique(scene: Scene):
    """Without friction the velocity is the solution of a convex problem, so nobody needs to be followed."""
    _, everywhere = solved_everywhere(scene, "frictionless")
    for found in everywhere.values():
        assert_same_velocity(found.outcome.theta_dot, everywhere["mc"].outcome.theta_dot)


def known_impulses(dense, step):
    """dt (T - C): applied forces, springs, dampers, gravity and gyroscopic forces."""
    model = dense.model
    stretch = model.difference(model.rest_theta, dense.theta)
    passive = -model.damping * dense.theta_dot - model.stiffness * stretch
    return DT * (step.tau + passive - dense.bias_force() + pull(dense, (step.wrenches or {}).items()))


def pull(dense, wrenches):
    """J* of wrenches [moment; force] at nodes."""
    moving = [(node, wrench) for node, wrench in wrenches if dense.model.resolve(node)[0] >= 0]
    if not moving:
        return np.zeros(dense.model.n_dofs)
    return dense.jacobian([node for node, _ in moving]).T @ np.concatenate([wrench for _, wrench in moving])


def node_at(state, body, point):
    return mf.Node(body, state.pose(body).inverse() @ np.asarray(point))


def contact_wrenches(step, outcome):
    """The contacts' wrenches on A and their opposites on B, at the contacts' points."""
    for contact, wrench in zip(step.contacts, outcome.wrenches, strict=True):
        yield node_at(step.state, contact.body_a, contact.point), wrench
        yield node_at(step.state, contact.body_b, contact.point), -wrench


def closure_wrenches(step, outcome):
    """What the impulses of closures do, half by half."""
    rows, links = step.bilateral, step.state.model.links
    for row, link, point, wrench in zip(rows.row, rows.link, rows.point, rows.wrench, strict=True):
        yield node_at(step.state, links[link].name, point), outcome.p_b[row] * wrench


def limit_impulses(step, outcome):
    """Impulses of limits act on one hinge each, up or down."""
    on_hinges = step.limits.jacobian(step.state)
    assert (np.sort(np.abs(on_hinges), axis=1)[:, :-1] <= EXACT).all()
    np.testing.assert_allclose(np.abs(on_hinges).sum(axis=1), 1.0, atol=EXACT)
    return np.round(on_hinges).T @ outcome.p_l


@every_law
@every_scene
def test_impulses_balance_momentum(scene: Scene, law):
    """Mass (θ̇+ - θ̇-) = dt (T - C) + J* p."""
    step, everywhere = solved_everywhere(scene, law)
    dense = DenseOperators(step.state.model, step.state.theta, step.state.theta_dot)
    known, mass_matrix = known_impulses(dense, step), dense.mass_matrix()
    for found in everywhere.values():
        outcome = found.outcome
        gained = mass_matrix @ (outcome.theta_dot - dense.theta_dot)
        pushed = known + pull(dense, contact_wrenches(step, outcome)) + limit_impulses(step, outcome)
        pushed = pushed + pull(dense, closure_wrenches(step, outcome))
        scale = 1.0 + np.abs(gained).max() + np.abs(pushed).max()
        assert np.abs(gained - pushed).max() <= BALANCE * scale


@every_formulation
def test_sizes_of_the_dual_arm_are_those_of_table_1(name):
    model = systems.dual_arm()
    assert (model.n_links, model.n_dofs) == (26, 26)
    state = model.state()
    step = mf.ContactStep(state, systems.contacts_of(state, 4), DT)
    assert step.limits.n == 0
    problem, _ = mf.formulation(name, friction_directions=4).build(step)
    table_1 = {"nmc": 310, "mc": 50, "rmc": 24, "os": 24}
    assert problem.n == table_1.get(name, SIZES[name](26, 26, (0, 0, 24)))


@pytest.mark.parametrize("n", [3, 6, 12, 15, 24, 30])
def test_sizes_of_the_pendulum_are_those_of_table_2(n):
    state = systems.pendulum(n).state(np.full(n, 0.1))
    step = mf.ContactStep(state, systems.contacts_of(state, 4), DT)
    sizes = {name: mf.formulation(name).build(step)[0].n for name in ("os", "nmc_os", "nmc")}
    assert sizes == {"os": 24, "nmc_os": 24 + 5 * n, "nmc": 24 + 11 * n}


@every_formulation
@every_scene
def test_sizes_follow_the_formulas_with_loops_and_limits(scene: Scene, name):
    step = scene.step("coulomb")
    model = step.state.model
    n_b = sum(closure.n_rows for closure in model.closures)
    rows = (n_b, step.limits.n, step.n_u * (4 + 2))
    problem, recovery = mf.formulation(name).build(step)
    assert problem.n == SIZES[name](model.n_links, model.n_dofs, rows)
    assert problem.layout == recovery.layout
    assert [*problem.layout][-3:] == ["p_l", "beta", "sigma"]


@every_formulation
@pytest.mark.parametrize("n_f", [2, 4, 8])
def test_the_number_of_friction_directions_is_an_option(name, n_f):
    state = systems.box().state()
    step = mf.ContactStep(state, systems.contacts_of(state, 3), DT)
    problem, _ = mf.formulation(name, friction_directions=n_f).build(step)
    assert problem.contacts.n_f == n_f
    assert problem.layout.sizes["beta"] == 3 * (n_f + 1)
    own = mf.ContactStep(
        state, systems.contacts_of(state, 3), DT, law={"name": "coulomb", "friction_directions": 6}
    )
    assert mf.formulation(name, friction_directions=n_f).build(own)[0].contacts.n_f == 6


@every_formulation
def test_contacts_are_marked_where_all_are_coulombs_with_the_same_directions(name):
    state = systems.box().state()
    plain = systems.contacts_of(state, 2, mu=0.3)
    other = mf.Contact(
        "box", "world", (0, 0, 0), (0, 0, 1), 0.4, law={"name": "coulomb", "friction_directions": 8}
    )
    spinning = mf.Contact("box", "world", (0, 0, 0), (0, 0, 1), 0.4, law="torsional")
    problem, _ = mf.formulation(name).build(mf.ContactStep(state, plain, DT))
    assert problem.contacts.mu.tolist() == [0.3, 0.3]
    assert (problem.layout["beta"].start, problem.layout["sigma"].start) == (
        problem.contacts.normal[0],
        problem.contacts.slip[0],
    )
    for contact in (other, spinning):
        assert mf.formulation(name).build(mf.ContactStep(state, [*plain, contact], DT))[0].contacts is None


@every_formulation
def test_matrices_are_sparse_where_links_are_apart(name):
    """On link velocities a longer chain has as many more entries as it has links; otherwise M is dense."""
    entries = []
    for n in (20, 40, 60):
        state = systems.pendulum(n).state(np.linspace(0.1, 0.2, n), np.full(n, 0.1))
        bottom = state.pose(f"link_{n}").position
        step = mf.ContactStep(state, [mf.Contact(f"link_{n}", "world", bottom, (0.1, 0.2, 1))], DT)
        problem, _ = mf.formulation(name).build(step)
        assert problem.is_sparse == (name in SPARSE)
        entries.append(np.count_nonzero(np.abs(problem.M_csr.data) > 1e-12))  # others are rounding
    if name in SPARSE:
        assert entries[2] - entries[1] == pytest.approx(entries[1] - entries[0], rel=0.02)


def test_the_size_of_os_does_not_depend_on_the_links():
    sizes = set()
    for n in (1, 10, 100, 1000):
        state = systems.pendulum(n).state(np.full(n, 0.001))
        contact = mf.Contact(f"link_{n}", "world", state.pose(f"link_{n}").position, (0, 0, 1), 0.5)
        sizes.add(mf.formulation("os").build(mf.ContactStep(state, [contact], DT))[0].n)
    assert sizes == {6}


@pytest.mark.parametrize(("alias", "name"), [("tree_augmented", "os"), ("fully_augmented", "nmc_os")])
def test_the_names_of_the_earlier_paper_are_known(alias, name):
    assert type(mf.formulation(alias)) is type(mf.formulation(name))


@every_formulation
def test_recovering_needs_no_options(name):
    """What was chosen for the build travels in the recovery."""
    state = systems.box().state(theta_dot=[2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    step = mf.ContactStep(state, systems.contacts_of(state, 4), DT)
    problem, recovery = mf.formulation(name, friction_directions=8).build(step)
    solution = mf.solve(problem, throw=True)
    outcome = mf.formulation(name).recover(recovery, solution)
    assert outcome.beta.size == 4 * 9
    np.testing.assert_allclose(outcome.impulses.sum(axis=0), [-0.5 * 9.81 * DT, 0.0, 9.81 * DT], atol=EXACT)


@every_formulation
@pytest.mark.parametrize("n_f", [3, 0])
def test_options_out_of_range_are_named(name, n_f):
    with pytest.raises(mf.OptionError, match=f"friction_directions = {n_f}"):
        mf.formulation(name, friction_directions=n_f)


@every_formulation
@pytest.mark.parametrize("ask", mf.ContactStep(mf.Model().state(), [], DT).asks)
def test_what_belongs_to_the_step_is_sent_there(name, ask):
    with pytest.raises(
        mf.OptionError, match=f"'{ask}' is no option of it: it belongs to the step; say it to"
    ):
        mf.formulation(name, **{ask: 0})


# Known answers.


@every_formulation
def test_without_contacts_the_velocity_is_the_free_one(name):
    model = systems.quadruped()
    state = model.state(theta_dot=rates(model, 1))
    step = mf.ContactStep(state, [], DT, tau=rates(model, 2))
    expected = state.theta_dot + DT * state.free_acceleration(step.total_force)
    found = Solved.of(name, step)
    assert_same_velocity(found.outcome.theta_dot, expected)
    assert_same_velocity(found.carry(found.outcome).theta_dot, expected)


IMMOVABLE = {
    "nothing at all": mf.Model(),
    "a locked link": mf.Model([mf.Link("body", hinge=mf.Hinge("locked"), mass=1.0)]),
    "a link held by closures that repeat each other": mf.Model(
        [mf.Link("body", hinge=mf.Hinge("pin"), mass=1.0, inertia=np.eye(3))],
        [Weld(mf.Node("body"), mf.Node("world")), Gear({"body": 1.0}), Gear({"body": -2.0})],
    ),
}


@pytest.mark.parametrize("model", IMMOVABLE.values(), ids=IMMOVABLE)
def test_what_cannot_move_stays(model):
    contacts = [mf.Contact(link.name, "world", (0.1, 0, 0), (0, 1, 0), 0.5) for link in model.links]
    step = mf.ContactStep(model.state(), contacts, DT)
    everywhere = {name: Solved.of(name, step) for name in FORMULATIONS}
    assert_agreement(everywhere)
    for found in everywhere.values():
        assert np.abs(found.outcome.theta_dot).max(initial=0.0) <= EXACT


@every_formulation
def test_a_sliding_block_loses_mu_g_dt(name):
    state = systems.box().state(theta_dot=[2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    outcome = solved(name, mf.ContactStep(state, systems.contacts_of(state, 4, mu=0.3), DT))
    np.testing.assert_allclose(outcome.theta_dot, [2.0 - 0.3 * 9.81 * DT, 0, 0, 0, 0, 0], atol=EXACT)
    assert outcome.modes == ["sliding"] * 4


@every_formulation
def test_a_box_in_the_air_falls_until_it_touches(name):
    """Position level: 9.81 dt would be too fast, so the gap of 0.5 mm is closed in one step exactly."""
    state = systems.box().state([0, 0, 0.0005, 0, 0, 0, 1])
    contacts = [
        mf.Contact("box", "world", contact.point, contact.normal, 0.5, gap=0.0005)
        for contact in systems.contacts_of(state, 4)
    ]
    outcome = solved(name, mf.ContactStep(state, contacts, DT, position_level=True))
    np.testing.assert_allclose(outcome.theta_dot, [0, 0, -0.0005 / DT, 0, 0, 0], atol=EXACT)


@every_formulation
def test_the_contact_bias_turns_the_velocity_with_the_link(name):
    """The tip of a turning bar accelerates towards its hinge; with the term the new speed makes up for it."""
    model = mf.Model(
        [mf.Link("bar", hinge=mf.Hinge("pin", (0, 1, 0)), mass=1.0, com=(1, 0, 0), inertia=np.eye(3))]
    )
    state = model.state([0.5], [2.0])
    tip = state.pose(mf.Node("bar", (1, 0, 0))).position
    step = mf.ContactStep(state, [mf.Contact("bar", "world", tip, (0, 0, 1))], DT, law="frictionless")
    node = [mf.Node("bar", (1, 0, 0))]
    dense = DenseOperators(model, state.theta, state.theta_dot)
    rise, acceleration = dense.jacobian(node)[5, 0], dense.node_bias(node)[0, 5]
    assert solved(name, step).theta_dot[0] == pytest.approx(0.0, abs=EXACT)
    biased = solved(name, asked(step, contact_bias=True)).theta_dot[0]
    assert biased == pytest.approx(-DT * acceleration / rise, abs=EXACT)


def moving_four_bar(seed):
    """A four-bar somewhere on its way, held at four points that its one dof cannot all obey."""
    rng = np.random.default_rng(seed)
    model = systems.four_bar()
    state = model.state(project_loops(model, model.random_theta(rng)), rng.standard_normal(model.n_dofs))
    state.update(theta_dot=project_rates(state))
    return mf.ContactStep(state, systems.contacts_of(state, 4), DT)


@pytest.mark.parametrize("seed", range(20))
def test_loops_that_move_and_rub_have_a_solution_without_the_closure_bias(seed):
    """With the bias two in five such steps have none; without it q lies in the range of the contact map."""
    assert solved("os", asked(moving_four_bar(seed), closure_bias=False)).drift < EXACT


@every_formulation
def test_a_limit_is_reached_and_not_passed(name):
    model = mf.Model(
        [
            mf.Link(
                "bar", hinge=mf.Hinge("pin", (0, 1, 0)), mass=1.0, com=(1, 0, 0), inertia=np.eye(3), upper=1.0
            )
        ]
    )
    fast = solved(name, mf.ContactStep(model.state([0.99], [5.0]), [], DT))
    assert fast.theta_dot[0] == pytest.approx(0.01 / DT, abs=EXACT)
    assert fast.p_l[0] > 0.0
    beyond = mf.ContactStep(model.state([1.02], [5.0]), [], DT)
    assert solved(name, beyond).theta_dot[0] == pytest.approx(0.0, abs=EXACT)
    back = solved(name, asked(beyond, position_level=True)).theta_dot[0]
    assert back == pytest.approx(-0.02 / DT, abs=EXACT)


@every_formulation
def test_prescribed_motion_and_gears_are_kept_from_the_first_step(name):
    model = systems.pendulum(3)
    model.add_closure(Gear({"link_1": 1.0}, lambda t: (2.0 * t, 2.0)))
    model.add_closure(Gear({"link_3": 1.0, "link_2": -0.5}))
    theta = np.array([0.3, 0.4, 0.2])
    outcome = solved(name, mf.ContactStep(model.state(theta, time=0.5), [], DT))
    assert outcome.theta_dot[0] == pytest.approx(2.0 * (0.5 + DT), abs=EXACT)
    assert outcome.theta_dot[2] == pytest.approx(0.5 * outcome.theta_dot[1], abs=EXACT)
    assert outcome.drift <= EXACT


@every_formulation
def test_baumgarte_removes_its_share_of_the_loop_error(name):
    model = systems.four_bar()
    state = model.state([1e-3, 0.0, 0.0])
    step = mf.ContactStep(state, [], DT, tau=-state.passive_force() + state.bias_force())
    error = step.bilateral.error
    assert np.abs(error).max() > 1e-4
    outcome = solved(name, asked(step, baumgarte=0.5))
    moved = model.state(model.integrate(state.theta, outcome.theta_dot, DT))
    left = np.concatenate([closure.rows(moved).error for closure in model.closures])
    np.testing.assert_allclose(left, 0.5 * error, atol=5e-3 * np.abs(error).max())


@every_scene
def test_neither_hinges_nor_loops_drift(scene: Scene):
    _, everywhere = solved_everywhere(scene, "coulomb")
    assert max(found.outcome.drift for found in everywhere.values()) <= SAME


def test_a_plan_of_os_serves_other_contacts_of_the_same_bodies():
    """Contacts that move from step to step are packed anew; what does not change is made once."""
    state = systems.box().state(theta_dot=[1.0, 0, 0, 0, 0, 0])
    formulation, problems = mf.formulation("os"), []
    for shift in (0.0, 0.01):
        contacts = [
            mf.Contact(c.body_a, c.body_b, np.add(c.point, [shift, 0, 0]), c.normal, 0.5)
            for c in systems.contacts_of(state, 4)
        ]
        problems.append(formulation.build(mf.ContactStep(state, contacts, DT))[0])
        fresh = systems.box().state(theta_dot=[1.0, 0, 0, 0, 0, 0])
        again = formulation.build(mf.ContactStep(fresh, contacts, DT))[0]
        np.testing.assert_array_equal(problems[-1].M, again.M)
        np.testing.assert_array_equal(problems[-1].q, again.q)
    assert len({id(plan) for plan in state.workspaces.values()}) == 1
    assert (problems[0].M != problems[1].M).any()
