import pickle

import numpy as np
import pytest

from mcpframe import ContactBlocks, Layout, ProblemError


def test_blocks_are_consecutive_and_in_order():
    layout = Layout({"p_b": 3, "beta": 10, "sigma": 2})
    assert [layout[name] for name in layout] == [slice(0, 3), slice(3, 13), slice(13, 15)]
    assert layout.n == 15


def test_split_returns_views_that_cover_z():
    z = np.arange(5.0)
    blocks = Layout({"a": 2, "empty": 0, "b": 3}).split(z)
    np.testing.assert_array_equal(np.concatenate(list(blocks.values())), z)
    assert all(np.shares_memory(block, z) for block in blocks.values() if block.size)


def test_layouts_with_another_order_are_different():
    assert Layout({"a": 1, "b": 2}) != Layout({"b": 2, "a": 1})
    assert Layout({"a": 1, "b": 2}) == Layout({"a": np.int64(1), "b": 2})
    assert len({Layout({"a": 1}), Layout({"a": 1})}) == 1


def test_a_layout_survives_pickling():
    layout = Layout({"beta": 4, "sigma": 1})
    assert pickle.loads(pickle.dumps(layout)) == layout


@pytest.mark.parametrize("sizes", [{"a": -1}, {"a": 1.5}, {"a": "2"}, {"": 1}, {3: 1}])
def test_bad_blocks_are_refused(sizes):
    with pytest.raises(ProblemError, match="layout"):
        Layout(sizes)


def test_an_unknown_block_is_answered_with_the_nearest():
    with pytest.raises(ProblemError, match="'betta'.*did you mean 'beta'"):
        Layout({"beta": 4, "sigma": 1})["betta"]


def blocks(**changes):
    fields = {"normal": [0], "friction": [[1, 2]], "slip": [3], "mu": [0.5]}
    return ContactBlocks(**(fields | changes))


def test_contact_blocks_count_contacts_and_directions():
    contacts = ContactBlocks([0, 5], [[1, 2, 3], [6, 7, 8]], [4, 9], [0.1, 0.2])
    assert (contacts.n_u, contacts.n_f) == (2, 3)
    contacts.check(10)


def test_contact_blocks_are_read_only_copies():
    mu = np.array([0.5])
    contacts = blocks(mu=mu)
    mu[0] = 7.0
    assert contacts.mu[0] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        contacts.normal[0] = 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"normal": [0.5]}, "contacts.normal"),
        ({"normal": [[0]]}, "contacts.normal"),
        ({"friction": [1, 2]}, "contacts.friction"),
        ({"friction": [[1], [2]]}, "contacts.friction"),
        ({"slip": [3, 4]}, "slip"),
        ({"mu": [0.1, 0.2]}, "mu"),
        ({"mu": [-0.1]}, "contacts.mu"),
        ({"mu": [np.nan]}, "contacts.mu"),
        ({"mu": ["rough"]}, "contacts.mu"),
    ],
)
def test_bad_contact_blocks_are_refused_by_field(changes, field):
    with pytest.raises(ProblemError, match=field):
        blocks(**changes)


def test_contact_indices_must_lie_in_z_and_be_distinct():
    with pytest.raises(ProblemError, match="index 3 lies outside z of length 3"):
        blocks().check(3)
    with pytest.raises(ProblemError, match="index -1"):
        blocks(normal=[-1]).check(4)
    with pytest.raises(ProblemError, match="used twice"):
        blocks(slip=[0]).check(4)
