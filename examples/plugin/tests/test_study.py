"""The study of this package, shortened: the law and the solver work through files alone."""

from pathlib import Path

import pytest

from mcpframe.studies.running.runner import run_study
from mcpframe.studies.study.study_file import parse_study

FOLDER = Path(__file__).parents[1]
SHORTER = {"every = 20": "every = 20\nlimit = 2", "states = 10": "states = 1", "seeds = 5": "seeds = 1"}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    text = (FOLDER / "study.toml").read_text()
    for long, short in SHORTER.items():
        assert long in text
        text = text.replace(long, short)
    return run_study(parse_study(text, FOLDER), workers=1, out=tmp_path_factory.mktemp("out")).rows


def test_every_row_is_solved_and_every_claim_is_right(rows):
    assert [row for row in rows if not (row.ok and row.claim_right)] == []


def test_the_new_solver_is_compared_with_the_built_in_ones_on_all_problems(rows):
    columns = {}
    for row in rows:
        columns.setdefault(row.solver, set()).add((row.case, row.formulation, row.start))
    assert set(columns) == {"lemke", "auto", "douglas_rachford", "douglas_rachford, step 1"}
    assert all(cases == columns["lemke"] for cases in columns.values())
    assert {row.source for row in rows} == {"parcels", "treadmill", "stacks"}
