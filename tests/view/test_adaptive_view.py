"""Adaptive runs in plots and in the viewer: choices over time, rigid clusters in one colour."""

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.scene.settings import Output

pytest.importorskip("matplotlib")
from mcpframe.view import plots


@pytest.fixture(scope="module")
def run():
    cable = mf.systems.cable(links=24, length=1.2)
    scene = mf.Scene(
        cable, theta={"link_1": 1.0}, adaptive=mf.Adaptive(active=7), output=Output(every=5),
        ignore=[("link_*", "link_*")],
    )  # fmt: skip
    return mf.simulate(scene, duration=0.1)


def test_links_of_a_cluster_have_one_number(run):
    clusters = run.clusters_at(-1)
    assert 1 < clusters.max() + 1 <= run.active_joints[-1] == 7  # some stand still
    moving = np.flatnonzero(run.theta_dot[-1] != 0.0)
    np.testing.assert_array_equal(np.flatnonzero(np.diff(clusters, prepend=-1)), moving)
    np.testing.assert_array_equal(run.clusters_at(0), np.arange(24))  # before the first choice


def test_plots_have_one_more(run, tmp_path):
    names = [path.stem for path in plots.save_plots(run, tmp_path)]
    assert names == ["motion", "energy", "contacts", "solve_time", "choice"]
    assert plots.save_page(run, tmp_path / "page.png").stat().st_size > 10000


def test_the_viewer_paints_clusters(run):
    pytest.importorskip("viser")
    from mcpframe.view.viewer import Viewer

    with Viewer(run, port=0) as viewer:
        viewer.actors.show(len(run) - 1, 0.0)
        colours = [bodies[0].color for bodies in viewer.actors._link_bodies]
    clusters = run.clusters_at(-1)
    for one, other, a, b in zip(colours[1:], colours, clusters[1:], clusters, strict=False):
        assert (tuple(one) == tuple(other)) == (a == b)


def test_pictures_paint_clusters(run):
    from matplotlib.colors import to_hex

    from mcpframe.view.figures import new_figure
    from mcpframe.view.painting import paint
    from mcpframe.view.palette import CLUSTERS
    from mcpframe.view.stage import Stage

    axis = new_figure(4.0, 4.0).subplots()
    stage = Stage(run, np.array([len(run) - 1]), 0.0)
    paint(axis, stage, 0)
    shades = {to_hex(colour).upper() for colour in axis.collections[0].get_facecolors()}
    clusters = run.clusters_at(-1)
    expected = {CLUSTERS[c % len(CLUSTERS)] for c in clusters.tolist()}
    assert shades == expected
