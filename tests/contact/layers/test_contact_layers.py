"""Contacts that yield: one implicit step after the other, held against closed forms."""

from typing import ClassVar

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.impact_step import ImpactStep
from mcpframe.contact.law import FORCE_1, FORCE_N
from mcpframe.contact.layers.layer import ContactLayer, carried
from mcpframe.contact.layers.springs import SpringLayer

FORMULATIONS = [name for name, reason in mf.available_formulations().items() if not reason]
GRAVITY = 9.81
EXACT = 1e-9
"""Of figures of order one that are solved by pivoting."""


def ball(mass, gravity):
    link = mf.Link("ball", mass=mass, inertia=0.004 * mass * np.eye(3))
    return mf.Model([link], gravity=(0.0, 0.0, -gravity))


class Run:
    """A ball over the floor, step by step in Python."""

    def __init__(self, law, dt, mass=1.0, mu=0.5, gravity=GRAVITY, velocity=(0.0, 0.0, 0.0), spins=True):
        self.model = ball(mass, gravity)
        self.state = self.model.state(theta_dot=[*velocity, 0.0, 0.0, 0.0])
        self.law, self.dt, self.mu, self.spins = law, dt, mu, spins
        self.memory, self.outcome, self.rest = None, None, self.state.theta[:3].copy()

    @property
    def place(self):
        return self.state.theta[:3] - self.rest

    def step(self, push=0.0, **options):
        centre = self.state.theta[:3]
        point = centre if not self.spins else centre - [0.0, 0.0, 0.1]  # at its centre it does not turn
        contact = mf.Contact("ball", "world", point, (0, 0, 1), self.mu, gap=float(self.place[2]))
        wrench = {"ball": [0.0, 0.0, 0.0, push, 0.0, 0.0]}
        step = mf.ContactStep(
            self.state, [contact], self.dt, wrenches=wrench, law=self.law, memory=self.memory
        )
        formulation = mf.formulation("os", **options)
        problem, recovery = formulation.build(step)
        self.outcome = formulation.recover(recovery, mf.solve(problem, throw=True))
        self.memory = self.outcome.memory
        rates = self.outcome.theta_dot
        theta = self.model.integrate(self.state.theta, rates, self.dt)
        self.state = self.model.state(theta, rates)
        return self

    @property
    def force(self):
        """The force along n, t_1, t_2."""
        return self.outcome.impulses[0][[2, 0, 1]] / self.dt


def springs(**options):
    return {"name": "compliant", "stiffness": 1e4, "damping": 20.0, **options}


def test_a_ball_sinks_into_a_layer_as_deep_as_its_springs_say():
    """1 kg at 1 m/s without weight: v/w exp(-z acos(z) / sqrt(1 - z^2)), z the damping ratio; first order."""
    w, z = 100.0, 0.1
    deepest = np.exp(-z * np.arccos(z) / np.sqrt(1.0 - z * z)) / w
    errors = []
    for dt in (4e-4, 2e-4):
        run = Run(springs(), dt, gravity=0.0, velocity=(0.0, 0.0, -1.0))
        errors.append(deepest + min(run.step().place[2] for _ in range(int(0.02 / dt))))
    assert errors[1] == pytest.approx(0.5 * errors[0], rel=0.1)
    assert 0.0 < errors[1] < 0.02 * deepest


@pytest.mark.parametrize("friction", ["polygon", "cone"])
def test_a_block_that_is_held_rests_on_its_spring_and_does_not_creep(friction):
    run = Run(springs(damping=100.0), 1e-3, spins=False)
    for _ in range(400):
        run.step(push=3.0, friction=friction)
    place = run.place.copy()
    assert place[0] == pytest.approx(3.0e-4, rel=0.02)  # F / K, and what slipped while it sank in
    assert run.force == pytest.approx([GRAVITY, -3.0, 0.0], abs=1e-6)
    for _ in range(400):
        run.step(push=3.0, friction=friction)
    assert np.abs(run.place - place).max() < 1e-12
    assert run.outcome.modes == ["sticking"]


def test_a_block_that_is_pulled_too_hard_slides_with_its_spring_at_the_limit():
    run, dt = Run(springs(damping=100.0), 1e-3, spins=False), 1e-3
    for _ in range(300):
        run.step(push=6.0)
    speed = run.state.theta_dot[0]
    for _ in range(100):
        run.step(push=6.0)
    assert (run.state.theta_dot[0] - speed) / (100 * dt) == pytest.approx(6.0 - 0.5 * GRAVITY, abs=1e-6)
    assert run.force[1] == pytest.approx(-0.5 * GRAVITY, abs=1e-6)
    assert run.memory[0, 0, 0] == pytest.approx(-0.5 * GRAVITY / 1e4, rel=1e-6)
    assert run.outcome.modes == ["sliding"]


