import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.law import FORCE_1, FORCE_2, FORCE_N, MOMENT_N
from mcpframe.contact.limits import REACH_MARGIN, REACH_SLACK
from mcpframe.multibody.rows import hinge_rate_rows

DT = 0.01
ROUNDING = 1e-12  # of velocities and accelerations of order one to ten
DIFFERENCE = 1e-6  # of a central difference with step H, error H^2 times a third derivative of order 100
H = 1e-5


@pytest.fixture
def state(rng):
    """An arm of mixed hinges beside a floating body."""
    inertia, elbow = np.diag([0.3, 0.4, 0.5]), mf.Hinge("universal", (1, 0, 0), (0, 1, 0))
    links = [
        mf.Link("upper", hinge=mf.Hinge("pin", (0, 1, 0)), mass=1.0, com=(0.1, 0, 0.3), inertia=inertia),
        mf.Link("fore", "upper", elbow, mf.Pose((0, 0, 1)), mass=1.0, com=(0, 0, 0.2), inertia=inertia),
        mf.Link("hand", "fore", mf.Hinge("ball"), mf.Pose((0, 0.2, 1)), mass=0.5, inertia=inertia),
        mf.Link("stone", mass=3.0, com=(0.1, 0, 0), inertia=inertia),
    ]
    model = mf.Model(links)
    return model.state(model.random_theta(rng), rng.standard_normal(model.n_dofs))


@pytest.fixture
def contacts():
    return [
        mf.Contact("hand", "stone", (0.3, 0.4, 1.7), (1, 2, 3), mu=0.5, law="torsional"),
        mf.Contact("world", "fore", (0.1, -0.2, 1.1), (0, 0, 1), mu=0.3, tangent=(0, 1, 0)),
        mf.Contact("upper", "world", (0.2, 0.0, 0.4), (-1, 0, 1), law="frictionless"),
    ]


def node_at(state, body, point):
    """A node fixed to a body at a point of the world."""
    return mf.Node(body, state.pose(body).inverse() @ np.array(point))


def relative_velocity(state, contact, nodes):
    """V_A - V_B in the contact's frame, from the velocities of nodes; the world stands still."""
    V = [np.zeros(6) if node is None else state.node_velocities([node])[0] for node in nodes]
    return np.concatenate([contact.frame.T @ (V[0] - V[1])[:3], contact.frame.T @ (V[0] - V[1])[3:]])


def nodes_of(state, contact):
    bodies = contact.body_a, contact.body_b
    return [None if body == "world" else node_at(state, body, contact.point) for body in bodies]


def test_contact_rows_are_the_used_components_of_the_relative_velocities(state, contacts):
    step = mf.ContactStep(state, contacts, DT)
    used = [[MOMENT_N, FORCE_N, FORCE_1, FORCE_2], [FORCE_N, FORCE_1, FORCE_2], [FORCE_N]]
    expected = [
        relative_velocity(state, contact, nodes_of(state, contact))[components]
        for contact, components in zip(contacts, used, strict=True)
    ]
    assert [list(rows.used) for rows in step.law_rows] == used
    assert [C.shape for C in step.C] == [(4, 7), (3, 5), (1, 1)]
    velocity = step.contact_rows.velocity(state)
    np.testing.assert_allclose(velocity, np.concatenate(expected), atol=ROUNDING)
    np.testing.assert_allclose(step.contact_rows.jacobian(state) @ state.theta_dot, velocity, atol=ROUNDING)


def test_the_bias_of_contact_rows_is_how_they_change_while_the_rates_stay(state, contacts):
    step = mf.ContactStep(state, contacts, DT)
    model, theta, theta_dot = state.model, state.theta, state.theta_dot
    nodes = [nodes_of(state, contact) for contact in contacts]

    def velocities(h):
        moved = model.state(model.integrate(theta, theta_dot, h), theta_dot)
        pairs = zip(contacts, nodes, step.law_rows, strict=True)
        return np.concatenate([relative_velocity(moved, *pair[:2])[pair[2].used] for pair in pairs])

    difference = (velocities(H) - velocities(-H)) / (2 * H)
    np.testing.assert_allclose(step.contact_rows.bias, difference, atol=DIFFERENCE)


