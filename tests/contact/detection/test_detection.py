"""The detector as users meet it: where shapes are, sets of contacts, steps made of them, misuse."""

import numpy as np
import pytest
from detection_scenes import EXACT, free_link
from trees import random_motion, random_tree

import mcpframe as mf
from mcpframe.contact import Contact, ContactSet
from mcpframe.contact.detection import Detector, Material
from mcpframe.contact.detection import records as rec
from mcpframe.contact.detection.kernels.detect import detect_contacts
from mcpframe.exceptions import ModelError
from mcpframe.multibody import Link, Model
from mcpframe.multibody.model.shapes import Box, Capsule, Geometry, Plane, Sphere
from mcpframe.spatial.transforms import Pose


def box_on_floor(**options):
    model = Model([free_link("box", Box((1, 1, 1)))], geometry=[Geometry(Plane())], **options)
    return model, model.state([0.2, 0.1, 0.5, 0.0, 0.0, 0.0, 1.0])


def dressed(rng, n):
    """A random tree with hinges of every kind, a box on every link."""
    bare = random_tree(rng, n, root="free", extra_roots=0.2)
    links = []
    for link in bare.links:
        pose = Pose.from_rpy(rng.uniform(-0.2, 0.2, 3), rng.uniform(-1.0, 1.0, 3))
        fields = {
            key: getattr(link, key) for key in ("name", "parent", "hinge", "pose", "mass", "com", "inertia")
        }
        links.append(Link(**fields, armature=1.0, geometry=[Geometry(Box(rng.uniform(0.1, 0.4, 3)), pose)]))
    return Model(links, geometry=[Geometry(Plane(), Pose.from_rpy((0, 0, -1), (0.1, 0.2, 0)))])


def test_shapes_are_where_the_state_has_their_links(rng):
    model = dressed(rng, 15)
    state = model.state(*random_motion(rng, model))
    detector = Detector(model)
    detector.detect(state)
    at = detector.ID[rec.PLACES]
    places = detector.XD[at : at + len(detector.shapes) * rec.PLACE].reshape(-1, rec.PLACE)
    for shape, place in zip(detector.shapes, places, strict=True):
        body = "world" if shape.link < 0 else model.links[shape.link].name
        pose = state.pose(body) @ shape.geometry.pose
        np.testing.assert_allclose(place[12:15], pose.position, rtol=0.0, atol=EXACT)
        np.testing.assert_allclose(place[:12].reshape(3, 4)[:, :3].T, pose.rotation, rtol=0.0, atol=EXACT)


def test_spheres_far_along_a_chain_are_where_the_state_has_them(rng):
    model = mf.systems.pendulum(links=60)  # long enough for several reference points in the kernels
    state = model.state(rng.uniform(-1.0, 1.0, 60))
    detector = Detector(model)
    detector.detect(state)
    at = detector.ID[rec.PLACES]
    places = detector.XD[at : at + len(detector.shapes) * rec.PLACE].reshape(-1, rec.PLACE)
    rotations, positions = state.link_poses()
    for shape, place in zip(detector.shapes, places, strict=True):
        if shape.link >= 0:
            x = positions[shape.link] + rotations[shape.link] @ shape.geometry.pose.position
            np.testing.assert_allclose(place[12:15], x, rtol=0.0, atol=EXACT)


def test_bodies_of_contacts_are_those_of_their_shapes(rng):
    model = dressed(rng, 15)
    state = model.state(*random_motion(rng, model))
    detector = Detector(model)
    contacts = detector.contacts(state, margin=0.5)
    assert len(contacts) > 20
    links = [[detector.shapes[k].link for k in pair] for pair in detector.pairs]
    assert (np.column_stack([contacts.link_a, contacts.link_b]) == links).all()
    body_of = np.append(model.tree.skeleton.link_body, -1)
    assert (detector.body_a == body_of[contacts.link_a]).all()
    assert (detector.body_b == body_of[contacts.link_b]).all()


def test_a_set_from_records_is_the_set_of_its_contacts():
    model, state = box_on_floor()
    detected = Detector(model, materials={"default": Material(0.5, 0.2, "coulomb")}).contacts(state)
    made = ContactSet(
        model,
        [
            Contact(c.body_a, c.body_b, c.point, c.normal, c.mu, c.restitution, c.gap, law=c.law)
            for c in detected
        ],
    )
    assert len(detected) == len(made) == 4
    assert [c.body_a for c in detected] == ["box"] * 4
    assert [c.body_b for c in detected] == ["world"] * 4
    for name in (
        "record",
        "flat_record",
        "link_a",
        "link_b",
        "points",
        "normals",
        "tangents",
        "gaps",
        "axes",
    ):
        np.testing.assert_allclose(getattr(detected, name), getattr(made, name), rtol=0.0, atol=EXACT)
    law = mf.contact_law("coulomb")
    assert detected.law_rows(law, 1e-3, 4) == made.law_rows(law, 1e-3, 4)
    assert detected[1].gap == detected.gaps[1]
    assert len(detected[1:3]) == 2


