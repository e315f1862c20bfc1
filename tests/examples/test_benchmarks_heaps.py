"""The benchmark of heaps, made small: both engines run the same boxes, and the table shows both."""

import io

import numpy as np
import pytest
from benchmark_modules import load
from rich.console import Console

pytest.importorskip("mujoco")

heaps = load("heaps")


def test_a_heap_falls_in_both_engines_and_ours_does_not_sink_in():
    own = heaps.ours("boxes", 3, 0.15, friction="polygon")
    other = heaps.peer("boxes", 3, 0.15)
    assert own["steps"] == own["asked"] == 150
    assert not own["stopped"]
    assert own["failed"] == 0
    assert own["contacts"] > 0
    assert own["overlap"] < 1e-3 * other["overlap"]
    console = Console(width=150, record=True, file=io.StringIO())
    console.print(heaps.table([{"kind": "boxes", "n": 3, "way": "coarse", "ours": own, "peer": other}]))
    assert f"{own['step'] / other['step']:.1f}" in console.export_text()


def test_spheres_start_within_their_walls():
    scene = heaps.heap("spheres", 27)
    contacts = scene.detector().contacts(scene.initial_state(), 0.0)
    assert len(contacts) == 0
    walls = [shape for shape in scene.model.geometry if shape.name.startswith("wall")]
    inwards = np.array([wall.pose.rotation[:, 2] for wall in walls])
    np.testing.assert_allclose(inwards.sum(axis=0), 0.0, atol=1e-12)
    assert all(wall.pose.position @ n < 0.0 for wall, n in zip(walls, inwards, strict=True))