def test_forces_are_what_is_applied_and_what_springs_and_dampers_add(rng):
    arm = mf.Link("arm", hinge=mf.Hinge("pin"), mass=1.0, com=(1, 0, 0), damping=0.5, stiffness=2.0, rest=0.1)
    model = mf.Model([arm])
    state = model.state([0.4], [3.0])
    np.testing.assert_allclose(mf.ContactStep(state, [], DT).total_force, [-0.5 * 3.0 - 2.0 * 0.3])
    pushed = mf.ContactStep(state, [], DT, tau=[7.0], wrenches={"arm": (0, 0, 2.0, 0, 0, 0)})
    np.testing.assert_allclose(pushed.total_force, [7.0 - 2.1])
    np.testing.assert_allclose(pushed.tau, [7.0])
    # one kilogram, a metre from the hinge: the acceleration is the moment
    np.testing.assert_allclose(pushed.free_acceleration, [7.0 - 2.1 + 2.0])


def test_a_step_without_contacts_closures_and_limits_has_no_rows(state):
    step = mf.ContactStep(state, [], DT)
    assert step.n_u == step.bilateral.n == step.limits.n == step.contact_rows.n == step.limit_gap.size == 0
    assert step.C == []
    assert step.contact_rows.jacobian(state).shape == (0, state.model.n_dofs)


def test_bilateral_rows_are_those_of_the_closures():
    model = mf.systems.four_bar()
    state = model.state(None, np.arange(model.n_dofs, dtype=float))
    step = mf.ContactStep(state, [], DT)
    expected = [closure.rows(state) for closure in model.closures]
    assert step.bilateral.n == sum(rows.n for rows in expected) > 0
    np.testing.assert_array_equal(
        step.bilateral.velocity(state), np.concatenate([rows.velocity(state) for rows in expected])
    )


def test_a_step_computes_nothing_before_it_is_asked(state, contacts):
    kept = {"law_rows", "contact_rows", "limits", "bilateral", "free_acceleration", "total_force"}
    assert not kept & vars(mf.ContactStep(state, contacts, DT)).keys()


def test_a_packed_set_is_taken_as_it_is(state, contacts):
    packed = mf.ContactSet(state.model, contacts)
    step = mf.ContactStep(state, packed, DT)
    assert step.contacts is packed
    again = mf.ContactStep(state, packed, DT)
    assert again.law_rows is step.law_rows


def test_friction_directions_are_the_formulations_choice_where_the_law_leaves_them_open(state, contacts):
    fixed = mf.Contact(
        "hand", "stone", (0, 0, 0), (0, 0, 1), law={"name": "coulomb", "friction_directions": 6}
    )
    step = mf.ContactStep(state, [*contacts, fixed], DT)
    assert [rows.m for rows in step.law_rows] == [7, 5, 1, 7]
    wider = step.with_friction_directions(8)
    assert [rows.m for rows in wider.law_rows] == [11, 9, 1, 7]
    assert wider is step.with_friction_directions(8)
    assert step.with_friction_directions(4) is step
    assert [rows.m for rows in wider.with_friction_directions(4).law_rows] == [7, 5, 1, 7]
    assert wider.contacts is step.contacts
    assert wider.dt == step.dt


def test_the_same_step_with_other_directions_shares_what_does_not_depend_on_them(state, contacts):
    step = mf.ContactStep(state, contacts, DT)
    assert (step.free_acceleration, step.contact_rows)[1].n == 8
    wider = step.with_friction_directions(2)
    assert wider.free_acceleration is step.free_acceleration
    assert wider.contact_rows.n == 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dt": 0.0}, "dt = 0.0: must be a positive number of seconds"),
        ({"dt": -1.0}, "dt = -1.0"),
        ({"dt": np.nan}, "dt = nan"),
        ({"dt": "1"}, "dt = '1'"),
        ({"tau": [1.0]}, r"tau: shape \(1,\), expected"),
        ({"tau": [np.nan] * 12}, "tau: entry 0 is nan"),
        ({"wrenches": {"hnad": [0] * 6}}, "no link or frame 'hnad'; did you mean 'hand'"),
        ({"wrenches": {"hand": [0] * 3}}, r"wrench on 'hand': shape \(3,\), expected \(6,\)"),
        ({"law": "rubber"}, "unknown contact law 'rubber'"),
        ({"position_level": 1}, "position_level = 1: must be True or False"),
        ({"contact_bias": "no"}, "contact_bias = 'no': must be True or False"),
        ({"closure_bias": None}, "closure_bias = None: must be True or False"),
        ({"baumgarte": 1.5}, "baumgarte = 1.5: must be a number between 0 and 1"),
        ({"baumgarte": -0.1}, "baumgarte = -0.1"),
        ({"baumgarte": np.nan}, "baumgarte = nan"),
        ({"baumgarte": True}, "baumgarte = True"),
        ({"contacts": [mf.Contact("foot", "hand", (0, 0, 0), (0, 0, 1))]}, "no link or frame 'foot'"),
    ],
)
def test_a_bad_argument_is_refused_by_name_and_value(state, change, message):
    arguments = {"contacts": [], "dt": DT} | change
    with pytest.raises(mf.McpframeError, match=message):
        mf.ContactStep(state, **arguments)


