import re
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from storage import friction_problem
from toys import Diagonal

import mcpframe as mf
from mcpframe.cli import main
from mcpframe.config.plugins import FAMILIES
from mcpframe.papers import PAPERS
from mcpframe.solving.registry import Registry

PROBLEM = mf.MixedLCP([[2.0, 1.0], [1.0, 2.0]], [-4.0, -5.0])
IMPOSSIBLE = mf.MixedLCP([[0.0]], [-1.0])


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "problem.npz"
    mf.save_problem(path, PROBLEM, name="two rows")
    return path


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.h5"
    with mf.Corpus(path, "a") as corpus:
        corpus.append(PROBLEM, name="good")
        corpus.append(IMPOSSIBLE, name="impossible")
        corpus.append(PROBLEM, name="good again")
    return path


@pytest.fixture
def run(capsys):
    """Run the command line in this process; give status, output and errors."""

    def run(*words):
        status = main([str(word) for word in words])
        return status, *capsys.readouterr()

    return run


def test_the_command_is_installed():
    finished = subprocess.run([sys.executable, "-m", "mcpframe", "--version"], capture_output=True, text=True)
    assert finished.stdout == f"mcpframe {mf.__version__}\n"


def test_a_mistake_in_a_scene_is_told_before_the_stepper_is_loaded(tmp_path):
    """Without `mcpframe warmup` its kernels take a minute to compile."""
    (tmp_path / "typo.toml").write_text('[model]\nsystem = "quadrupd"\n')
    program = (
        "import sys; from mcpframe.cli import main; status = main(['simulate', 'typo.toml']); "
        "sys.exit(status if 'mcpframe.simulation.step.advance' not in sys.modules else 9)"
    )
    finished = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=100
    )
    assert finished.returncode == 2
    assert "quadruped" in finished.stderr
    assert finished.stderr.count("\n") == 1


def test_a_warning_is_a_line_without_a_place_in_the_code(tmp_path):
    scene = '[model]\nsystem = "sphere"\n[initial]\ntheta = { sphere = { xyz = [0, 0, 0.02] } }\n'
    (tmp_path / "scene.toml").write_text(scene + "[stepping]\nduration = 0.002\n")
    words = ["simulate", str(tmp_path / "scene.toml"), "--out", str(tmp_path / "run"), "--no-plots"]
    command = [sys.executable, "-m", "mcpframe", *words]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=100)
    (line,) = finished.stderr.splitlines()
    assert line.startswith("mcpframe: warning: scene: where the run begins")
    assert "overlap" in line


def test_help_is_a_page_to_act_on(run):
    status, out, _ = run("--help")
    assert status == 0
    assert "mcpframe list" in out
    assert "mcpframe formulate SYSTEM --out FILE" in out
    assert "mcpframe solve FILE" in out
    status, out, _ = run("solve", "--help")
    assert status == 0
    assert "mcpframe solve problem.npz --solver lemke --option max_pivots=500" in out
    assert "save_problem" in out
    for option in (
        "--solver",
        "--option",
        "--config",
        "--tol",
        "--time-limit",
        "--z0",
        "--index",
        "--n-f",
        "--out",
        "--log",
    ):
        assert option in out


