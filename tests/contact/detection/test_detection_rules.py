"""Which shapes meet, and with which material."""

import numpy as np
import pytest
from detection_scenes import free_link

import mcpframe as mf
from mcpframe.contact.detection import Detector, Material
from mcpframe.exceptions import McpframeError, ModelError
from mcpframe.multibody import Ball, Hinge, Link, Model, Node, Weld
from mcpframe.multibody.model.shapes import Box, Geometry, Plane, Sphere
from mcpframe.spatial.transforms import Pose

PIN = Hinge("pin", (0, 1, 0))


def ball(name, parent="world", hinge=PIN, mass=1.0, shapes=1, place=(0, 0, 0)):
    """A link with concentric spheres, so that every pair that may meet does."""
    geometry = [Geometry(Sphere(0.5), name=f"{name}_{i}") for i in range(shapes)]
    return Link(name, parent, hinge, Pose(place), mass=mass, inertia=0.1 * np.eye(3), geometry=geometry)


def pairs(model, **options):
    """Names of bodies that meet, A first."""
    detector = Detector(model, **options)
    names = [contact.body_a + " " + contact.body_b for contact in detector.contacts(model.state(), 10.0)]
    return sorted(set(names))


def test_shapes_of_one_body_never_meet():
    assert pairs(Model([ball("a", shapes=3)])) == []


def test_neighbours_do_not_meet_unless_asked_and_their_neighbours_do():
    model = Model([ball("a"), ball("b", "a"), ball("c", "b")])
    assert pairs(model) == ["c a"]
    assert pairs(model, neighbours=True) == ["b a", "c a", "c b"]
    assert pairs(model, neighbours=[("a", "b")]) == ["b a", "c a"]
    assert pairs(model, neighbours=["c"]) == ["c a", "c b"]


def test_links_that_are_locked_together_are_one_body_and_share_its_neighbours():
    model = Model(
        [ball("a"), ball("a2", "a", "locked"), ball("b", "a2"), ball("b2", "b", "locked"), ball("c", "b2")]
    )
    assert pairs(model) == ["c a", "c a2"]


def test_the_world_is_nobodys_neighbour():
    model = Model([ball("a")], geometry=[Geometry(Sphere(0.1))])
    assert pairs(model) == ["a world"]


def test_links_locked_to_the_world_meet_neither_it_nor_each_other_nor_what_they_carry():
    links = [
        ball("base", hinge="locked"),
        ball("shelf", hinge="locked"),
        ball("arm", "base"),
        ball("hand", "arm"),
    ]
    model = Model(links, geometry=[Geometry(Sphere(0.1))])
    assert pairs(model) == ["arm world", "hand base", "hand world", "shelf arm", "shelf hand"]


def test_links_without_mass_and_shape_do_not_separate_neighbours():
    empty = Link("empty", "a", PIN)
    model = Model([ball("a"), empty, ball("b", "empty", Hinge("pin", (1, 0, 0)))])
    assert pairs(model) == []


def test_a_free_hinge_joins_nothing():
    assert pairs(Model([ball("a"), ball("b", "a", "free")])) == ["b a"]


@pytest.mark.parametrize("closure", [Ball, Weld])
def test_bodies_that_a_closure_joins_are_neighbours(closure):
    model = Model([ball("a"), ball("b"), ball("c")], closures=[closure(Node("a"), Node("b"))])
    assert pairs(model) == ["c a", "c b"]
    assert pairs(model, neighbours=True) == ["b a", "c a", "c b"]
    assert pairs(model, neighbours=[("b", "a")]) == ["b a", "c a", "c b"]


def test_what_a_closure_holds_to_the_world_still_meets_it():
    model = Model([ball("a")], closures=[Ball(Node("a"), Node("world"))], geometry=[Geometry(Sphere(0.1))])
    assert pairs(model) == ["a world"]


IGNORED = {
    "a pair of bodies": ([("a", "b")], ["a world", "b world", "c a", "c b", "c world"]),
    "in either order": ([("b", "a")], ["a world", "b world", "c a", "c b", "c world"]),
    "a body and the world": ([("world", "a")], ["b a", "b world", "c a", "c b", "c world"]),
    "a body altogether": (["a"], ["b world", "c b", "c world"]),
    "a pattern": ([("?", "world")], ["b a", "c a", "c b"]),
    "a shape": ([("floor", "*")], ["b a", "c a", "c b"]),
    "a frame of a body": ([("tip", "b")], ["a world", "b world", "c a", "c b", "c world"]),
    "all shapes of a body but one": (
        [("a_0", "b"), ("a_0", "c")],
        ["a world", "b a", "b world", "c a", "c b", "c world"],
    ),
}


@pytest.mark.parametrize("case", IGNORED)
def test_ignored_bodies_and_shapes_do_not_meet(case):
    ignore, expected = IGNORED[case]
    model = Model([ball("a", shapes=2), ball("b"), ball("c")], geometry=[Geometry(Sphere(0.1), name="floor")])
    model.add_frame("tip", "a")
    assert pairs(model, ignore=ignore) == expected