def test_stiffer_layers_come_nearer_to_the_rigid_step():
    rigid = Run("coulomb", 1e-3, velocity=(1.0, 0.0, -1.0)).step().state.theta_dot
    errors = []
    for stiffness in (1e8, 1e9, 1e10):
        law = springs(stiffness=stiffness, damping=0.0)
        errors.append(np.abs(Run(law, 1e-3, velocity=(1.0, 0.0, -1.0)).step().state.theta_dot - rigid).max())
    np.testing.assert_allclose(errors[1:], np.array(errors[:-1]) / 10.0, rtol=0.05)


def test_energy_of_ball_and_layer_never_grows():
    run = Run(springs(damping=0.0), 1e-3, mu=0.3, velocity=(0.5, 0.2, -1.0))
    energies = []
    for _ in range(300):
        run.step()
        depth = np.array([run.place[2]])
        layer = SpringLayer(1e4, tangential_stiffness=1e4)
        own = run.memory[:, :, [2, 0, 1]]
        energies.append(
            run.state.kinetic_energy() + run.state.potential_energy() + layer.energy(depth, own)[0]
        )
    assert np.diff(energies).max() < 1e-12


@pytest.mark.parametrize("dissipation", [0.2, 0.5])
def test_hunt_and_crossley_throw_back_what_they_promise(dissipation):
    speed = 0.2
    law = {"name": "hunt_crossley", "stiffness": 1e6, "dissipation": dissipation}
    run = Run(law, 2e-5, gravity=0.0, velocity=(0.0, 0.0, -speed))
    for _ in range(3000):
        run.step()
        if run.place[2] > 0.0:
            break
    back = run.state.theta_dot[2] / speed
    assert back == pytest.approx(1.0 - 2.0 / 3.0 * dissipation * speed, abs=0.02)