def test_flags_have_no_type_and_options_do(run):
    for words in ((), ("solve",), ("study", "run"), ("corpus", "recipe")):
        out = run(*words, "--help")[1]
        assert "bool" not in out.lower()
        assert "--help" in out
    assert "<path>" in run("solve", "--help")[1] or "PATH" in run("solve", "--help")[1]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("mcpframe so", {"solve"}),
        ("mcpframe solve x.npz --solver l", {"lemke"}),
        ("mcpframe formulate quad", {"quadruped"}),
        ("mcpframe formulate box --law r", {"rolling"}),
        ("mcpframe list nm", {"nmc", "nmc_os"}),
        ("mcpframe study ", {"run", "check", "report", "export"}),
    ],
)
def test_the_shell_completes_commands_and_names(words, offered, monkeypatch, capsys):
    monkeypatch.setenv("_MCPFRAME_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    with pytest.raises(SystemExit) as end:
        main([])
    assert not end.value.code
    assert set(capsys.readouterr().out.split()) == offered


def test_a_paper_is_named_in_full_where_help_mentions_it(run):
    for command in ("sizes", "compare", "formulate"):
        out = " ".join(run(command, "--help")[1].split())
        assert re.search(f"J14:? [(]?{PAPERS['J14']}", out)
    assert "J14" not in run("--help")[1]


def test_a_short_z_is_printed_and_a_long_one_is_not(run, path, tmp_path):
    assert re.search(r"\nz +1, 2\s*\n", run("solve", path)[1])
    long = tmp_path / "long.npz"
    mf.save_problem(long, mf.MixedLCP(np.eye(13), -np.ones(13)))
    assert not re.search(r"\nz ", run("solve", long)[1])


def test_an_npz_file_of_numpy_without_bounds_is_an_lcp(run, tmp_path):
    place = tmp_path / "lcp.npz"
    np.savez(place, M=[[2.0, 1.0], [1.0, 2.0]], q=[-4.0, -5.0])
    status, out, _ = run("solve", place)
    assert status == 0
    assert "1, 2" in out
    problem = mf.load_problem(place)
    assert (problem.lower.tolist(), problem.upper.tolist()) == ([0.0, 0.0], [np.inf, np.inf])
    np.savez(place, M=[[1.0]], q=[-1.0], lower=[0.0])
    status, _, error = run("solve", place)
    assert (status, "'upper' is missing" in error) == (2, True)


def test_a_model_of_pyomo_is_solved_and_its_variables_are_named(run):
    """What the file says is told in tests/modelling/test_nl.py; here x = log 2."""
    model = Path(__file__).parents[2] / "examples" / "mcp" / "pairs.nl"
    status, out, _ = run("solve", model, "--solver", "path", "--log")
    assert status == 0
    assert "v0 = 0.693147181, v1 = " in out
    assert "major minor" in out


def test_the_list_shows_every_plugin_with_type_default_range_and_text(run, registries):
    mf.register_solver(Diagonal)
    status, out, _ = run("list")
    assert status == 0
    assert all(name in out for name in mf.available_solvers())
    line = next(line for line in out.split("\n") if line.lstrip().startswith("sweeps"))
    for part in ("int", "= 1", ">= 1, <= 100", "how many times to do the same"):
        assert part in line


def test_the_list_shows_every_family_with_aliases_and_options(run):
    out = run("list")[1]
    for title in ("solvers", "formulations", "contact laws"):
        assert f"\n{title}\n" in f"\n{out}"
    for names in (mf.available_solvers(), mf.available_formulations(), mf.available_contact_laws()):
        assert all(f"\n  {name}  " in out for name in names)
    assert "also called tree_augmented" in out
    assert "radius" in out


def test_options_that_all_formulations_share_are_told_once(run):
    out = run("list")[1]
    assert out.count("tangents of a friction cone") == 1
    assert "options of every formulation:" in out
    alone = run("list", "nmc")[1]
    assert alone.count("tangents of a friction cone") == 1
    assert "options of every" not in alone


def test_a_plugin_is_shown_by_its_alias(run):
    assert run("list", "fully_augmented") == run("list", "nmc_os")


def test_a_family_without_plugins_says_so(run, monkeypatch):
    monkeypatch.setitem(FAMILIES, "contact_law", Registry("nobody.has.these", mf.AbstractContactLaw, "law"))
    assert "laws: none installed" in run("list")[1]


def test_the_list_says_why_a_plugin_cannot_run(run, registries):
    class Needy(Diagonal):
        """Needs much."""

        name = "needy"
        requires = ("no_such_module",)
        extra = "peers"

    mf.register_solver(Needy)
    status, out, _ = run("list", "needy")
    assert status == 0
    assert "not available: it needs no_such_module: pip install 'mcpframe[peers]'" in out
    assert "lemke" not in out


def test_a_solved_problem_is_reported_and_ends_with_zero(run, path):
    status, out, _ = run("solve", path, "--solver", "lemke")
    assert status == 0
    for part in ("two rows", "SOLVED", "residual", "lemke", "iterations", "time"):
        assert part in out


@pytest.mark.parametrize("solver", ["lemke", "auto"])
def test_an_answer_that_is_not_certified_ends_with_one_and_a_remedy(run, tmp_path, solver):
    path = tmp_path / "impossible.npz"
    mf.save_problem(path, IMPOSSIBLE)
    status, out, _ = run("solve", path, "--solver", solver)
    assert status == 1
    assert "SOLVED" not in out
    assert "note" in out


def test_options_and_tolerance_reach_the_solver(run, path, registries):
    mf.register_solver(Diagonal)
    status, out, _ = run("solve", path, "--solver", "diagonal", "--option", "sweeps=7")
    assert status == 1
    assert "diagonal takes diagonal matrices only" in out
    mf.save_problem(path, mf.MixedLCP([[2.0]], [-4.0]))
    status, out, _ = run("solve", path, "--solver", "diagonal", "--option", "sweeps=7", "--tol", "1e-3")
    assert status == 0
    assert "iterations  7" in out
    assert "certified up to 0.001" in out


def test_a_config_file_chooses_the_solver(run, path, tmp_path):
    config = tmp_path / "solver.toml"
    config.write_text('[solver]\nname = "enum"\n')
    assert "enum" in run("solve", path, "--config", config)[1]


def test_the_solution_is_written_and_can_be_started_from(run, path, tmp_path):
    out = tmp_path / "solution.npz"
    assert run("solve", path, "--out", out)[0] == 0
    with np.load(out) as fields:
        np.testing.assert_allclose(fields["z"], [1.0, 2.0])
        assert str(fields["status"]) == "SOLVED"
    assert run("solve", path, "--z0", out)[0] == 0


def test_a_corpus_is_solved_in_a_table(run, corpus):
    status, out, _ = run("solve", corpus, "--solver", "lemke")
    assert status == 1
    assert "2 of 3 certified" in out
    assert all(name in out for name in ("good", "impossible", "good again"))


def test_one_problem_of_a_corpus_is_picked_by_index(run, corpus):
    assert run("solve", corpus, "--index", 2)[0] == 0
    assert run("solve", corpus, "--index", 1)[0] == 1


def test_solutions_of_a_corpus_go_into_a_folder(run, corpus, tmp_path):
    run("solve", corpus, "--out", tmp_path / "answers")
    assert sorted(file.name for file in (tmp_path / "answers").iterdir()) == [
        f"{k:06d}.npz" for k in range(3)
    ]


def test_the_log_of_the_iterations_is_printed(run, path):
    assert len(run("solve", path, "--solver", "path", "--log")[1]) > len(
        run("solve", path, "--solver", "path")[1]
    )
    assert "lemke keeps no log" in run("solve", path, "--solver", "lemke", "--log")[1]


def test_a_friction_problem_becomes_polyhedral_on_demand(run, tmp_path):
    path = tmp_path / "friction.npz"
    mf.save_problem(path, friction_problem())
    status, out, _ = run("solve", path, "--solver", "lemke")
    assert status == 1
    assert "UNSUPPORTED" in out
    status, out, _ = run("solve", path, "--solver", "lemke", "--n-f", 4)
    assert status == 0
    assert "MixedLCP(n=12" in out


def test_an_fclib_file_is_recognised(run, tmp_path):
    path = tmp_path / "contact.hdf5"
    with h5py.File(path, "w") as file:
        local = file.create_group("fclib_local")
        local["spacedim"] = [3]
        W = {"m": 3, "n": 3, "nz": -2, "nzmax": 3, "p": np.arange(4), "i": np.arange(3), "x": np.ones(3)}
        for name, value in W.items():
            local.create_dataset(f"W/{name}", data=np.atleast_1d(value))
        local.create_dataset("vectors/q", data=[-1.0, 0.1, 0.0])
        local.create_dataset("vectors/mu", data=[0.5])
    status, out, _ = run("solve", path, "--solver", "lemke", "--n-f", 4)
    assert status == 0
    assert "contact" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["solve"], "Missing argument"),
        (["sovle"], "No such command 'sovle'"),
        (["solve", "PATH", "--tolerance", "1"], "No such option"),
        (["solve", "PATH", "--tol", "tight"], "--tol"),
        (["solve", "PATH", "--tol", "-1"], "tol = -1.0"),
        (["solve", "PATH", "--time-limit", "0"], "time_limit = 0.0"),
        (["solve", "PATH", "--solver", "lemkee"], "did you mean 'lemke'"),
        (["solve", "PATH", "--solver", "lemke", "--option", "max_pivot=5"], "did you mean 'max_pivots'"),
        (["solve", "PATH", "--solver", "lemke", "--option", "max_pivots=-5"], "max_pivots = -5"),
        (["solve", "PATH", "--solver", "lemke", "--option", "max_pivots"], "write it as KEY=VALUE"),
        (["solve", "PATH", "--config", "FOLDER/missing.toml"], "missing.toml: cannot be read"),
        (["solve", "PATH", "--config", "x.toml", "--solver", "lemke"], "leave out --solver"),
        (["solve", "PATH", "--z0", "FOLDER/missing.npz"], "missing.npz: no such file"),
        (["solve", "PATH", "--z0", "PATH"], "has neither z nor z0"),
        (["solve", "PATH", "--out", "FOLDER/nowhere/s.npz"], "--out"),
        (["solve", "PATH", "--index", "1"], "holds problems 0 to 0"),
        (["solve", "PATH", "--n-f", "4"], "only friction problems have cones"),
        (["solve", "FOLDER/missing.npz"], "missing.npz: cannot be read (No such file or directory)"),
        (["solve", "FOLDER"], "cannot be read (Is a directory)"),
        (["solve", __file__], "is neither an .npz file nor HDF5"),
        (["list", "lemkee"], "no plugin is called 'lemkee'; did you mean 'lemke'"),
    ],
)
def test_misuse_ends_with_two_and_one_clear_line(run, path, words, message):
    words = [word.replace("PATH", str(path)).replace("FOLDER", str(path.parent)) for word in words]
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert message in err
    assert err.startswith("mcpframe: error: ")
    assert err.count("\n") == 1


