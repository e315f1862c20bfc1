"""Every kind of hinge: its coordinates, its axes, and that links move as their rates say."""

import numpy as np
import pytest
from trees import KINDS, random_link, random_motion, random_tree

from mcpframe.exceptions import ModelError
from mcpframe.multibody import Hinge, Model
from mcpframe.multibody.model.hinge import SIZES, plane_directions
from mcpframe.spatial.transforms import (
    quaternion_product,
    rotation_from_quaternion,
    rotation_vector_from_rotation,
)

STEP = 1e-5
"""Seconds on either side in central differences: truncation and rounding both stay near 1e-10."""
DIFFERENCE_TOLERANCE = 1e-7
ROUNDING = 1e-14
ENERGY_TOLERANCE = 1e-10
"""Relative; RK4 with 0.5 ms steps loses less, a wrong Coriolis term loses ten orders more."""
MOVING = [kind for kind in KINDS if kind != "locked"]


def one_link(rng, kind):
    return Model([random_link(rng, "link", "world", kind)])


def of_each_kind(rng, kind):
    """A chain of two links on hinges of one kind, the second with a locked link on it."""
    links = [random_link(rng, "a", "world", kind), random_link(rng, "b", "a", kind)]
    return Model([*links, random_link(rng, "c", "b", "locked")], gravity=(1.0, -2.0, -9.0))


def velocities_by_differences(model, theta, theta_dot):
    """Angular and linear velocities of the links from their poses a moment before and after."""
    before, after = (model.state(model.integrate(theta, theta_dot, dt)) for dt in (-STEP, STEP))
    (R_0, x_0), (R_1, x_1) = before.link_poses(), after.link_poses()
    turns = [rotation_vector_from_rotation(end @ start.T) for start, end in zip(R_0, R_1, strict=True)]
    return np.hstack([np.array(turns), x_1 - x_0]) / (2 * STEP)


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_and_neutral_coordinates_agree(kind, rng):
    hinge = one_link(rng, kind).links[0].hinge
    assert (hinge.n_theta, hinge.n_dof) == SIZES[kind]
    assert hinge.neutral().shape == (hinge.n_theta,)
    assert (
        sum({"ball": 3, "free": 6, "locked": 0}.get(part, 1) for part, _ in hinge.elementary()) == hinge.n_dof
    )


@pytest.mark.parametrize("kind", KINDS)
def test_at_neutral_coordinates_the_link_is_its_hinge_frame(kind, rng):
    model = one_link(rng, kind)
    (R,), (x,) = model.state().link_poses()
    np.testing.assert_allclose(R, model.links[0].pose.rotation, atol=ROUNDING)
    np.testing.assert_allclose(x, model.links[0].pose.position, atol=ROUNDING)


@pytest.mark.parametrize("kind", MOVING)
def test_the_neutral_map_is_what_the_rates_do_there(kind, rng):
    model = one_link(rng, kind)
    R = np.kron(np.eye(2), model.links[0].pose.rotation)
    columns = model.state().hinge_columns()
    np.testing.assert_allclose(columns.T, R @ model.links[0].hinge.neutral_map(), atol=ROUNDING)


@pytest.mark.parametrize("kind", KINDS)
def test_links_move_as_the_rates_say(kind, rng):
    model = of_each_kind(rng, kind)
    theta, theta_dot = random_motion(rng, model)
    moving = model.state(theta, theta_dot).link_velocities()
    np.testing.assert_allclose(
        moving, velocities_by_differences(model, theta, theta_dot), atol=DIFFERENCE_TOLERANCE
    )


@pytest.mark.parametrize("kind", KINDS)
def test_bias_is_the_rate_of_velocities_while_the_rates_stay(kind, rng):
    model = of_each_kind(rng, kind)
    theta, theta_dot = random_motion(rng, model)
    before, after = (
        model.state(model.integrate(theta, theta_dot, dt), theta_dot).link_velocities()
        for dt in (-STEP, STEP)
    )
    bias = model.state(theta, theta_dot).link_bias()
    np.testing.assert_allclose(bias, (after - before) / (2 * STEP), atol=10 * DIFFERENCE_TOLERANCE)


@pytest.mark.parametrize("kind", MOVING)
def test_hinge_columns_are_the_derivatives_of_relative_motion(kind, rng):
    model = one_link(rng, kind)
    theta, _ = random_motion(rng, model)
    columns = model.state(theta).hinge_columns()
    for column, rate in zip(columns, np.eye(model.n_dofs), strict=True):
        (by_difference,) = velocities_by_differences(model, theta, rate)
        np.testing.assert_allclose(column, by_difference, atol=DIFFERENCE_TOLERANCE)