def test_shapes_named_after_a_frame_answer_to_that_frame_alone():
    shapes = [Geometry(Sphere(0.1), name="base"), Geometry(Sphere(0.1), name="floor")]
    model = Model([ball("a")], geometry=shapes)
    model.add_frame("base", "world")
    detector = Detector(model, ignore=[("a", "base")])
    detector.detect(model.state())
    assert detector.pairs.tolist() == [[2, 1]]


def material_of(detector, model, a, b):
    for contact in detector.contacts(model.state(), 10.0):
        if {contact.body_a, contact.body_b} == {a, b}:
            return contact
    raise AssertionError(f"{a} and {b} do not meet")


def test_materials_are_looked_up_by_pair_the_last_entry_holding():
    model = Model([ball("a"), ball("b"), ball("c")], geometry=[Geometry(Sphere(0.1), name="floor")])
    materials = {
        "default": Material(0.1, 0.2),
        "a": Material(0.3),
        ("b", "floor"): {"mu": 0.4, "restitution": 0.5, "law": "frictionless"},
        ("c", "*"): Material(0.6),
        ("a", "c_0"): Material(0.7, law={"name": "coulomb", "friction_directions": 8}),
    }
    detector = Detector(model, materials=materials)
    found = {pair: material_of(detector, model, *pair) for pair in ("ab", "bc", "ac")}
    floor = {body: material_of(detector, model, body, "world") for body in "abc"}
    assert (found["ab"].mu, found["bc"].mu, found["ac"].mu) == (0.3, 0.6, 0.7)
    assert (floor["a"].mu, floor["b"].mu, floor["c"].mu) == (0.3, 0.4, 0.6)
    assert floor["b"].restitution == 0.5
    assert floor["b"].law.name == "frictionless"
    assert found["ac"].law.friction_directions == 8
    assert found["ab"].law is None
    assert [m.mu for m in detector.materials] == [0.1, 0.3, 0.4, 0.6, 0.7]


def test_without_materials_there_is_neither_friction_nor_restitution():
    model = Model([ball("a"), ball("b")])
    (contact,) = Detector(model).contacts(model.state())
    assert (contact.mu, contact.restitution, contact.law) == (0.0, 0.0, None)


def test_a_step_takes_the_law_of_each_material_and_its_own_for_the_rest():
    model = Model([free_link("a", Sphere(0.5)), free_link("b", Sphere(0.5))], geometry=[Geometry(Plane())])
    theta = np.array([[0, 0, 0.5, 0, 0, 0, 1], [2, 0, 0.5, 0, 0, 0, 1]], dtype=float)
    detector = Detector(
        model, materials={"default": Material(0.5), ("b", "world"): Material(law="frictionless")}
    )
    state = model.state(theta.ravel())
    step = mf.ContactStep(state, detector.contacts(state), 1e-3, law="coulomb")
    assert [rows.m for rows in step.law_rows] == [5, 1]


BAD = {
    "an unknown name": ({"ignore": [("a", "bb")]}, r"'bb'.*did you mean 'b'"),
    "three names": ({"ignore": [("a", "b", "c")]}, r"ignore.*pair of names"),
    "a number for a name": ({"ignore": [("a", 3)]}, r"ignore.*pair of names"),
    "a number for a pair": ({"ignore": [3]}, r"ignore.*pair of names"),
    "an unknown material's body": ({"materials": {("a", "x"): Material()}}, r"'x'"),
    "no material": ({"materials": {"default": 0.5}}, r"0.5.*Material"),
    "an unknown key": ({"materials": {"default": {"friction": 1.0}}}, r"'friction'"),
    "negative friction": ({"materials": {"default": {"mu": -1.0}}}, r"mu = -1"),
    "too much restitution": ({"materials": {"default": {"restitution": 1.5}}}, r"restitution = 1.5"),
    "friction that is no number": ({"materials": {"default": {"mu": "high"}}}, r"mu = 'high'"),
    "an unknown law": ({"materials": {"default": {"law": "glue"}}}, r"glue"),
    "an unknown neighbour": ({"neighbours": [("a", "x")]}, r"'x'"),
    "a margin that is not finite": ({"margin": np.nan}, r"margin"),
    "a margin that is no number": ({"margin": "wide"}, r"margin"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_by_name(case):
    options, message = BAD[case]
    with pytest.raises(McpframeError, match=message):
        Detector(Model([ball("a"), ball("b")]), **options)


def test_half_spaces_that_move_against_each_other_are_refused():
    model = Model([free_link("tray", Plane()), free_link("b", Box((1, 1, 1)))], geometry=[Geometry(Plane())])
    with pytest.raises(ModelError, match=r"half-spaces.*ignore"):
        Detector(model)
    assert pairs(model, ignore=[("tray", "world")]) == ["b tray", "b world"]
