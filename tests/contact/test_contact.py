import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.contact import GAP, MU, RESTITUTION

UNIT = (1.0, 1.0, 1.0)


@pytest.fixture
def model():
    inertia = np.eye(3)
    model = mf.Model([mf.Link("a", mass=1.0, inertia=inertia), mf.Link("b", mass=1.0, inertia=inertia)])
    model.add_link("fixed_to_b", parent="b", hinge=mf.Hinge("locked"))
    model.add_frame("tip", "b", mf.Pose((0, 0, 1)))
    return model


def test_a_contact_keeps_what_it_was_given():
    contact = mf.Contact("a", "world", (1, 2, 3), (0, 0, 5), 0.5, 0.25, -0.01, tangent=(1, 1, 7))
    np.testing.assert_array_equal(contact.point, [1, 2, 3])
    np.testing.assert_array_equal(contact.normal, [0, 0, 1])
    half = np.sqrt(0.5)
    np.testing.assert_allclose(contact.frame, np.array([[0, 0, 1], [half, half, 0], [-half, half, 0]]).T)
    assert (contact.mu, contact.restitution, contact.gap) == (0.5, 0.25, -0.01)
    assert contact.law is None
    assert contact.parameters == ()
    place = "point=[1.0, 2.0, 3.0], normal=[0.0, 0.0, 1.0]"
    assert repr(contact) == f"Contact('a', 'world', {place}, mu=0.5, restitution=0.25, gap=-0.01)"


def test_a_contact_is_smooth_plastic_and_closed_unless_said():
    contact = mf.Contact("a", "b", (0, 0, 0), (0, 0, 1))
    assert (contact.mu, contact.restitution, contact.gap) == (0.0, 0.0, 0.0)


def test_a_contact_is_immutable():
    contact = mf.Contact("a", "b", (0, 0, 0), (0, 0, 1))
    with pytest.raises(AttributeError):
        contact.mu = 1.0
    with pytest.raises(ValueError, match="read-only"):
        contact.point[0] = 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"point": (0, 0)}, r"contact: point: shape \(2,\)"),
        ({"point": (0, 0, np.nan)}, "contact: point: entry 2 is nan"),
        ({"normal": (0, 0, 0)}, "contact: normal.*no direction"),
        ({"mu": -0.1}, "contact: mu = -0.1: friction is not negative"),
        ({"mu": np.inf}, "contact: mu = inf: must be a finite number"),
        ({"mu": "much"}, "contact: mu = 'much': must be a finite number"),
        ({"mu": [0.5]}, "contact: mu = .*: must be a finite number"),
        ({"restitution": 1.5}, "contact: restitution = 1.5: must lie between 0 and 1"),
        ({"gap": None}, "contact: gap = None"),
        ({"body_a": 3}, "contact: body_a = 3: must be the name of a link or frame, or 'world'"),
        ({"tangent": (0, 0, 2)}, "parallel to the normal"),
        ({"parameters": {"radius": [1]}}, "contact: parameters = .*numbers, texts or tuples"),
        ({"parameters": 3}, "contact: parameters = 3"),
        ({"law": "coulombs"}, "did you mean 'coulomb'"),
    ],
)
def test_a_bad_field_is_refused_by_name_and_value(change, message):
    fields = {"body_a": "a", "body_b": "b", "point": (0, 0, 0), "normal": (0, 0, 1)} | change
    with pytest.raises(mf.McpframeError, match=message):
        mf.Contact(**fields)


def test_the_law_of_a_contact_is_found_at_once():
    contact = mf.Contact("a", "b", (0, 0, 0), (0, 0, 1), law="box", parameters={"load": 3.0})
    assert contact.law is mf.contact_law("box")
    assert contact.parameters == (("load", 3.0),)


def test_a_set_packs_contacts_into_arrays(model):
    contacts = [
        mf.Contact("a", "world", (1, 2, 3), (0, 0, 1), 0.5, 0.25, -0.01),
        mf.Contact("tip", "a", (4, 5, 6), (1, 0, 0), 0.1),
        mf.Contact("fixed_to_b", "a", (7, 8, 9), UNIT),
    ]
    packed = mf.ContactSet(model, contacts)
    assert len(packed) == 3
    assert packed[1] is contacts[1]
    assert list(packed) == contacts
    assert list(packed.link_a) == [
        model.link_index("a"),
        model.link_index("b"),
        model.link_index("fixed_to_b"),
    ]
    assert list(packed.link_b) == [-1, model.link_index("a"), model.link_index("a")]
    assert packed.link_a.dtype == np.int64
    np.testing.assert_array_equal(packed.points, [[1, 2, 3, 0], [4, 5, 6, 0], [7, 8, 9, 0]])
    for i, contact in enumerate(contacts):
        np.testing.assert_array_equal(packed.normals[i], [*contact.normal, 0.0])
        np.testing.assert_array_equal(packed.tangents[i], [*contact.frame[:, 1], 0.0])
        np.testing.assert_array_equal(packed.axes[i], contact.frame.T)
    np.testing.assert_array_equal(packed.gaps, [-0.01, 0, 0])
    np.testing.assert_array_equal(packed.record[:, [GAP, MU, RESTITUTION]][0], [-0.01, 0.5, 0.25])
    assert all(array.flags.c_contiguous for array in (packed.points, packed.normals, packed.tangents))


def test_a_set_may_be_empty(model):
    packed = mf.ContactSet(model, [])
    assert len(packed) == 0
    assert packed.points.shape == packed.normals.shape == (0, 4)
    assert packed.axes.shape == (0, 3, 3)
    assert packed.law_rows(mf.contact_law("coulomb"), 0.01, 4) == ()


def test_bodies_that_do_not_exist_are_named_with_the_nearest(model):
    with pytest.raises(mf.ModelError, match="no link or frame 'tipp'; did you mean 'tip'"):
        mf.ContactSet(model, [mf.Contact("tipp", "a", (0, 0, 0), UNIT)])


@pytest.mark.parametrize("bodies", [("a", "a"), ("tip", "b"), ("world", "world")])
def test_a_contact_within_one_body_is_refused(model, bodies):
    contacts = [mf.Contact("a", "b", (0, 0, 0), UNIT), mf.Contact(*bodies, (0, 0, 0), UNIT)]
    with pytest.raises(mf.ModelError, match="contact 1: .* are one rigid body"):
        mf.ContactSet(model, contacts)


def test_what_is_no_contact_is_refused(model):
    with pytest.raises(mf.ModelError, match="contacts: 'a' is not a Contact"):
        mf.ContactSet(model, "a")


def test_a_set_remembers_the_rows_of_its_laws(model):
    packed = mf.ContactSet(model, [mf.Contact("a", "b", (0, 0, 0), UNIT, 0.5)] * 3)
    law = mf.contact_law("coulomb")
    rows = packed.law_rows(law, 0.01, 4)
    assert packed.law_rows(law, 0.01, 4) is rows
    assert rows[0] is rows[1] is rows[2]
    assert packed.law_rows(law, 0.01, 6)[0].m == 7
