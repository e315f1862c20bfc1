"""States: what they take, and what they refuse without changing anything."""

import numpy as np
import pytest
from states import assert_close, bar, mixed_model, moving
from trees import random_link, random_motion

from mcpframe.exceptions import ModelError
from mcpframe.multibody import Model

# What a state takes


def test_a_new_state_is_neutral_and_at_rest(rng):
    model = mixed_model(rng)
    state = model.state()
    np.testing.assert_array_equal(state.theta, model.neutral())
    np.testing.assert_array_equal(state.theta_dot, np.zeros(model.n_dofs))
    assert state.time == 0.0
    assert repr(state) == f"State of {model!r} at t = 0"


TAKEN = {
    "lists": np.ndarray.tolist,
    "tuples": lambda x: tuple(x.tolist()),
    "a step through an array": lambda x: np.repeat(x, 3)[::3],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "a column": lambda x: np.column_stack([x, x])[:, 1],
    "read-only": lambda x: np.frombuffer(x.tobytes()),
    "not aligned": lambda x: np.frombuffer(b"1" + x.tobytes(), np.uint8)[1:].view(np.float64),
    "other byte order": lambda x: x.astype(">f8"),
    "objects": lambda x: x.astype(object),
}


@pytest.mark.parametrize("given", TAKEN.values(), ids=TAKEN)
def test_update_takes_numbers_in_any_clothes(given, rng):
    model = mixed_model(rng)
    theta, theta_dot = random_motion(rng, model)
    state = model.state()
    assert state.update(given(theta), given(theta_dot)) is state
    np.testing.assert_allclose(state.theta, theta, rtol=1e-15, atol=1e-16)  # quaternions are normalised
    np.testing.assert_array_equal(state.theta_dot, theta_dot)
    assert_close(state.mass_matrix(), model.state(theta).mass_matrix())


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.int8, bool])
def test_update_takes_other_number_types(dtype):
    model = Model([bar("a"), bar("b", "a")])
    state = model.state().update(np.array([1, 0], dtype), np.array([0, 1], dtype))
    assert state.theta.tolist() == [1.0, 0.0]
    assert state.theta_dot.tolist() == [0.0, 1.0]


def test_update_keeps_what_is_not_given(rng):
    state = moving(rng, time=1.5)
    theta, theta_dot, other = state.theta, state.theta_dot, random_motion(rng, state.model)
    state.update(theta_dot=other[1])
    np.testing.assert_array_equal(state.theta, theta)
    np.testing.assert_array_equal(state.theta_dot, other[1])
    state.update(other[0])
    np.testing.assert_array_equal(state.theta, other[0])
    np.testing.assert_array_equal(state.theta_dot, other[1])
    assert state.time == 1.5
    state.update(time=2)
    assert (state.time, type(state.time)) == (2.0, float)
    np.testing.assert_array_equal(state.theta, other[0])
    state.update(theta, theta_dot, 3.0)
    np.testing.assert_array_equal(state.theta_dot, theta_dot)


def test_a_state_does_not_follow_arrays_that_it_was_given(rng):
    model = mixed_model(rng)
    theta, theta_dot = random_motion(rng, model)
    state, kept = model.state(theta, theta_dot), (theta.copy(), theta_dot.copy())
    theta[:], theta_dot[:] = np.nan, np.nan
    np.testing.assert_array_equal(state.theta, kept[0])
    np.testing.assert_array_equal(state.theta_dot, kept[1])


def test_coordinates_are_handed_out_as_copies_that_cannot_be_written_to(rng):
    state = moving(rng, time=1.5)
    before = state.theta
    for array in (state.theta, state.theta_dot):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    state.update(state.model.neutral())
    assert (before != state.theta).any()


# What it refuses


def spoiled(values, i, value):
    values = values.copy()
    values[i] = value
    return values


REFUSED = {
    "a NaN coordinate": (lambda s: {"theta": spoiled(s.theta, 1, np.nan)}, "theta: entry 1 is nan"),
    "an infinite coordinate": (lambda s: {"theta": spoiled(s.theta, 0, -np.inf)}, "theta: entry 0 is -inf"),
    "a NaN rate": (lambda s: {"theta_dot": spoiled(s.theta_dot, 2, np.nan)}, "theta_dot: entry 2 is nan"),
    "few coordinates": (lambda s: {"theta": s.theta[1:]}, r"theta: shape \(\d+,\), expected"),
    "many rates": (lambda s: {"theta_dot": [*s.theta_dot, 0.0]}, r"theta_dot: shape \(\d+,\), expected"),
    "a table": (lambda s: {"theta": s.theta[None]}, r"theta: shape \(1, \d+\), expected"),
    "a number": (lambda s: {"theta": 1.0}, r"theta: shape \(\), expected"),
    "texts": (lambda s: {"theta": ["x"] * s.theta.size}, "theta: cannot be read as real numbers"),
    "complex numbers": (lambda s: {"theta": s.theta + 1j}, "theta: cannot be read as real numbers"),
    "none among them": (lambda s: {"theta_dot": [None] * s.theta_dot.size}, "theta_dot"),
    "a dictionary": (lambda s: {"theta": {}}, "theta: cannot be read as real numbers"),
    "ragged lists": (lambda s: {"theta_dot": [[1.0], [1.0, 2.0]]}, "theta_dot: cannot be read"),
    "a long quaternion": (lambda s: {"theta": spoiled(s.theta, 3, 2.0)}, "entries 3 to 6 are a quaternion"),
    "a null quaternion": (
        lambda s: {"theta": spoiled(s.theta, slice(3, 7), 0.0)},
        "entries 3 to 6 are a quaternion x, y, z, w of length 0; it must be 1",
    ),
    "a NaN time": (lambda s: {"time": np.nan}, "time: nan is not finite"),
    "a time of two": (lambda s: {"time": [1.0, 2.0]}, r"time: shape \(2,\)"),
    "good rates with bad coordinates": (
        lambda s: {"theta": s.theta[1:], "theta_dot": 0.0 * s.theta_dot, "time": 9.0},
        "theta: shape",
    ),
    "good coordinates with bad rates": (
        lambda s: {"theta": s.model.neutral(), "theta_dot": s.theta_dot[1:], "time": 9.0},
        "theta_dot: shape",
    ),
    "good coordinates with a bad time": (
        lambda s: {"theta": s.model.neutral(), "theta_dot": 0.0 * s.theta_dot, "time": "soon"},
        "time: cannot be read",
    ),
}


