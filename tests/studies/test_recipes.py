"""Recipes: enough problems of enough systems, from easy to hard, the same on every run, all solvable."""

from collections import Counter

import numpy as np
import pytest

import mcpframe as mf
from mcpframe.exceptions import FileFormatError, OptionError
from mcpframe.studies.corpora import recipes
from mcpframe.studies.corpora.recipes import (
    ALL,
    MAX_ROWS,
    RECIPES,
    EvenSample,
    Recipe,
    make_corpus,
    recipe_records,
    takes_of,
)


@pytest.fixture(scope="module")
def quick():
    return list(recipe_records(ALL, "quick"))


def without_files(monkeypatch):
    monkeypatch.setattr(recipes, "talos_file", lambda: None)


def test_the_full_set_has_two_thousand_problems_of_five_systems_without_any_robot_file(monkeypatch):
    without_files(monkeypatch)
    takes = takes_of(ALL)
    assert sum(take.count for _, take in takes) >= 2000
    systems = {take.make(**take.parameters).model.name for _, take in takes}
    assert systems >= {
        "pendulum",
        "dual_arm",
        "quadruped",
        "humanoid",
        "box_stack",
        "four_bar",
        "closed_chain",
    }
    assert len({take.name for _, take in takes}) == len(takes)


def test_the_quick_set_is_certified_whole(quick):
    assert 140 <= len(quick) <= 200
    assert all(mf.solve(record.problem, "auto").ok for record in quick)


def test_the_quick_set_goes_from_easy_to_hard(quick):
    labels = [record.provenance["labels"] for record in quick]
    assert Counter(label["hardness"] for label in labels).keys() == {"easy", "medium", "hard"}
    assert Counter(label["motion"] for label in labels).keys() >= {"sticking", "sliding", "mixed", "impact"}
    assert min(label["n"] for label in labels) == 6
    assert 300 < max(label["n"] for label in labels) <= MAX_ROWS
    assert max(label["mass_ratio"] for label in labels) == pytest.approx(1000.0)
    assert all(label["n_contacts"] > 0 for label in labels)
    assert len({record.provenance["system"] for record in quick}) >= 7


def test_records_say_how_to_make_them_again(quick):
    for record in quick:
        about = record.provenance
        assert {
            "recipe",
            "size",
            "take",
            "parameters",
            "time",
            "step",
            "kind",
            "dt",
            "formulation",
        } <= about.keys()
        assert about["recipe"] in RECIPES
        assert about["formulation"] == "os"
    times = [record.provenance["time"] for record in quick if record.provenance["recipe"] == "quadruped"]
    assert times == sorted(times)
    assert len({record.name for record in quick}) > 0.9 * len(quick)


def test_a_recipe_gives_the_same_bits_every_time(quick):
    again = list(recipe_records("loops", "quick"))
    before = [record for record in quick if record.provenance["recipe"] == "loops"]
    assert len(again) == len(before)
    for ours, theirs in zip(again, before, strict=True):
        assert ours.provenance == theirs.provenance
        assert (ours.problem.M == theirs.problem.M).all()
        assert (ours.problem.q == theirs.problem.q).all()


@pytest.mark.parametrize(
    ("n", "limit", "count"), [(5, 10, 10), (100, 8, 8), (1000, 16, 12), (7, 3, 3), (50, 0, 0)]
)
def test_an_even_sample_is_spread_over_the_whole_sequence(n, limit, count):
    sample = EvenSample(limit)
    for k in range(n):
        if sample.counts():
            sample.add(k)
    chosen = sample.chosen(count)
    assert len(chosen) == min(n, count)
    assert chosen == sorted(set(chosen))
    if len(chosen) > 2:
        assert chosen[0] == 0
        assert np.diff(chosen).max() <= 3 * np.diff(chosen).min()
        assert chosen[-1] >= n - 1 - np.diff(chosen).max()


def test_a_corpus_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "a.h5"
    with make_corpus("dual_arm", path, size="quick") as corpus:
        assert len(corpus) == sum(take.count for take in RECIPES["dual_arm"].quick)
    assert [file.name for file in tmp_path.iterdir()] == ["a.h5"]
    with pytest.raises(FileFormatError, match="is there already"):
        make_corpus("dual_arm", path)

    def break_off(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(recipes.Take, "records", break_off)
    with pytest.raises(KeyboardInterrupt):
        make_corpus("quadruped", tmp_path / "b.h5", size="quick")
    assert not (tmp_path / "b.h5").exists()


def test_unknown_names_and_missing_packages_are_told(tmp_path, monkeypatch):
    with pytest.raises(OptionError, match="did you mean 'stacks'"):
        make_corpus("stack", tmp_path / "a.h5")
    with pytest.raises(OptionError, match="'tiny'"):
        make_corpus("stacks", tmp_path / "a.h5", size="tiny")
    without_files(monkeypatch)
    with pytest.raises(OptionError, match="example-robot-data"):
        make_corpus("talos", tmp_path / "a.h5")
    assert "talos" not in {name for name, _ in takes_of(ALL)}
    assert not list(tmp_path.iterdir())
    assert all(isinstance(recipe, Recipe) and recipe.summary.endswith(".") for recipe in RECIPES.values())
