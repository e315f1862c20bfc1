"""Contact models of scenes: all contacts yield by one setting, whatever their laws, in every formulation."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.contact.detection import Detector
from mcpframe.exceptions import OptionError
from mcpframe.scene.scene_file import parse_scene

TABLE = """
[model]
system = "box"
[material]
mu = 0.5
[stepping]
contact_model = "compliant"
layer = { stiffness = 2e4, damping = 200.0 }
"""


def box(law=None, **stepping):
    model = mf.systems.box()
    materials = {"default": mf.Material(0.5, law=law)}
    return mf.Scene(
        model, theta_dot=[0.3, 0, 0, 0, 0, 0.5], materials=materials, stepping=mf.Stepping(**stepping)
    )


def test_the_model_is_the_law_on_every_contact():
    layer = {"stiffness": 2e4, "damping": 200.0}
    one = mf.simulate(box(), contact_model="compliant", layer=layer, duration=0.1)
    other = mf.simulate(box({"name": "compliant", **layer}), duration=0.1)
    assert np.array_equal(one.theta, other.theta)
    assert one.penetration.max() > 1e-6
    assert mf.simulate(box(), duration=0.1).penetration.max() <= 1e-6


def test_a_scene_file_has_it():
    scene = parse_scene(TABLE)
    assert scene.stepping.layer.springs().stiffness == 2e4
    law = scene.detector().materials[0].law
    assert law.rows(mf.Contact("world", "world", (0, 0, 0), (0, 0, 1), 0.5), 1e-3).layer is not None


@pytest.mark.parametrize("formulation", ["os", "mc", "trinkle"])
@pytest.mark.parametrize("law", ["torsional", "rolling", "frictionless", "box"])
def test_any_law_yields_in_any_formulation(formulation, law):
    run = mf.simulate(box(law), contact_model="compliant", formulation=formulation, duration=0.02)
    assert len(run.failed) == 0
    assert run.penetration.max() > 1e-6


def test_a_law_with_a_layer_keeps_its_own():
    soft = {"name": "compliant", "stiffness": 1e3, "damping": 50.0}
    one = mf.simulate(box(soft), contact_model="compliant", duration=0.05)
    assert np.array_equal(one.theta, mf.simulate(box(soft), duration=0.05).theta)


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        ({"stiffness": -1.0}, "layer: stiffness = -1.0"),
        ({"scale": 1e-3, "mass": 0.0}, "layer: mass = 0.0"),
        ({"damping": -3.0}, "layer: damping = -3.0"),
        ({"stifness": 1.0}, "did you mean 'stiffness'"),
        (3, "layer = 3"),
    ],
)
def test_bad_layers_are_refused_in_words(layer, words):
    with pytest.raises(OptionError, match=words):
        mf.Stepping(contact_model="compliant", layer=layer)


def test_a_file_with_a_bad_layer_names_its_line():
    with pytest.raises(OptionError, match=r"scene.*stiffness = -2"):
        parse_scene(TABLE.replace("stiffness = 2e4", "stiffness = -2.0"))


@pytest.mark.parametrize("name", ["nobody", ("world", "box")])
def test_points_on_surfaces_of_what_is_not_there_are_refused(name):
    with pytest.raises(mf.exceptions.ModelError, match="nobody|points_on"):
        mf.Scene(mf.systems.box(), points_on=[name])


@pytest.mark.parametrize(
    ("names", "height"), [((), -0.01), (("sphere",), -0.02), (("world",), 0.0), (("*",), -0.01)]
)
def test_points_lie_on_the_surface_that_is_named(names, height):
    """A ball 20 mm deep in the floor: its lowest point, the floor, the middle."""
    model = mf.systems.sphere(radius=0.1)
    state = model.state(model.neutral() - [0, 0, 0.02, 0, 0, 0, 0])
    contact = Detector(model, points_on=names).contacts(state)[0]
    assert contact.point[2] == pytest.approx(height, abs=1e-15)