@pytest.mark.parametrize(("given", "message"), REFUSED.values(), ids=REFUSED)
def test_update_refuses_and_changes_nothing(given, message, rng):
    state = moving(rng, time=1.5)
    before = state.theta, state.theta_dot, state.free_acceleration(), state.link_velocities()
    with pytest.raises(ModelError, match=message):
        state.update(**given(state))
    after = state.theta, state.theta_dot, state.free_acceleration(), state.link_velocities()
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)
    assert state.time == 1.5


def test_states_are_refused_as_updates_are(rng):
    model = mixed_model(rng)
    with pytest.raises(ModelError, match="theta: shape"):
        model.state([0.0])
    with pytest.raises(ModelError, match="theta_dot: shape"):
        model.state(None, [0.0])
    with pytest.raises(ModelError, match="time"):
        model.state(time=np.inf)


@pytest.mark.parametrize("off", [1e-15, 1e-12, 1e-9, 9e-7, -9e-7])
def test_quaternions_that_are_almost_of_length_one_are_normalised(off, rng):
    model = mixed_model(rng)
    theta, theta_dot = random_motion(rng, model)
    quaternions = model.tree.coordinates.quaternions
    given = theta.copy()
    given[quaternions] *= 1.0 + off
    state = model.state(given, theta_dot)
    np.testing.assert_allclose(np.linalg.norm(state.theta[quaternions], axis=1), 1.0, atol=1e-14)
    rotations = state.link_poses()[0]
    assert_close(rotations @ rotations.transpose(0, 2, 1), np.broadcast_to(np.eye(3), rotations.shape))
    assert_close(state.free_acceleration(), model.state(theta, theta_dot).free_acceleration())


def test_a_quaternion_too_far_from_length_one_is_a_mistake(rng):
    model = Model([random_link(rng, "ball", "world", "ball")])
    with pytest.raises(ModelError, match="length 1.00001; it must be 1 within 1e-06"):
        model.state([0.0, 0.0, 0.0, 1.00001])


def test_both_signs_of_a_quaternion_are_one_state(rng):
    state = moving(rng, time=1.5)
    turned = state.theta.copy()
    turned[state.tree.coordinates.quaternions] *= -1.0
    other = state.model.state(turned, state.theta_dot)
    assert_close(other.free_acceleration(), state.free_acceleration())


FORCES = {
    "a NaN": (lambda n: np.full(n, np.nan), "force: entry 0 is nan"),
    "an infinity": (lambda n: spoiled(np.zeros(n), 1, np.inf), "force: entry 1 is inf"),
    "too few": (lambda n: np.zeros(n - 1), "force: shape"),
    "a list of too many": (lambda n: [0.0] * (n + 1), "force: shape"),
    "complex": (lambda n: np.zeros(n) + 1j, "force: cannot be read as real numbers"),
    "texts": (lambda n: np.array(["1"] * n), "force: cannot be read as real numbers"),
}


@pytest.mark.parametrize(("given", "message"), FORCES.values(), ids=FORCES)
def test_forces_that_are_none_are_refused_and_forgotten(given, message, rng):
    state = moving(rng, time=1.5)
    n, before = state.model.n_dofs, state.free_acceleration()
    for call in (state.free_acceleration, state.solve_mass, state.respond):
        with pytest.raises(ModelError, match=message):
            call(given(n))
    np.testing.assert_array_equal(state.free_acceleration(), before)
    assert np.isfinite(state.compliance(["link3"])).all()


@pytest.mark.parametrize("dtype", [np.float32, np.int64, object])
def test_forces_of_other_number_types_are_taken(dtype, rng):
    state = moving(rng, time=1.5)
    ones = np.ones(state.model.n_dofs)
    np.testing.assert_array_equal(state.free_acceleration(ones.astype(dtype)), state.free_acceleration(ones))
    np.testing.assert_array_equal(state.free_acceleration(ones.tolist()), state.free_acceleration(ones))


def test_rates_beyond_all_numbers_are_named_as_the_cause(rng):
    state = moving(rng, time=1.5)
    state.update(theta_dot=np.full(state.model.n_dofs, 1e200))
    with pytest.raises(ModelError, match="beyond all numbers.*huge rates"):
        state.free_acceleration()


@pytest.mark.parametrize("call", ["apply_wrenches", "respond"])
def test_tables_of_wrenches_have_one_row_a_link(call, rng):
    state = moving(rng, time=1.5)
    name = {"apply_wrenches": "link_wrenches"}.get(call, "link_wrenches")
    for table in (np.zeros((3, 6)), np.full((state.model.n_links, 6), np.nan)):
        with pytest.raises(ModelError, match=name):
            getattr(state, call)(link_wrenches=table)
