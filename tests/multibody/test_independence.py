"""Independent rows of closures: by rank, whatever the units and masses, and where loops are open."""

from dataclasses import replace

import numpy as np
import pytest

import mcpframe as mf
from mcpframe import systems
from mcpframe.multibody import Ball, Distance, Model, Node, Pin, closure_rows
from mcpframe.multibody.independence import IndependentRows

EXACT = 1e-11
LINKAGES = [
    systems.bennett(),
    systems.bricard(),
    systems.parallelogram(),
    systems.four_bar(),
    systems.four_bar(weld=True),
    systems.closed_chain(7),
]


def independent(state, certain=None):
    return IndependentRows.of(state, closure_rows(state), certain)


@pytest.mark.parametrize("model", LINKAGES, ids=lambda model: model.name)
def test_as_many_rows_are_kept_as_their_rank_and_the_others_follow(model):
    found = independent(model.state())
    assert (
        found.kept.size
        == np.linalg.matrix_rank(found.G, tol=1e-9)
        == np.linalg.matrix_rank(found.G[found.kept])
    )
    assert sorted([*found.kept, *found.repeated]) == list(range(found.n))
    np.testing.assert_allclose(found.shares @ found.G[found.kept], found.G, atol=EXACT)


@pytest.mark.parametrize("model", LINKAGES, ids=lambda model: model.name)
def test_impulses_of_least_norm_do_the_same_whoever_shared_them(model, rng):
    found = independent(model.state())
    p = rng.standard_normal(found.n)
    for same in (found.on_kept(p), found.least(p)):
        np.testing.assert_allclose(found.G.T @ same, found.G.T @ p, atol=EXACT)
    np.testing.assert_allclose(
        found.least(p), np.linalg.pinv(found.G.T, rcond=1e-9) @ found.G.T @ p, atol=EXACT
    )
    np.testing.assert_allclose(found.least(found.on_kept(p)), found.least(p), atol=EXACT)
    assert not found.on_kept(p)[found.repeated].any()


def scaled(model, length, mass):
    """The same mechanism of other lengths and masses."""
    links = []
    for link in model.links:
        pose = mf.Pose(length * link.pose.position, link.pose.rotation)
        inertia = mass * length**2 * link.inertia
        links.append(
            mf.Link(link.name, link.parent, link.hinge, pose, mass * link.mass, length * link.com, inertia)
        )
    ends = [
        [Node(node.body, length * node.position, node.rotation) for node in (closure.node_a, closure.node_b)]
        for closure in model.closures
    ]
    closures = [
        replace(closure, node_a=a, node_b=b) for closure, (a, b) in zip(model.closures, ends, strict=True)
    ]
    return Model(links, closures)


@pytest.mark.parametrize("length", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("mass", [1e-6, 1e6])
@pytest.mark.parametrize("model", LINKAGES, ids=lambda model: model.name)
def test_units_and_masses_do_not_matter(model, length, mass):
    rank = independent(model.state()).kept.size
    assert independent(scaled(model, length, mass).state()).kept.size == rank


def test_a_plane_that_leans_has_as_many_independent_rows_as_one_that_does_not():
    """Rows that vanish are rounding there, and not zero."""
    model = systems.four_bar()
    lean = mf.Pose.from_rpy((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
    links = [
        mf.Link(
            link.name,
            link.parent,
            link.hinge,
            lean @ link.pose if link.parent == "world" else link.pose,
            link.mass,
            link.com,
            link.inertia,
        )
        for link in model.links
    ]
    (pin,) = model.closures
    place = lean @ pin.node_b.pose
    on_world = Node("world", place.position, place.rotation)
    closed = Model(links, [Pin(pin.node_a, on_world, pin.axis)])
    assert independent(closed.state()).kept.size == 2


def test_a_hinge_that_is_closed_once_more_has_no_independent_row():
    model = systems.pendulum(2)
    model.add_closure(
        Pin(Node("link_2"), Node("link_1", model.links[1].pose.position), model.links[1].hinge.axis)
    )
    model.add_closure(Ball(Node("link_2"), Node("link_1", model.links[1].pose.position)))
    model.add_closure(Distance(Node("link_2", (0.0, 0.0, -0.5)), Node("world", (3.0, 0.0, 4.0)), 3.0))
    assert independent(model.state([0.3, 0.2])).kept.tolist() == [8]


def test_what_the_loops_error_explains_does_not_count():
    """Bennett's linkage opened by a tenth of a millimetre: five rows, three of them independent by number."""
    model = systems.bennett()
    state = model.state([1e-4, 0.0, 0.0])
    assert independent(state).kept.size == 3
    assert independent(state, certain=2).kept.size == 2
