"""Values show themselves in a notebook as small escaped HTML without scripts, and in a line elsewhere."""

import sys
from html.parser import HTMLParser

import casadi
import numpy as np
import pytest
import scipy.sparse as sp
from in_this_process import InThisProcess
from runs import header, steps
from storage import friction_problem, global_friction_problem

import mcpframe as mf
from mcpframe.notebook import html
from mcpframe.simulation.recording.steps import StepBlock
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.studies.study.study_file import load_study

EVIL = "<script>alert(1)</script>&"
VOID = {"img", "br", "path", "polyline"}


class Checker(HTMLParser):
    """Collects tags and text; refuses tags that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += f"{data} "


def shown(value, most=60_000):
    """The text that a notebook shows of a value; its HTML is sound, small and without scripts."""
    source = value._repr_html_()
    checker = Checker(source)
    assert "script" not in checker.tags
    assert len(source) < most
    return checker.text


def named(name):
    ball = mf.shapes.Geometry(mf.shapes.Sphere(0.1), name=name)
    link = mf.Link(name, hinge=mf.Hinge("pin"), mass=1.0, inertia=np.eye(3), geometry=ball, joint=f"{name}_j")
    return mf.Model([link], name=name)


def test_texts_are_escaped_wherever_they_come_from():
    model = named(EVIL)
    scene = mf.Scene(model, name=EVIL, materials={EVIL: mf.Material(mu=0.5)})
    for value in (model, scene, mf.simulate(scene, duration=0.01)):
        assert EVIL in shown(value)


def test_a_small_problem_shows_its_entries_and_a_large_one_where_they_are():
    small = shown(mf.MixedLCP([[2.0, 1.0], [1.0, 2.5]], [-4.0, -5.0], [0.0, -np.inf]))
    assert {"2.5", "-4", "-inf", "inf"} <= set(small.split())
    large = mf.MixedLCP(sp.csr_array(np.eye(30)), -np.ones(30), 0.0, 1.0)._repr_html_()
    assert large.count("h1v1h-1z") == 30
    assert "with both bounds" in large
    huge = mf.MixedLCP(sp.eye_array(5000), -np.ones(5000))
    assert "n = 5000" in shown(huge, most=1000)


def test_problems_of_every_kind_show_what_they_are():
    z, p = casadi.SX.sym("z", 3), casadi.SX.sym("p", 2)
    assert "MCP, n = 3" in shown(mf.MCP(casadi.Function("F", [z, p], [z * p[0] + p[1]]), p=[1.0, 2.0]))
    assert "local" in shown(friction_problem())
    assert "0 to 0.3" in shown(friction_problem())
    assert "global" in shown(global_friction_problem())
    assert "n = 0" in shown(mf.MixedLCP(np.zeros((0, 0)), []))


def test_a_solution_says_why_it_is_none():
    good = mf.solve(mf.MixedLCP([[2.0]], [-4.0]), "lemke")
    assert {"SOLVED", "2"} <= set(shown(good).split())
    z = casadi.SX.sym("z")
    unsupported = mf.solve(mf.MCP(casadi.Function("F", [z], [z - 1.0])), "lemke")
    for text in (repr(unsupported), shown(unsupported)):
        assert "UNSUPPORTED" in text
        assert "lemke takes MixedLCP, not MCP" in text
    assert "MCP" not in repr(good)


def test_a_model_shows_its_links_the_first_of_many():
    text = shown(mf.systems.pendulum(links=30))
    assert "link_12 " in text
    assert "link_13 " not in text
    assert "and 18 more" in text
    assert "joint" not in text  # nobody has a name for one
    assert "shoulder" in shown(mf.Model([mf.Link("arm", mass=1.0, inertia=np.eye(3), joint="shoulder")]))


def test_a_run_shows_its_energies_as_curves(tmp_path):
    about = header()
    run = Trajectory(about, steps(about.model, 1000))
    assert run._repr_html_().count("<polyline") == 3
    assert "0 to 9.99 s" in shown(run)
    assert "none" in shown(Trajectory(about, StepBlock.without_rows(about.model)))


def test_rounding_of_a_run_at_rest_is_drawn_as_a_flat_line():
    text = html.curves(np.linspace(0.0, 1.0, 5), {"total": ("#777777", 1e-14 * np.arange(5))}, "J", 1e-7)
    heights = [float(point.split(",")[1]) for point in text.split('points="')[1].split('"')[0].split()]
    assert max(heights) - min(heights) < 0.1
    assert "0 to 1e-07 J" in text


def test_curves_lie_within_their_frame_and_leave_out_what_is_not_a_number():
    t = np.linspace(0.0, 2.0, 5)
    text = html.curves(t, {"a": ("#000", np.array([0.0, 1.0, np.nan, 3.0, 4.0]))}, "J")
    points = text.split('points="')[1].split('"')[0].split()
    assert points == ["0.0,90.0", "90.0,67.5", "270.0,22.5", "360.0,0.0"]  # height 4 is y = 0, width 2 s
    assert html.curves(t, {"a": ("#000", np.full(5, np.nan))}, "J") == ""
    assert html.curves(t[:1], {"a": ("#000", t[:1])}, "J") == ""


STUDY = """
name = "small"
[[problems]]
name = "full"
generator = "full"
sizes = [1, 2]
seeds = 3
[[solvers]]
name = "lemke"
[[solvers]]
name = "pgs"
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    (folder / "small.toml").write_text(STUDY)
    return mf.run_study(folder / "small.toml", executor=InThisProcess(), out=folder / "out")


def test_results_and_studies_are_short(results):
    assert len(repr(results)) < 200
    assert "rows=12" in repr(results)
    text = shown(results)
    assert "lemke" in text
    assert "6 of 6" in text
    study = load_study(results.folder.parent / "small.toml")
    assert repr(study) == "Study('small', sources=1, formulations=1, solvers=2)"
    assert {"full", "lemke,", "pgs"} <= set(shown(study).split())


def test_results_become_a_dataframe_with_labels(results):
    pytest.importorskip("pandas")
    frame = results.to_dataframe()
    assert len(frame) == len(results.rows)
    assert frame.residual.tolist() == [row.residual for row in results.rows]
    assert frame.solver.tolist() == [row.solver for row in results.rows]
    label = next(iter(results.rows[0].labels))
    assert frame[f"label_{label}"].tolist() == [row.labels[label] for row in results.rows]


def test_without_pandas_the_error_says_how_to_install_it(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(mf.PluginError, match=r"needs pandas .*pip install pandas"):
        results.to_dataframe()