def test_debug_shows_the_traceback(path):
    with pytest.raises(mf.PluginError):
        main(["solve", str(path), "--solver", "nobody", "--debug"])


def test_a_truncated_file_is_refused_by_name(run, path, corpus):
    for file in (path, corpus):
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2])
        status, _, err = run("solve", file)
        assert status == 2
        assert file.name in err


def test_an_empty_corpus_is_refused(run, tmp_path):
    mf.Corpus(tmp_path / "empty.h5", "a").close()
    assert "holds no problem" in run("solve", tmp_path / "empty.h5")[2]


def test_a_bug_is_one_line_as_well(run, path, monkeypatch):
    def broken(*arguments, **options):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(mf, "solve", broken)
    status, _, err = run("solve", path)
    assert status == 2
    assert "ZeroDivisionError: oops (unexpected; --debug shows where)" in err


def test_no_words_at_all_show_the_help(run):
    status, out, err = run()
    assert (status, err) == (0, "")
    assert "mcpframe list" in out


def test_names_in_files_of_strangers_steer_no_terminal(tmp_path, run):
    red = "\x1b[31mred\x1b]0;title\x07\x9b2J"
    with mf.Corpus(tmp_path / "named.h5", "a") as corpus:
        for _ in range(2):
            corpus.append(mf.MixedLCP([[1.0]], [-1.0]), name=red, labels=[red], provenance={"system": red})
    (tmp_path / "scene.toml").write_text('[model]\nsystem = "box"\n"key\\u001b[2J" = 1\n')
    for words in (["solve", "named.h5"], ["corpus", "show", "named.h5"], ["simulate", "scene.toml"]):
        _, out, error = run(*words[:-1], tmp_path / words[-1])
        assert not {"\x1b", "\x07", "\x9b"} & {*out, *error}
        assert "\u241b" in out + error
