"""The studies of the examples: every file is checked and, shortened, run; its tables show our figures."""

import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from in_this_process import InThisProcess

import mcpframe as mf
from mcpframe.cli import main
from mcpframe.studies.corpora.recipes import make_corpus
from mcpframe.studies.report.entries import merge
from mcpframe.studies.report.published import tables_of
from mcpframe.studies.report.wording import NOTHING
from mcpframe.studies.study.study_file import load_study

EXAMPLES = Path(__file__).parents[2] / "examples"
STUDIES = {path.stem: path for path in sorted((EXAMPLES / "studies").glob("*.toml"))}
PEERS = {"drake Lemke", "drake Moby", "enum"}
"""Solvers that may take no problem of a study: not installed, or not so large."""
SLOW = {"qp"}
"""Left out here: compiling its programs takes longer than all the rest."""
AT_ONCE = "contact_models"
"""Scenes in which bodies touch from the start; others need a second and more."""
EMPTY = {(0, "ours, lemke"), *((edges, "ours, cone") for edges in (4, 8, 16, 32))}
"""Cells that have no figure: pivoting takes no exact cones, `cone` nothing else."""


@pytest.fixture(autouse=True)
def _forgets_plugins(registries):
    """Forget the peers that a study file registers, also that their module was imported."""
    yield
    sys.modules.pop("mcpframe_study_peers", None)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "tiny.h5"
    make_corpus("quadruped", path, size="quick").close()
    return path


def shortened(study, corpus):
    """Return the study with one problem of every source, the smallest of its grid."""
    sources = tuple(short_source(source, corpus) for source in study.sources)
    solvers = tuple(setting for setting in study.solvers if setting.name not in SLOW)
    settings = study.settings.with_options(repeats=1)
    return replace(study, sources=sources, solvers=solvers, settings=settings)


def short_source(source, corpus):
    if source.kind == "corpus":
        return source.with_options(corpus=str(corpus), recipe="", limit=2)
    if source.kind == "scene":
        first = {key: first_of(value) for key, value in source.parameters.items()}
        duration = 0.02 if AT_ONCE in source.scene else first.get("stepping.duration", 1.6)
        parameters = {**first, "stepping.duration": duration}
        return source.with_options(parameters=parameters, every=1, limit=2)
    if source.kind == "generator":
        return source.with_options(sizes=first_of(source.sizes), seeds=1, change=source.change[:2])
    parameters = {key: first_of(value) for key, value in source.parameters.items()}
    return source.with_options(parameters=parameters, states=1, contacts=first_of(source.contacts))


def first_of(value):
    return value[0] if isinstance(value, list) else value


@pytest.mark.parametrize("name", ["solver_comparison", "table1_j11", "table1_j12", "table2_j14"])
def test_the_check_tells_how_much_work_a_study_of_the_examples_is(name, capsys):
    assert main(["study", "check", str(STUDIES[name])]) == 0
    assert f"{name}: " in capsys.readouterr().out


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_of_the_examples_runs_and_shows_our_figures(name, corpus, tmp_path):
    study = shortened(load_study(STUDIES[name]), corpus)
    results = mf.run_study(study, executor=InThisProcess(), out=tmp_path)
    taken = [row for row in results.rows if row.status != "UNSUPPORTED"]
    solvers = {setting.label for setting in study.solvers}
    assert solvers - PEERS <= {row.solver for row in taken} <= solvers
    assert [row for row in taken if not row.ok and row.solver not in PEERS] == []
    for table in tables_of(study.published):
        assert missing_figures(table, results.rows) <= EMPTY


def missing_figures(table, rows):
    """Return line and heading of cells of ours without a figure, of lines and solvers that were run."""
    labels = [{*row.labels.values(), row.formulation, row.source} for row in rows]
    solvers = {None, *(row.solver for row in rows)}
    lines = [k for k, key in enumerate(table.keys) if any(key in own for own in labels)]
    assert lines
    ours = [(k, column) for k in lines for column in table.ours if column.solver in solvers]
    cells = table.filled(merge(rows)).rows
    places = {column: len(table.columns) + k for k, column in enumerate(table.ours)}
    return {(table.keys[k], column.column) for k, column in ours if cells[k][places[column]] == NOTHING}


def test_table_2_of_the_paper_has_its_sizes_and_a_speed_up_that_grows(tmp_path):
    study = load_study(STUDIES["table2_j14"])
    source = study.sources[0].with_options(parameters={"links": [3, 30]}, states=2)
    study = replace(study, sources=(source,), settings=study.settings.with_options(repeats=3))
    entries = merge(mf.run_study(study, executor=InThisProcess(), out=tmp_path).rows)
    speed_up, _, rows = (table.filled(entries) for table in tables_of(study.published))
    for line in (rows.rows[0], rows.rows[-1]):
        assert line[1:4] == line[4:7]
    few, many = float(speed_up.rows[0][2]), float(speed_up.rows[-1][2])
    assert 1.0 < few < many


def test_the_speed_of_simulation_stands_beside_that_of_the_paper(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES / "studies"))
    import table2

    monkeypatch.setattr(table2, "DURATION", 0.05)
    table = table2.simulated([3])
    assert table.columns == ("links", "os, published", "ours, os")
    assert table.rows[0][0] == "3"
    assert math.isfinite(float(table.rows[0][2]))
    sys.modules.pop("table2")


def test_velocities_come_closer_to_those_under_the_exact_cone_with_more_directions(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES / "studies"))
    import friction_directions

    found = [friction_directions.velocity_errors("full", 4, seed) for seed in range(3)]
    few, many = (sum(errors[k] for errors in found) for k in (0, -1))
    assert many < few / 2
    for name in ("friction_directions", "table2"):
        sys.modules.pop(name)
