import pytest
from toys import Diagonal

import mcpframe as mf
from mcpframe import FileFormatError, OptionError, PluginError


@pytest.fixture
def write(tmp_path, registries):
    mf.register_solver(Diagonal)

    def write(text):
        path = tmp_path / "solver.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_a_table_becomes_a_solver_with_its_options(write):
    path = write('[solver]\nname = "diagonal"\nsweeps = 7\n')
    assert mf.load_solver(path) == Diagonal(sweeps=7)
    assert mf.load_solver(str(path)) == Diagonal(sweeps=7)
    assert mf.solve(mf.MixedLCP([[1.0]], [-9.8]), mf.load_solver(path)).iterations == 7


def test_a_config_without_a_table_asks_for_nothing(write):
    config = mf.load_config(write("# nothing yet\n"))
    assert config.solver is None
    assert config.formulation is None


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (
            '[solver]\nname = "diagonal"\nsweep = 7',
            OptionError,
            "unknown option 'sweep'; did you mean 'sweeps'",
        ),
        ('[solver]\nname = "diagonal"\nsweeps = 0', OptionError, "sweeps = 0"),
        ('[solvers]\nname = "diagonal"', OptionError, r"unknown table \[solvers\]; did you mean 'solver'"),
        (
            'name = "diagonal"',
            OptionError,
            r"name = 'diagonal' stands outside a table: put it under \[solver\]",
        ),
        ("[solver]\nsweeps = 3", OptionError, "needs name"),
        ("[solver]\nname = 3", OptionError, "needs name"),
        ('solver = "diagonal"', OptionError, "expected a table with a name, got 'diagonal'"),
        ('[solver]\nname = "diagonl"', PluginError, "unknown solver 'diagonl'; did you mean 'diagonal'"),
        ('[formulation]\nname = "none"', PluginError, "unknown formulation 'none'"),
        ("# empty", OptionError, r"has no \[solver\] table"),
        ('[solver]\nname = "diagonal', FileFormatError, "line 2"),
        ("[solver\n", FileFormatError, "line 1"),
        (b"\xff\xfe", FileFormatError, "not UTF-8 text"),
    ],
)
def test_a_bad_file_is_refused_with_its_name_and_the_reason(write, text, error, message):
    path = write(text)
    with pytest.raises(error, match=message) as caught:
        mf.load_solver(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileFormatError, match="missing.toml: cannot be read .No such file"):
        mf.load_solver(tmp_path / "missing.toml")
    with pytest.raises(FileFormatError, match="cannot be read"):
        mf.load_solver(tmp_path)
