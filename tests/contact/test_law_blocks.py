"""Laws of many contacts as one law: blocks on the diagonal, in the order of the contacts."""

import numpy as np

import mcpframe as mf
from mcpframe import systems
from mcpframe.contact.law_blocks import LawBlocks, block_diagonal


def laws_of(*laws):
    state = systems.box().state()
    contacts = [mf.Contact("box", "world", (0, 0, 0), (0, 0, 1), 0.5, law=law) for law in laws]
    step = mf.ContactStep(state, contacts, 0.01)
    return step.law_rows, LawBlocks.of(step.law_rows, step.C)


def test_blocks_without_rows_or_columns_take_their_place():
    matrix = block_diagonal([np.ones((2, 0)), np.full((1, 2), 3.0), np.ones((0, 1))])
    assert matrix.tolist() == [[0, 0, 0], [0, 0, 0], [3, 3, 0]]
    assert block_diagonal([]).shape == (0, 0)


def test_every_contact_has_its_own_rows_and_columns():
    rows, laws = laws_of("coulomb", "box", "torsional")
    for i, law in enumerate(rows):
        beta = slice(laws.beta_start[i], laws.beta_start[i + 1])
        sigma = slice(laws.sigma_start[i], laws.sigma_start[i + 1])
        assert (laws.N[beta, sigma] == law.N).all()
        assert (laws.P[sigma, beta] == law.P).all()
        assert (laws.beta_upper[beta] == law.beta_upper).all()
        assert (laws.normal[beta] == law.Wd[3]).all()
    assert np.count_nonzero(laws.N) == sum(np.count_nonzero(law.N) for law in rows)
    assert np.count_nonzero(laws.D) == sum(np.count_nonzero(law.C) for law in rows)


def test_coulombs_contacts_have_their_places_in_z():
    _, laws = laws_of("coulomb", "coulomb")
    blocks = laws.contact_blocks(mf.Layout({"p_b": 3, "p_l": 0, "beta": 10, "sigma": 2}))
    assert blocks.normal.tolist() == [3, 8]
    assert blocks.friction.tolist() == [[4, 5, 6, 7], [9, 10, 11, 12]]
    assert blocks.slip.tolist() == [13, 14]


def test_no_contacts_make_no_blocks():
    _, laws = laws_of()
    assert (laws.n_beta, laws.n_sigma, laws.D.shape) == (0, 0, (0, 0))
    assert laws.contact_blocks(mf.Layout({"beta": 0, "sigma": 0})) is None