def test_sets_keep_their_contacts_when_the_detector_goes_on():
    model, state = box_on_floor()
    detector = Detector(model)
    contacts = detector.contacts(state)
    record = contacts.record.copy()
    state.update([0.2, 0.1, 0.4, 0.0, 0.0, 0.0, 1.0])
    detector.contacts(state)
    assert (contacts.record == record).all()
    assert contacts[0].gap == 0.0


@pytest.mark.parametrize("formulation", sorted(mf.available_formulations()))
def test_every_formulation_takes_detected_contacts(formulation):
    model, state = box_on_floor()
    contacts = Detector(model, materials={"default": Material(0.5)}).contacts(state)
    step = mf.ContactStep(state, contacts, 1e-3)
    chosen = mf.formulation(formulation)
    problem, recovery = chosen.build(step)
    outcome = chosen.recover(recovery, mf.solve(problem, "lemke"))
    assert np.abs(outcome.theta_dot).max() <= 1e-9
    np.testing.assert_allclose(outcome.impulses.sum(axis=0), [0.0, 0.0, 9.81e-3], rtol=0.0, atol=1e-9)


def test_the_pendulum_meets_floor_wall_and_itself_but_not_its_neighbours():
    model = mf.systems.pendulum(links=6)
    theta = np.zeros(6)
    theta[1:] = 2.0 * np.pi / 6  # it closes to a hexagon
    detector = Detector(model)
    contacts = detector.contacts(model.state(theta), margin=1e-9)
    assert all(abs(a - b) > 1 for a, b in zip(contacts.link_a, contacts.link_b, strict=True) if b >= 0)
    assert detector.has_kernels


def test_nothing_is_found_where_nothing_is_near():
    model = mf.systems.pendulum(links=3)
    state = model.state([np.pi / 4, 0.0, 0.0])
    assert len(Detector(model).contacts(state)) == 0
    assert len(Detector(model).contacts(state, margin=100.0)) == 7  # 3 with floor and wall each, 3 with 1


def test_the_margin_of_a_call_goes_before_that_of_the_detector():
    model, state = box_on_floor()
    state.update([0.2, 0.1, 0.55, 0.0, 0.0, 0.0, 1.0])
    detector = Detector(model, margin=0.1)
    assert (detector.detect(state), detector.detect(state, 0.0), detector.detect(state)) == (4, 0, 4)


def test_the_kernel_alone_does_the_same():
    model, state = box_on_floor()
    detector = Detector(model)
    expected = detector.contacts(state)
    ID, XD = detector.ID.copy(), detector.XD.copy()
    XD[rec.MARGIN] = 0.0
    assert detect_contacts(state.I, state.X, ID, XD) == 4
    at = ID[rec.RECORDS]
    assert (XD[at : at + 4 * rec.RECORD].reshape(4, -1) == expected.record).all()


def test_a_plane_on_a_moving_link_carries_what_lies_on_it():
    tray = free_link("tray", Plane(), pose=Pose.from_rpy((0, 0, 0.1), (0, 0, 0)))
    model = Model([free_link("ball", Sphere(0.5)), tray])
    theta = np.array([[0, 0, 2.0, 0, 0, 0, 1], [0, 0, 1.4, 0, 0, 0, 1]], dtype=float)
    (contact,) = Detector(model).contacts(model.state(theta.ravel()))
    assert (contact.body_a, contact.body_b) == ("tray", "ball")
    np.testing.assert_allclose(contact.normal, [0, 0, -1], rtol=0.0, atol=EXACT)
    assert abs(contact.gap) <= EXACT


def test_a_state_of_another_model_is_refused():
    model, _ = box_on_floor()
    with pytest.raises(ModelError, match="another tree"):
        Detector(model).contacts(box_on_floor()[1])


def test_a_model_that_has_grown_needs_a_new_detector():
    model, _ = box_on_floor()
    detector = Detector(model)
    model.add_link(free_link("more", Capsule(0.1, 0.2)))
    with pytest.raises(ModelError, match="new detector"):
        detector.contacts(model.state())


def test_a_margin_that_is_not_finite_is_refused():
    model, state = box_on_floor()
    with pytest.raises(ModelError, match="margin = inf"):
        Detector(model).contacts(state, margin=np.inf)
