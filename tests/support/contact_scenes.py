"""Contact steps that formulations are tried on: every kind of system, contact, closure and applied force.

A scene is a name and a function that makes its step for a contact law; steps are small, deterministic and
have solutions under every law.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import metadata

import numpy as np
import pytest
from trees import random_tree

import mcpframe as mf
from mcpframe import systems
from mcpframe.exceptions import ModelWarning
from mcpframe.multibody.closures import Ball, Distance, Gear

DT = 0.01
"""Seconds: rates of one radian per second turn links by half a degree."""

LAWS = {
    "frictionless": "frictionless",
    "coulomb": "coulomb",
    "coulomb in the plane": {"name": "coulomb", "friction_directions": 2},
    "coulomb, eight directions": {"name": "coulomb", "friction_directions": 8},
    "anisotropic": {"name": "anisotropic", "mu_1": 0.7, "mu_2": 0.2},
    "torsional": {"name": "torsional", "radius": 0.02},
    "rolling": {"name": "rolling", "radius": 0.01},
    "box": {"name": "box", "load": 5.0},
    "compliant": {"name": "compliant", "stiffness": 2e4, "damping": 50.0},
    "compliant, by a scale": {"name": "compliant", "scale": 1e-3, "mass": 2.0},
    "hunt_crossley": {"name": "hunt_crossley", "stiffness": 1e6, "dissipation": 0.5},
}


@dataclass(frozen=True)
class Scene:
    """A step for any law, and the modes that its contacts have under Coulomb's."""

    name: str
    step: Callable
    modes: frozenset


SCENES = []


def scene(name, *modes):
    """Register a function of the law as a scene."""

    def register(make):
        SCENES.append(Scene(name, make, frozenset(modes)))
        return make

    return register


def rates(model, seed, size=1.0):
    return size * np.random.default_rng(seed).standard_normal(model.n_dofs)


@scene("a box at rest on four corners", "sticking")
def box_at_rest(law):
    state = systems.box().state()
    return mf.ContactStep(state, systems.contacts_of(state, 4), DT, law=law)


@scene("a box that slides on eight corners", "sliding")
def box_sliding(law):
    state = systems.box().state(theta_dot=[2.0, 0.7, 0.0, 0.0, 0.0, 0.0])
    return mf.ContactStep(state, systems.contacts_of(state, 8), DT, law=law)


@scene("a box that lifts an edge", "separating", "sliding")
def box_tipping(law):
    state = systems.box().state(theta_dot=[0.3, 0.0, 0.4, 0.0, -3.0, 0.2])
    return mf.ContactStep(state, systems.contacts_of(state, 4), DT, law=law)


@scene("a box pushed into a corner of two walls", "sticking")
def box_in_a_corner(law):
    state = systems.box().state(theta_dot=[1.0, -1.0, 0.0, 0.0, 0.0, 0.5])
    contacts = [
        *systems.contacts_of(state, 4),
        *(mf.Contact("box", "world", (0.2, 0.1, z), (-1, 0, 0), 0.3) for z in (0.05, 0.15)),
        *(mf.Contact("box", "world", (x, -0.15, 0.1), (0, 1, 0), 0.3) for x in (-0.1, 0.1)),
    ]
    push = {"box": [0.0, 0.0, 0.0, 3.0, -2.0, -1.0]}
    return mf.ContactStep(state, contacts, DT, wrenches=push, law=law)


@scene("a pendulum on the floor", "sticking", "sliding", "separating")
def pendulum(law):
    model = systems.pendulum(6)
    state = model.state(np.full(6, 0.4), rates(model, 4, 0.3))
    return mf.ContactStep(state, systems.contacts_of(state, 4), DT, tau=rates(model, 2), law=law)


@scene("the dual arm, four fingers in contact", "sticking", "sliding", "separating")
def dual_arm(law):
    model = systems.dual_arm()
    state = model.state(theta_dot=rates(model, 3, 0.3))
    return mf.ContactStep(state, systems.contacts_of(state, 4), DT, tau=rates(model, 4), law=law)


@scene("a four-bar that turns on the floor", "sliding")
def four_bar(law):
    model = systems.four_bar()
    state = model.state(theta_dot=[1.0, -0.3, 0.2])
    return mf.ContactStep(state, systems.contacts_of(state, 2), DT, law=law)


@scene("a four-bar that lies on the floor", "sticking", "sliding")
def floating_four_bar(law):
    model = systems.four_bar(floating=True)
    state = model.state(theta_dot=rates(model, 5, 0.2))
    return mf.ContactStep(state, systems.contacts_of(state, 4), DT, law=law)


@scene("a ring of eight bars", "sliding")
def ring(law):
    model = systems.closed_chain(8)
    state = model.state(theta_dot=rates(model, 6, 0.3))
    return mf.ContactStep(state, systems.contacts_of(state, 3), DT, law=law)


