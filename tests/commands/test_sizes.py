"""``mcpframe sizes``: the published sizes of problems, in assembled matrices [J14, Tables 1 and 2]."""

import re

import pytest

import mcpframe as mf
from mcpframe.cli import main
from mcpframe.commands import sizes


@pytest.fixture
def run(capsys):
    def run():
        return main(["sizes"]), capsys.readouterr().out

    return run


def rows(text, *, columns):
    """The cells of every line of a table with so many columns."""
    lines = [re.split("[│|]", line)[1:-1] for line in text.split("\n")]
    return [[cell.strip() for cell in line] for line in lines if len(line) == columns]


def test_every_published_size_is_met(run):
    status, text = run()
    assert status == 0
    assert "published sizes: all 22 match" in text


def test_the_dual_arm_is_table_1(run):
    table = {name: (size, published) for name, size, published, _ in rows(run()[1], columns=4)}
    assert table["nmc"] == ("310", "310")
    assert table["mc"] == ("50", "50")
    assert table["rmc"] == ("24", "24")
    assert table["os"] == ("24", "24")
    assert table["nmc_os"][0] == str(6 * 26 - 26 + 24)
    assert table["trinkle"][0] == str(2 * (6 * 26 - 26) + 24)
    assert table.keys() == mf.available_formulations().keys()


def test_the_pendulums_are_table_2(run):
    table = rows(run()[1], columns=1 + len(mf.available_formulations()))
    assert [int(row[0]) for row in table] == [3, 6, 12, 15, 24, 30]
    for links, os, nmc_os, nmc, *_ in table:
        n = int(links)
        assert os == "24 (24)"
        assert nmc_os == f"{24 + 5 * n} ({24 + 5 * n})"
        assert nmc == f"{24 + 11 * n} ({24 + 11 * n})"


def test_a_size_that_is_not_met_ends_with_one(run, monkeypatch):
    monkeypatch.setitem(sizes.DUAL_ARM, "mc", 51)
    status, text = run()
    assert status == 1
    assert "1 of 22 published sizes are not met" in text