def coordinate_rates(model, theta, theta_dot):
    """d theta/dt: the rates themselves, and q (omega / 2) and R v for quaternions and free positions."""
    rates = np.zeros(model.n_theta)
    for link, i, d in zip(model.links, model.theta_start, model.dof_start, strict=True):
        kind, n = link.hinge.kind, link.hinge.n_dof
        if kind == "free":
            rates[i : i + 3] = rotation_from_quaternion(theta[i + 3 : i + 7]) @ theta_dot[d : d + 3]
        if kind in ("ball", "free"):
            turn = np.append(theta_dot[d + n - 3 : d + n] / 2, 0.0)
            end = i + link.hinge.n_theta
            rates[end - 4 : end] = quaternion_product(theta[end - 4 : end], turn)
        else:
            rates[i : i + n] = theta_dot[d : d + n]
    return rates


def runge_kutta(model, theta, theta_dot, dt):
    """One step of RK4 on theta and theta_dot; quaternions leave length one by its error only."""

    def rates(y):
        moving = model.state(model.check_theta(y[0]), y[1])
        return np.array([coordinate_rates(model, *y), moving.free_acceleration()], dtype=object)

    y = np.array([theta, theta_dot], dtype=object)
    k_1 = rates(y)
    k_2 = rates(y + dt / 2 * k_1)
    k_3 = rates(y + dt / 2 * k_2)
    k_4 = rates(y + dt * k_3)
    theta, theta_dot = y + dt / 6 * (k_1 + 2 * k_2 + 2 * k_3 + k_4)
    return model.check_theta(theta.astype(float)), theta_dot.astype(float)


@pytest.mark.parametrize("kind", MOVING)
def test_free_motion_keeps_energy(kind, rng):
    model = of_each_kind(rng, kind)
    theta, theta_dot = random_motion(rng, model)
    state = model.state(theta, theta_dot)
    start, largest = state.kinetic_energy() + state.potential_energy(), state.kinetic_energy()
    for _ in range(100):
        theta, theta_dot = runge_kutta(model, theta, theta_dot, 5e-4)
        state.update(theta, theta_dot)
        largest = max(largest, state.kinetic_energy())
    end = state.kinetic_energy() + state.potential_energy()
    assert abs(end - start) < ENERGY_TOLERANCE * largest


def test_universal_planar_and_cylindrical_hinges_are_chains_of_simple_ones():
    axis, axis_2 = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
    assert Hinge("universal", axis, axis_2).elementary() == (("pin", axis), ("pin", axis_2))
    assert Hinge("cylindrical", axis).elementary() == (("pin", axis), ("prismatic", axis))
    x, y = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    assert Hinge("planar", axis).elementary() == (("prismatic", x), ("prismatic", y), ("pin", axis))
    assert Hinge("ball").elementary() == (("ball", None),)


def test_plane_directions_are_right_handed_and_perpendicular(rng):
    for axis in [*np.eye(3), *-np.eye(3), *rng.standard_normal((20, 3))]:
        unit = Hinge("planar", axis).axis
        frame = np.column_stack([*plane_directions(unit), unit])
        np.testing.assert_allclose(frame.T @ frame, np.eye(3), atol=ROUNDING)
        assert np.linalg.det(frame) > 0.0


def test_axes_are_kept_at_length_one():
    assert Hinge("pin", (0, -3, 0)).axis == (0.0, -1.0, 0.0)
    assert Hinge("pin", [0, 0, 2]) == Hinge("pin")


@pytest.mark.parametrize(
    "axis", [(0, 0, 0), (np.nan, 0, 1), (np.inf, 0, 0), (1, 0), "z", None, (1e-20, 0, 0)]
)
def test_an_axis_without_direction_is_refused(axis):
    with pytest.raises(ModelError, match="axis"):
        Hinge("pin", axis)


def test_parallel_axes_of_a_universal_hinge_are_refused():
    with pytest.raises(ModelError, match="parallel"):
        Hinge("universal", (0, 0, 1), (0, 0, -2))


def test_a_second_axis_belongs_to_universal_hinges_alone():
    with pytest.raises(ModelError, match="axis_2"):
        Hinge("universal", (0, 0, 1))
    with pytest.raises(ModelError, match="axis_2"):
        Hinge("pin", (0, 0, 1), (1, 0, 0))


def test_an_unknown_kind_is_refused_with_a_suggestion():
    with pytest.raises(ModelError, match="did you mean 'prismatic'"):
        Hinge("prismatik")


def test_rates_of_mixed_trees_move_all_links(rng):
    for _ in range(5):
        model = random_tree(rng, 8, extra_roots=0.2)
        theta, theta_dot = random_motion(rng, model)
        moving = model.state(theta, theta_dot).link_velocities()
        by_difference = velocities_by_differences(model, theta, theta_dot)
        np.testing.assert_allclose(moving, by_difference, atol=10 * DIFFERENCE_TOLERANCE)