def test_a_step_adds_nothing_to_its_rows_unless_it_is_told_to(state, contacts):
    step = mf.ContactStep(state, contacts, DT)
    asks = {"position_level": False, "contact_bias": False, "closure_bias": True, "baumgarte": 0.0}
    assert step.asks == asks
    assert not step.contact_shift.any()
    assert not step.contact_row_shift.any()
    assert step.contact_shift.shape == (step.n_u, 3)
    assert step.contact_row_shift.shape == (step.contact_rows.n,)


def test_gaps_become_speeds_along_the_normals_at_position_level(state, contacts):
    gaps = np.linspace(-1e-3, 1e-3, len(contacts))
    packed = mf.ContactSet(state.model, contacts).with_gaps(gaps)
    step = mf.ContactStep(state, packed, DT, position_level=True)
    np.testing.assert_allclose(step.contact_shift, np.outer(gaps / DT, [1.0, 0.0, 0.0]))
    ends = np.cumsum([0, *(rows.used.size for rows in step.law_rows)])
    for i, rows in enumerate(step.law_rows):
        expected = np.where(rows.used == FORCE_N, gaps[i] / DT, 0.0)
        np.testing.assert_allclose(step.contact_row_shift[ends[i] : ends[i + 1]], expected)
    both = mf.ContactStep(state, packed, DT, position_level=True, contact_bias=True)
    bias = both.contact_row_shift - step.contact_row_shift
    np.testing.assert_allclose(bias, DT * step.contact_rows.bias, atol=ROUNDING)


def test_what_a_step_asks_stays_with_other_friction_directions(state, contacts):
    step = mf.ContactStep(state, contacts, DT, position_level=True, baumgarte=0.3)
    assert step.with_friction_directions(8).asks == step.asks


def test_closures_are_asked_for_their_rate_at_the_end_of_the_step_and_a_share_of_their_error():
    model = mf.systems.four_bar()
    state = model.state([1e-3, 0.0, 0.0], [1.0, 0.0, 0.0])
    asks = {"all": {"baumgarte": 0.4}, "bias": {}, "none": {"closure_bias": False}}
    steps = {name: mf.ContactStep(state, [], DT, **ask) for name, ask in asks.items()}
    rows = steps["none"].bilateral
    np.testing.assert_allclose(steps["none"].closure_rate, 0.0, atol=ROUNDING)
    np.testing.assert_allclose(steps["bias"].closure_rate, -DT * rows.bias, atol=ROUNDING)
    expected = -DT * rows.bias - 0.4 / DT * rows.error
    np.testing.assert_allclose(steps["all"].closure_rate, expected, atol=ROUNDING)
    assert np.abs(rows.bias).max() > 0.1
    assert np.abs(rows.error).max() > 1e-4


@pytest.mark.parametrize(("theta", "held", "back"), [(1.9995, 0.05, 0.05), (2.1, 0.0, -10.0)])
def test_a_limit_may_be_reached_and_is_moved_back_at_position_level_alone(theta, held, back):
    state = limited("pin", -1.0, 2.0).state([theta], [0.01])
    np.testing.assert_allclose(mf.ContactStep(state, [], DT).limit_shift, [held])
    np.testing.assert_allclose(mf.ContactStep(state, [], DT, position_level=True).limit_shift, [back])