@scene("a quadruped that lands, a hip at its limit", "sticking", "sliding")
def quadruped(law):
    model = systems.quadruped()
    theta = model.neutral()
    theta[model.theta_start[model.link_index("FL_hip")]] = 0.8 - 1e-5
    state = model.state(theta, rates(model, 7, 0.5))
    return mf.ContactStep(state, systems.contacts_of(state, 4), DT, law=law)


@scene("a humanoid on both feet", "sticking")
def humanoid(law):
    model = humanoid_model()
    state = model.state(theta_dot=rates(model, 8, 0.1))
    contacts = []
    for foot in ("leg_left_6_link", "leg_right_6_link"):
        pose = state.pose(foot)
        corners = pose @ np.array([[x, y, -0.1] for x in (-0.1, 0.1) for y in (-0.06, 0.06)])
        contacts += [mf.Contact(foot, "world", corner, (0, 0, 1), 0.6) for corner in corners]
    return mf.ContactStep(state, contacts, DT, law=law)


@scene("a tree of all hinges that touches itself", "sticking", "sliding", "separating")
def tree(law):
    rng = np.random.default_rng(9)
    model = random_tree(rng, 9, armature=0.3, extra_roots=0.2)
    state = model.state(model.random_theta(rng), rates(model, 10, 0.5))
    names = [link.name for link in model.links]
    contacts = [
        mf.Contact(a, b, state.pose(a).position + 0.1 * rng.standard_normal(3), rng.standard_normal(3), 0.7)
        for a, b in zip(names, ["world", *names[:4]], strict=False)
    ]
    wrenches = {names[2]: rng.standard_normal(6), mf.Node(names[5], (0.1, 0.2, 0.3)): rng.standard_normal(6)}
    return mf.ContactStep(state, contacts, DT, rates(model, 11), wrenches, law=law)


@scene("a tree closed by all closures, one hinge driven", "sliding")
def closed_tree(law):
    rng = np.random.default_rng(12)
    model = random_tree(rng, 8, ("pin", "ball", "universal", "prismatic", "free"), chain=True)
    ends = [mf.Node(model.links[k].name, rng.uniform(-0.3, 0.3, 3)) for k in (2, 4, 6, 7)]
    theta = model.random_theta(rng)
    at = [model.state(theta).pose(end) for end in ends]
    world = [mf.Node("world", pose.position, pose.rotation) for pose in at]
    model.add_closure(Ball(ends[0], world[0]))
    model.add_closure(Distance(ends[1], mf.Node("world", at[1].position + 1.0), np.sqrt(3.0)))
    pins = [
        name for name, link in zip(model.dof_names, dof_links(model), strict=True) if link.hinge.kind == "pin"
    ]
    model.add_closure(Gear({pins[0]: 1.0}, lambda t: (0.5, 2.0)))
    state = model.state(theta, rates(model, 13, 0.3), time=0.2)
    contacts = [
        mf.Contact(model.links[k].name, "world", state.pose(model.links[k].name).position, (0.3, 0.1, 1), 0.5)
        for k in (3, 5, 7)
    ]
    return mf.ContactStep(state, contacts, DT, law=law)


@scene("links without mass between links with mass", "sliding")
def massless_links(law):
    pin = mf.Hinge("pin", (0, 1, 0))
    heavy = {"mass": 2.0, "com": (0.0, 0.0, -0.2), "inertia": 0.05 * np.eye(3)}
    below = mf.Pose((0.0, 0.0, -0.4))
    model = mf.Model(
        [
            mf.Link("gimbal", hinge=pin, pose=mf.Pose((0, 0, 1.2))),
            mf.Link("upper", "gimbal", mf.Hinge("pin", (1, 0, 0)), **heavy),
            mf.Link("flange", "upper", mf.Hinge("locked"), below),
            mf.Link("motor", "flange", pin, armature=0.1),
            mf.Link("lower", "motor", mf.Hinge("pin", (1, 0, 0)), **heavy),
            mf.Link("bob", "lower", pin, below, mass=1.0, com=(0.0, 0.0, -0.3)),  # a point mass
        ]
    )
    state = model.state([0.3, 0.4, -0.5, 0.2, 0.6], rates(model, 14))
    contacts = [
        mf.Contact("bob", "world", state.pose(mf.Node("bob", (0, 0, -0.3))).position, (0, 0, 1), 0.4),
        mf.Contact("lower", "world", state.pose(mf.Node("lower", (0, 0, -0.4))).position, (-1, 0, 0.5), 0.4),
    ]
    return mf.ContactStep(state, contacts, DT, law=law)


def dof_links(model):
    """The link of every dof."""
    return [link for link in model.links for _ in range(link.hinge.n_dof)]


@cache
def humanoid_model():
    """TALOS, a humanoid robot of 38 dofs, where the package with its files is installed."""
    pytest.importorskip("yourdfpy")
    try:
        package = metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        pytest.skip("needs example-robot-data")
    robots = package.locate_file("cmeel.prefix/share/example-robot-data/robots")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # transmissions and the like, which play no part here
        return mf.load_urdf(robots / "talos_data" / "robots" / "talos_reduced.urdf", floating_base=True)
