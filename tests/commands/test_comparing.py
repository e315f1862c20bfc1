"""``mcpframe compare`` writes figure 6 of J14 and says how far apart the runs are."""

import csv
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from mcpframe.cli import main
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.view.comparison import Comparison, Run
from mcpframe.view.comparison_plots import comparison_figure

SCENES = Path(__file__).parents[2] / "examples/scenes"
SAME = 1e-7
"""As in test_comparison.py."""


@pytest.mark.parametrize("name", ["pendulum_j11", "pendulum_j12", "pendulum_j14"])
def test_one_command_compares_the_pendulum_of_a_paper(name, tmp_path, capsys):
    words = ["compare", str(SCENES / f"{name}.toml"), "--links", "3", "--duration", "0.4", "--dt", "4e-3"]
    assert main([*words, "--dt", "2e-3", "--collisions", "2", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "os – nmc_os, 4 ms" in said
    assert "nmc_os, 4 – 2 ms" in said
    assert (tmp_path / "comparison.png").read_bytes().startswith(b"\x89PNG")
    runs = sorted(path.name for path in tmp_path.iterdir() if path.is_dir())
    assert runs == ["nmc_os_2_ms", "nmc_os_4_ms", "os_2_ms", "os_4_ms"]
    assert Trajectory.load(tmp_path / "os_4_ms").model.n_links == 3
    with (tmp_path / "comparison.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["before collision"] == "end of run"]
    apart = {row["runs"]: float(row["largest distance"]) for row in rows if row["quantity"] == "height"}
    assert apart["os – nmc_os, 2 ms"] <= SAME < apart["os, 4 – 2 ms"]


def test_the_figure_shows_motions_and_distances(tmp_path):
    words = ["--links", "3", "--duration", "0.2", "--dt", "4e-3", "--dt", "2e-3", "--dt", "1e-3"]
    assert main(["compare", str(SCENES / "pendulum_j14.toml"), *words, "--out", str(tmp_path)]) == 0
    found = [
        Run(setting, dt, Trajectory.load(tmp_path / f"{setting}_{dt * 1e3:g}_ms"))
        for setting in ("os", "nmc_os")
        for dt in (4e-3, 2e-3, 1e-3)
    ]
    height, velocity, apart, _ = comparison_figure(Comparison(tuple(found))).axes
    assert [text.get_text() for text in height.get_legend().get_texts()][:2] == ["os, 1 ms", "nmc_os, 1 ms"]
    np.testing.assert_array_equal(height.lines[0].get_ydata(), found[2].motion[0])
    np.testing.assert_array_equal(velocity.lines[1].get_ydata(), found[5].motion[1])
    assert apart.get_yscale() == "log"
    assert [line.get_label() for line in apart.lines][:2] == ["os, 4 – 2 ms", "os, 2 – 1 ms"]


@pytest.mark.parametrize(
    ("scene", "words", "said"),
    [
        ("box_stack", ["--links", "3"], "--links 3:"),
        ("pendulum_j14", ["--formulation", "oss"], "oss"),
        ("pendulum_j14", ["--solver", "lemk"], "lemke"),
        ("pendulum_j14", ["--dt", "-1"], "dt"),
        ("nowhere", [], "nowhere.toml"),
    ],
)
def test_misuse_is_one_line_and_writes_nothing(scene, words, said, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["compare", str(SCENES / f"{scene}.toml"), *words, "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not out.exists()


def test_runs_are_not_written_over_unless_asked(tmp_path, capsys):
    words = [
        "compare",
        str(SCENES / "pendulum_j14.toml"),
        "--links",
        "2",
        "--duration",
        "0.01",
        "--dt",
        "1e-3",
    ]
    words += ["--out", str(tmp_path)]
    assert [main(words), main(words), main([*words, "--overwrite"])] == [0, 2, 0]
    assert "--overwrite" in capsys.readouterr().err


def test_a_folder_that_is_a_file_is_refused(tmp_path, capsys):
    (tmp_path / "file").touch()
    words = ["compare", str(SCENES / "pendulum_j14.toml"), "--out", str(tmp_path / "file")]
    assert main(words) == 2
    assert "is a file; give a folder" in capsys.readouterr().err