def test_a_set_of_another_model_is_refused(state):
    other = mf.ContactSet(mf.systems.pendulum(links=2), [])
    with pytest.raises(mf.ModelError, match="packed for another tree of links"):
        mf.ContactStep(state, other, DT)


def test_a_state_older_than_its_models_last_link_is_refused(state):
    state.model.add_link("late", mass=1.0, inertia=np.eye(3))
    with pytest.raises(mf.ModelError, match="make the state and the contacts anew"):
        mf.ContactStep(state, [], DT)


def limited(kind, lower, upper):
    inertia = np.eye(3)
    return mf.Model(
        [mf.Link("arm", hinge=mf.Hinge(kind), mass=1.0, inertia=inertia, lower=lower, upper=upper)],
        gravity=(0, 0, 0),
    )


@pytest.mark.parametrize("kind", ["pin", "prismatic"])
@pytest.mark.parametrize(
    ("theta", "sign", "gap"), [(-0.9995, 1.0, 0.0005), (1.9995, -1.0, 0.0005), (2.1, -1.0, -0.1)]
)
def test_a_limit_in_reach_is_a_row_of_the_rate_towards_the_middle(kind, theta, sign, gap):
    state = limited(kind, -1.0, 2.0).state([theta], [0.01])
    step = mf.ContactStep(state, [], DT)
    assert step.limits.n == 1
    np.testing.assert_allclose(step.limit_gap, [gap])
    np.testing.assert_allclose(step.limits.velocity(state), [sign * 0.01])
    np.testing.assert_allclose(step.limits.jacobian(state), [[sign]])


@pytest.mark.parametrize(("gap", "n_l"), [(0.9, 1), (1.1, 0)])
def test_a_limit_is_in_reach_where_twice_the_way_of_the_step_meets_it(gap, n_l):
    rate, dt = 3.0, 0.1
    reach = REACH_MARGIN * rate * dt + REACH_SLACK
    state = limited("pin", -1.0, np.inf).state([-1.0 + gap * reach], [-rate])
    assert mf.ContactStep(state, [], dt).limits.n == n_l


@pytest.mark.parametrize(("gap", "n_l"), [(0.9, 1), (1.1, 0)])
def test_a_force_brings_a_limit_into_reach(gap, n_l):
    moment, dt = -5.0, 0.2  # unit inertia
    reach = REACH_MARGIN * abs(moment) * dt**2 + REACH_SLACK
    state = limited("pin", -1.0, np.inf).state([-1.0 + gap * reach])
    assert mf.ContactStep(state, [], dt, tau=[moment]).limits.n == n_l


def test_every_hinge_with_limits_has_rows_for_both_ends_that_are_near(rng):
    inertia = np.diag([0.3, 0.4, 0.5])
    tight = {"mass": 1.0, "inertia": inertia, "lower": -1e-4, "upper": 1e-4}
    chain = [
        mf.Link("ball", hinge=mf.Hinge("ball"), mass=1.0, inertia=inertia),
        mf.Link("pin", "ball", mf.Hinge("pin", (1, 1, 0)), mf.Pose((0, 0, 1)), **tight),
        mf.Link("cylindrical", "pin", mf.Hinge("cylindrical"), mf.Pose((0, 0, 1)), **tight),
        mf.Link(
            "universal", "cylindrical", mf.Hinge("universal", axis_2=(1, 0, 0)), mf.Pose((0, 1, 1)), **tight
        ),
        mf.Link("planar", "universal", mf.Hinge("planar"), mf.Pose((0, 1, 1)), **tight),
        mf.Link("free", mass=1.0, inertia=inertia),
    ]
    model = mf.Model(chain)
    state = model.state(None, rng.standard_normal(model.n_dofs))
    step = mf.ContactStep(state, [], DT)
    dofs = np.arange(3, 3 + 1 + 2 + 2 + 3)  # between those of the ball and those of the free hinge
    assert step.limits.n == 2 * dofs.size
    rates = state.theta_dot[dofs]
    np.testing.assert_allclose(step.limits.velocity(state), np.concatenate([rates, -rates]), atol=ROUNDING)
    np.testing.assert_allclose(step.limits.bias, 0.0)
    np.testing.assert_allclose(
        step.limits.velocity(state)[: dofs.size], hinge_rate_rows(state, dofs).velocity(state)
    )
