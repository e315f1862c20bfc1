"""The way back of `os`: in the workspaces of its step, or from the rows where another step has taken them."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.step import ContactStep
from mcpframe.systems.states import random_state

SAME = 1e-12
"""Two orders of summation, relative to what is summed: rates before the step and what impulses do to them."""
SYSTEMS = {"pendulum": {"links": 8}, "quadruped": {}, "dual_arm": {}, "four_bar": {}}


def step_of(name, seed=3, dt=1e-3):
    state = random_state(mf.systems.make(name, **SYSTEMS[name]), np.random.default_rng(seed))
    return ContactStep(state, mf.systems.contacts_of(state, 3, 0.5), dt)


def impulses_of(layout, seed=4):
    return layout.split(np.random.default_rng(seed).uniform(0.1, 1.0, layout.n))


def rates(recovery):
    return recovery.motion(impulses_of(recovery.layout)).theta_dot


@pytest.mark.parametrize("name", SYSTEMS)
def test_rates_from_the_workspaces_are_those_from_the_rows(name):
    _, recovery = mf.formulation("os").build(step_of(name))
    by_rows, free = rates(replace(recovery, plan=None)), recovery.terms.free_velocity()
    size = np.abs(free).max() + np.abs(by_rows - free).max()
    assert np.abs(by_rows - free).max() > 0.01 * size
    assert np.abs(rates(recovery) - by_rows).max() <= SAME * size


def test_a_step_is_recovered_after_another_one_was_written_in_its_workspaces():
    step, formulation = step_of("quadruped"), mf.formulation("os")
    _, recovery = formulation.build(step)
    alone = rates(recovery)
    moved = step.contacts.record.copy()
    moved[:, :3] += 0.1
    others = copy(step.contacts)
    others.record = moved
    vars(others).pop("flat_record", None)
    _, other = formulation.build(ContactStep(step.state, others, step.dt))
    assert other.plan is recovery.plan
    assert np.abs(rates(other) - alone).max() > 0.01 * np.abs(alone).max()
    assert np.abs(rates(recovery) - alone).max() <= SAME * np.abs(alone).max()
