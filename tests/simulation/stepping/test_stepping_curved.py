"""Contacts whose normals turn within a step: what they throw back is what they meet."""

import numpy as np
import pytest

import mcpframe as mf

ROUNDING = 1e-4
"""Joules, of 0.3 to 6: energy of chains wanders by that in steps of 1 ms."""


@pytest.mark.parametrize(("turned", "rate"), [(-8e-4, 2.4), (-4e-4, 2.4), (-1e-3, 1.0), (-8e-4, 4.0)])
def test_a_chain_that_is_folded_upon_itself_gains_no_energy(turned, rate):
    """The third ball lies in the place of the second, and touches the first at their pin.

    There it holds nothing, whichever way the second turns: a contact that opens where a step begins and
    closes within it must not be thrown back by both speeds.
    """
    model = mf.systems.pendulum(links=3, length=3.0)
    start = {"theta": [0.3, turned, np.pi], "theta_dot": [0.0, rate, 0.0]}
    run = mf.simulate(mf.Scene(model, **start, materials=mf.Material(0.5, 0.5)), duration=0.03)
    assert run.n_contacts.max() == 1
    assert (run.total_energy - run.total_energy[0]).max() < ROUNDING
