import pytest
from toys import Diagonal

import mcpframe as mf
from mcpframe import FileFormatError, ModelError, OptionError, PluginError


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
    assert config.contact_law is None


def test_every_family_has_its_table(write):
    config = mf.load_config(
        write(
            '[formulation]\nname = "tree_augmented"\nfriction_directions = 6\n'
            '[contact_law]\nname = "torsional"\nradius = 0.02\n'
            '[solver]\nname = "diagonal"\n'
        )
    )
    assert config.formulation == mf.formulation("os", friction_directions=6)
    assert config.contact_law == mf.contact_law("torsional", radius=0.02)
    assert config.solver == Diagonal()


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
            r"name = 'diagonal' stands outside a table: put it under one of \[solver\], \[formulation\], ",
        ),
        ("[solver]\nsweeps = 3", OptionError, "needs name"),
        ("[solver]\nname = 3", OptionError, "needs name"),
        ('solver = "diagonal"', OptionError, "expected a table with a name, got 'diagonal'"),
        ('[solver]\nname = "diagonl"', PluginError, "unknown solver 'diagonl'; did you mean 'diagonal'"),
        ('[formulation]\nname = "none"', PluginError, "unknown formulation 'none'"),
        (
            '[contact_law]\nname = "coulom"',
            PluginError,
            "unknown contact law 'coulom'; did you mean 'coulomb'",
        ),
        ('[contact_law]\nname = "box"\nload = -1', OptionError, "box: option load = -1"),
        ("[contact_law]\nload = 1", OptionError, "contact law: the table needs name"),
        ('[law]\nname = "box"', OptionError, r"unknown table \[law\].*\[contact_law\]"),
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


CONTACT = '[[contact]]\nbody_a = "foot"\nbody_b = "world"\npoint = [1, 2, 3]\nnormal = [0, 0, 2.0]\n'


def test_contacts_come_from_a_file_in_its_order(write):
    own_law = 'mu = 0.5\nrestitution = 0.1\ngap = 0.01\nlaw = { name = "box", load = 3.0 }\n'
    first, second = mf.load_contacts(write(CONTACT + own_law + CONTACT + 'law = "rolling"\n'))
    assert (first.body_a, first.body_b) == ("foot", "world")
    assert (first.mu, first.restitution, first.gap) == (0.5, 0.1, 0.01)
    assert first.point.tolist() == [1.0, 2.0, 3.0]
    assert first.normal.tolist() == [0.0, 0.0, 1.0]
    assert first.law == mf.contact_law("box", load=3.0)
    assert second.law == mf.contact_law("rolling")
    assert second.mu == 0.0


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("# nothing", FileFormatError, r"must hold tables \[\[contact\]\] and nothing else"),
        ("[contact]\nmu = 1", FileFormatError, r"must hold tables \[\[contact\]\]"),
        (CONTACT + '[solver]\nname = "lemke"', FileFormatError, "and nothing else"),
        ("contact = [1]", FileFormatError, "contact 0: must be a table, not 1"),
        (CONTACT + "friction = 1", OptionError, "contact 0: unknown key 'friction'; .*restitution"),
        (CONTACT + "gaps = 1", OptionError, "unknown key 'gaps'; did you mean 'gap'"),
        (CONTACT + '[[contact]]\nbody_a = "foot"', OptionError, "contact 1: body_b is missing"),
        (CONTACT + "mu = -1", ModelError, "contact 0: .*mu = -1"),
        (CONTACT + 'mu = "much"', ModelError, "mu = 'much': must be a finite number"),
        (CONTACT.replace("2.0", "0"), ModelError, "contact 0: .*normal"),
        (CONTACT + 'law = "coulom"', PluginError, "contact 0: unknown contact law 'coulom'"),
        (CONTACT + 'law = { name = "box", loads = 1 }', OptionError, "unknown option 'loads'"),
        ("[[contact\n", FileFormatError, "line 1"),
    ],
)
def test_a_bad_contact_is_refused_with_the_file_and_its_place(write, text, error, message):
    path = write(text)
    with pytest.raises(error, match=message) as caught:
        mf.load_contacts(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