def test_in_an_impact_a_layer_does_nothing():
    state = mf.systems.sphere().state(theta_dot=[0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    for name in FORMULATIONS:
        step = ImpactStep(state, mf.systems.contacts_of(state, 1), "compliant")
        formulation = mf.formulation(name)
        problem, recovery = formulation.build(step)
        outcome = formulation.recover(recovery, mf.solve(problem, throw=True))
        np.testing.assert_array_equal(outcome.theta_dot, state.theta_dot)


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("friction_directions", [4, 6, 8])
def test_a_law_may_yield_by_a_constant_along_each_component(name, friction_directions):
    """v+ = -S p where it sticks, so p = m v / (1 + m S) for any number of directions: S D*D, not S 1."""

    class Yielding(mf.AbstractContactLaw):
        """A contact that yields."""

        name: ClassVar[str] = "yielding"
        friction_directions: mf.FrictionDirections = None

        def rows(self, contact, dt):
            rigid = mf.contact_law("coulomb", friction_directions=self.friction_directions).rows(contact, dt)
            return rigid.softened(compliance=[0.0, 0.0, 0.0, 0.5, 2.0, 2.0])

    state = ball(2.0, 0.0).state(theta_dot=[0.1, 0.05, -1.0, 0.0, 0.0, 0.0])
    centre = mf.Contact("ball", "world", np.zeros(3), (0, 0, 1), 1.0)
    step = mf.ContactStep(state, [centre], 1e-3, law=Yielding())
    formulation = mf.formulation(name, friction_directions=friction_directions)
    problem, recovery = formulation.build(step)
    outcome = formulation.recover(recovery, mf.solve(problem, throw=True))
    expected = [-0.2 / 5.0, -0.1 / 5.0, 2.0 / 2.0]
    np.testing.assert_allclose(outcome.impulses[0], expected, atol=EXACT)
    assert outcome.modes == ["sticking"]
    assert mf.certify_step(step, outcome).worst < EXACT


def test_what_is_remembered_turns_with_the_normal():
    rng = np.random.default_rng(4)
    n, m, v = rng.standard_normal((3, 5, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    m /= np.linalg.norm(m, axis=1, keepdims=True)
    turned = carried(v, n, m)
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), np.linalg.norm(v, axis=1), rtol=EXACT)
    np.testing.assert_allclose((turned * m).sum(axis=1), (v * n).sum(axis=1), atol=EXACT)
    across = np.cross(n, m)
    np.testing.assert_allclose((turned * across).sum(axis=1), (v * across).sum(axis=1), atol=EXACT)
    np.testing.assert_array_equal(carried(v, n, -n), v)


class Tacky(ContactLayer):
    """Remembers how hard it was pressed, and yields less the harder that was."""

    def terms(self, dt, gap, speed, memory):
        S = np.zeros((gap.size, 3))
        S[:, 0] = 1.0 / (1.0 + memory[:, 0, 0])
        return S, np.zeros((gap.size, 3))

    def after(self, dt, gap, memory, impulse):
        pressed = memory.copy()
        pressed[:, 0, 0] = np.maximum(pressed[:, 0, 0], impulse[:, 0])
        return pressed


def test_a_layer_of_ones_own_has_a_memory():
    class Tack(mf.AbstractContactLaw):
        """A tacky contact."""

        name: ClassVar[str] = "tack"

        def rows(self, contact, dt):
            return mf.contact_law("frictionless").rows(contact, dt).softened(layer=Tacky())

    run = Run(Tack(), 1e-2)
    first = run.step().force[0]
    assert run.memory[0, 0, 2] == pytest.approx(first * 1e-2)  # along the normal, world axes
    assert first == pytest.approx(GRAVITY / 2.0)  # S = 1 beside 1/m = 1
    run.step()
    expected = (2.0 * GRAVITY - first) / (1.0 + 1.0 / (1.0 + first * 1e-2))
    assert run.force[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("law", "options", "said"),
    [
        ("compliant", {"stiffness": -1.0}, "stiffness"),
        ("compliant", {"damping": -1.0}, "damping"),
        ("compliant", {"scale": 1e-3, "mass": 0.0}, "mass"),
        ("compliant", {"scale": 0.0}, "scale"),
        ("compliant", {"scale": 1e-3, "time": 0.0}, "time"),
        ("hunt_crossley", {"stiffness": 0.0}, "stiffness"),
        ("hunt_crossley", {"exponent": 0.5}, "exponent"),
        ("hunt_crossley", {"dissipation": -1.0}, "dissipation"),
    ],
)
def test_bad_parameters_are_told(law, options, said):
    with pytest.raises(mf.OptionError, match=said):
        mf.contact_law(law, **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"stiffness": -1.0}, "stiffness = -1"),
        ({"stiffness": 1.0}, "tangents"),
        ({"stiffness": 1.0, "exponent": 0.5, "tangential_stiffness": 1.0}, "exponent"),
        ({"stiffness": np.inf}, "finite"),
    ],
)
def test_bad_layers_are_told(options, said):
    with pytest.raises(mf.ProblemError, match=said):
        SpringLayer(**options)


def test_bad_rows_and_memories_are_told():
    Wd = np.eye(6)[:, [FORCE_N]]
    with pytest.raises(mf.ProblemError, match="compliance"):
        mf.LawRows(Wd, compliance=-np.ones(6))
    with pytest.raises(mf.ProblemError, match="shape"):
        mf.LawRows(Wd, compliance=np.ones(3))
    with pytest.raises(mf.ProblemError, match="layer"):
        mf.LawRows(Wd, layer="soft")
    state = mf.systems.sphere().state()
    contacts = mf.systems.contacts_of(state, 1)
    step = mf.ContactStep(state, contacts, 1e-3, law="compliant", memory=np.zeros((2, 1, 3)))
    with pytest.raises(mf.ModelError, match="memory"):
        mf.formulation("os").build(step)


def test_the_scale_of_a_layer_is_that_of_the_paper():
    """s = 1e-3, m_0 = 1.69 kg, t_0 = 1 s: K = 1690 N/m, C = 53.4 N s/m [S00]."""
    contact = mf.Contact("a", "b", np.zeros(3), (0, 0, 1), 0.5)
    layer = mf.contact_law("compliant", scale=1e-3, mass=1.69).rows(contact, 1e-3).layer
    assert (layer.stiffness, layer.damping) == pytest.approx((1690.0, 53.4425), rel=1e-5)
    assert (layer.tangential_stiffness, layer.tangential_damping) == (layer.stiffness, layer.damping)
    assert mf.contact_law("compliant").rows(contact, 1e-3).Wd[FORCE_1].any()
