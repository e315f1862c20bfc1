"""Study files: what they may say, and that mistakes stop before anything runs, with the line and the fix."""

import time
from pathlib import Path

import h5py
import numpy as np
import pytest

import mcpframe as mf
from mcpframe.config.toml_tables import changed
from mcpframe.exceptions import McpframeError, OptionError
from mcpframe.io.fclib import save_fclib
from mcpframe.problem.generators import contact_lcp, contact_system
from mcpframe.studies.study.reference import reference
from mcpframe.studies.study.study_file import KINDS, load_study, parse_study

GOOD = """name = "good"
tol = 1e-8
solvers = ["lemke", { name = "pgs", label = "sweeps", max_sweeps = 10 }]
formulations = ["os", "mc"]

[[problems]]
system = "pendulum"
parameters = { links = [3, 6] }
states = 2
"""


def test_names_tables_and_arrays_of_tables_say_the_same():
    tables = GOOD.replace('formulations = ["os", "mc"]', "").replace(
        'solvers = ["lemke", { name = "pgs", label = "sweeps", max_sweeps = 10 }]', ""
    )
    tables += '[[solvers]]\nname = "lemke"\n[[solvers]]\nname = "pgs"\nlabel = "sweeps"\nmax_sweeps = 10\n'
    tables += '[[formulations]]\nname = "os"\n[[formulations]]\nname = "mc"\n'
    one, other = parse_study(GOOD), parse_study(tables)
    assert one.config() == other.config()
    assert [setting.label for setting in one.solvers] == ["lemke", "sweeps"]


def test_swapping_a_backend_is_one_word():
    study = parse_study(GOOD.replace('"lemke"', '"auto"'))
    assert study.solvers[0].solver() == mf.solver("auto")


def test_a_study_without_formulations_has_os():
    study = parse_study(GOOD.replace('formulations = ["os", "mc"]', ""))
    assert [setting.name for setting in study.formulations] == ["os"]


MISTAKES = [
    ('"lemke", {', '"lemk", {', 3, "solvers[0]", "did you mean 'lemke'?"),
    ('name = "pgs"', 'name = "pgss"', 3, "solvers[1].name", "did you mean 'pgs'?"),
    ("max_sweeps = 10", "max_sweps = 10", 3, "solvers[1].max_sweps", "did you mean 'max_sweeps'?"),
    ("max_sweeps = 10", "max_sweeps = -1", 3, "solvers[1].max_sweeps", "greater than"),
    ('label = "sweeps"', 'label = "lemke"', 3, "solvers[1]", "give it another label"),
    ('["os", "mc"]', '["os", "nc"]', 4, "formulations[1]", "did you mean 'nmc'?"),
    ('["os", "mc"]', '["os", "os"]', 4, "formulations[1]", "give it another label"),
    ('["os", "mc"]', '["os", 3]', 4, "formulations[1]", "give the name of a formulation"),
    ("tol = 1e-8", 'tol = "small"', 2, "tol", "number"),
    ("tol = 1e-8", "tol = -1.0", 2, "tol", "greater than 0"),
    ("tol = 1e-8", "toll = 1e-8", 2, "toll", "did you mean 'tol'?"),
    ("tol = 1e-8", "repeats = 0", 2, "repeats", "greater than or equal to 1"),
    ("tol = 1e-8", 'starts = ["hot"]', 2, "starts", "'cold' or 'warm'"),
    ("tol = 1e-8", "starts = []", 2, "starts", "at least 1"),
    ("tol = 1e-8", 'imports = ["no_such_module"]', 2, "imports", "cannot be imported"),
    ("tol = 1e-8", 'imports = ["missing.py"]', 2, "imports", "missing.py"),
    ("links = [3, 6]", "links = []", 8, "links", "give at least one value"),
    ("links = [3, 6]", "link = [3, 6]", 8, "link", "did you mean 'links'?"),
    ("links = [3, 6]", "links = [3, 'six']", 8, "links", "integer"),
    ("links = [3, 6]", "dt = [0.1]", 8, "dt", "write dt in the table itself"),
    ('system = "pendulum"', 'system = "pendulm"', 7, "system", "did you mean 'pendulum'?"),
    ('system = "pendulum"', 'system = "robot.urdf"', 7, "system", "there is no such file"),
    ('system = "pendulum"', 'sistem = "pendulum"', 7, "sistem", "one of system, scene, corpus"),
    ("states = 2", "states = 2\ncontacts = 1000", 10, "contacts", "has points for"),
    ("states = 2", "states = 2.5", 9, "states", "integer"),
    ("states = 2", 'states = 2\nlaw = "coulom"', 10, "law", "did you mean 'coulomb'?"),
    ("states = 2", "state = 2", 9, "state", "random"),
    ("states = 2", "sates = 2", 9, "sates", "did you mean"),
    ("states = 2", 'states = 2\n[[problems]]\nsystem = "pendulum"', 11, "system", "another name"),
    ("states = 2", 'states = 2\n[[published]]\ncolumns = ["a"]', 11, "published[0]", "'rows' is missing"),
]


@pytest.mark.parametrize(("old", "new", "line", "key", "words"), MISTAKES, ids=lambda value: str(value)[:30])
def test_a_mistake_is_told_with_its_line_its_key_and_the_fix(tmp_path, old, new, line, key, words):
    path = tmp_path / "study.toml"
    assert GOOD.count(old) == 1
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(McpframeError) as error:
        load_study(path)
    message = str(error.value)
    assert message.startswith(f"{path}: line {line}: ")
    assert key in message
    assert words in message
    assert list(tmp_path.iterdir()) == [path]  # nothing ran


OTHER_SOURCES = [
    ('generator = "boxs"', "did you mean 'boxes'?"),
    ('generator = "boxes"\nsizes = []', "give at least one value"),
    ('generator = "boxes"\nchange = []', "give at least one value"),
    ('generator = "monotone"\nchange = [0.0, 0.1]', "belong to families"),
    ('scene = "none.toml"', "there is no such file"),
    ('corpus = "none.h5"', "there is no such file"),
    ('corpus = "corpus.h5"\nwhere = { motion = "flying" }', "none of the 4 problems"),
    ('corpus = "corpus.h5"\nwhere = { moton = "sliding" }', "did you mean 'motion'?"),
    ('corpus = "corpus.h5"\nwhere = { n = { least = 3 } }', "min and max"),
    ('corpus = "new.h5"\nrecipe = "quadrupd"', "did you mean 'quadruped'?"),
    ('corpus = "broken.h5"', "is not a complete corpus"),
    ('fclib = "none*.hdf5"', "there is no such file"),
    ('fclib = ["broken.h5"]', "is not"),
    ('npz = ["problem.npz", "none.npz"]', "'none.npz': there is no such file"),
    ('npz = "problem.npz"\nfriction_directions = []', "give at least one value"),
    ('scene = "scene.toml"\nparameters = { "model.options.link" = 3 }', "link"),
    ('scene = "scene.toml"\nparameters = { "model.options.links" = [] }', "give at least one value"),
    ('scene = "scene.toml"\nparameters = { "model.system.links" = 3 }', "model.system is not a table"),
    ('system = "pendulum"\nscene = "scene.toml"', "here system and scene is given"),
]


@pytest.fixture
def files(tmp_path):
    """A folder with one file of every kind."""
    with mf.Corpus(tmp_path / "corpus.h5", "a") as corpus:
        for k in range(4):
            labels = {"motion": "sliding" if k % 2 else "sticking", "n": 6 * (k + 1)}
            origin = {"system": "boxes" if k < 2 else "chain", "labels": labels}
            corpus.append(contact_lcp(k + 1), name=f"p{k}", provenance=origin, labels=["odd"] * (k % 2))
    with h5py.File(tmp_path / "broken.h5", "w") as file:
        file["x"] = np.zeros(3)
    save_fclib(tmp_path / "one.hdf5", contact_system(2).exact_problem())
    save_fclib(tmp_path / "two.hdf5", contact_system(3).exact_problem())
    mf.save_problem(tmp_path / "problem.npz", contact_lcp(2), labels=["hardness=easy", "k=3"])
    (tmp_path / "scene.toml").write_text('[model]\nsystem = "pendulum"\noptions = { links = 3 }\n')
    return tmp_path


@pytest.mark.parametrize(("table", "words"), OTHER_SOURCES)
def test_mistakes_in_every_kind_of_source_are_told_with_their_line(files, table, words):
    text = f'solvers = ["lemke"]\n\n[[problems]]\n{table}\n'
    with pytest.raises(McpframeError, match=r"^study\.toml: line [3-5]: ") as error:
        parse_study(text, files, "study.toml")
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no [[problems]]"),
        ('solvers = ["lemke"]', "has no [[problems]]"),
        ('[[problems]]\nsystem = "sphere"\ncontacts = 1\n', "solvers = ["),
        ("solvers = [", "not valid TOML"),
        ("problems = 3\n", "tables [[problems]] are expected"),
    ],
)
def test_files_that_miss_a_part_are_told(text, words):
    with pytest.raises(McpframeError) as error:
        parse_study(text, name="study.toml")
    assert str(error.value).startswith("study.toml: ")
    assert words in str(error.value)


def cases_of(table, folder):
    study = parse_study(f'seed = 3\nsolvers = ["lemke"]\n[[problems]]\n{table}\n', folder)
    source, place = study.sources[0], study.place()
    groups = source.groups(place)
    return {
        name: source.open(place, g)(i) for g, group in enumerate(groups) for i, name in enumerate(group.cases)
    }


def test_what_steps_ask_is_said_of_the_problems_not_of_a_formulation(files):
    (found,) = cases_of('system = "four_bar"\nclosure_bias = false\nbaumgarte = 0.2', files).values()
    asks = {"position_level": False, "contact_bias": False, "closure_bias": False, "baumgarte": 0.2}
    assert found.make_step().asks == asks
    text = 'solvers = ["lemke"]\nformulations = [{ name = "os", closure_bias = false }]\n'
    with pytest.raises(McpframeError, match=r"belongs to the step; .* beside dt in the \[\[problems\]\]"):
        parse_study(text + '[[problems]]\nsystem = "four_bar"\n', files)


def test_a_corpus_is_filtered_by_labels_tags_and_numbers(files):
    assert list(cases_of('corpus = "corpus.h5"\nwhere = { motion = "sliding" }', files)) == [
        "corpus/000001",
        "corpus/000003",
    ]
    assert list(cases_of('corpus = "corpus.h5"\ntags = ["odd"]\nlimit = 1', files)) == ["corpus/000001"]
    found = cases_of('corpus = "corpus.h5"\nwhere = { n = { min = 12, max = 18 } }', files)
    assert [case.problem.n for case in found.values()] == [12, 18]
    assert found["corpus/000002"].labels["motion"] == "sticking"


def test_a_corpus_that_is_not_there_is_made_by_its_recipe_and_kept(files):
    table = 'corpus = "made/walk.h5"\nrecipe = "quadruped"\nsize = "quick"\nlimit = 5'
    text = f'solvers = ["lemke"]\n[[problems]]\n{table}\n'
    study = parse_study(text, files)
    assert not (files / "made").exists()
    assert study.sources[0].most_cases(study.place()) == (1, 5)
    study.sources[0].prepare(study.place(), False)
    before = (files / "made/walk.h5").stat().st_mtime_ns
    found = cases_of(table, files)
    assert len(found) == 5
    assert {case.labels["recipe"] for case in found.values()} == {"quadruped"}
    study.sources[0].prepare(study.place(), False)
    assert (files / "made/walk.h5").stat().st_mtime_ns == before


def test_friction_files_become_polyhedral_or_stay_exact(files):
    found = cases_of('fclib = "*.hdf5"\nfriction_directions = [0, 4, 8]', files)
    assert {name: case.problem.n for name, case in found.items()} == {
        "fclib/friction_directions=0/one": 6,
        "fclib/friction_directions=0/two": 9,
        "fclib/friction_directions=4/one": 12,
        "fclib/friction_directions=4/two": 18,
        "fclib/friction_directions=8/one": 20,
        "fclib/friction_directions=8/two": 30,
    }


def test_tags_of_an_npz_file_are_labels(files):
    (case,) = cases_of('npz = "problem.npz"', files).values()
    assert dict(case.labels) == {"hardness": "easy", "k": 3}


def test_generators_give_what_they_give_by_hand(files):
    found = cases_of('generator = "boxes"\nsizes = [2, 3]\nseeds = [4]\nchange = [0.0, 0.1]', files)
    case = found["boxes/size=3/seed=4/change=0.1"]
    np.testing.assert_array_equal(case.problem.q, contact_lcp(3, "boxes", seed=4, change=0.1).q)
    assert len(found) == 4


def test_the_same_case_has_the_same_bits_wherever_it_is_made(files):
    table = 'system = "quadruped"\nstates = 3\ncontacts = [2, 4]'
    one, other = cases_of(table, files), cases_of(table, files)
    for name in one:
        problems = [mf.formulation("os").build(made[name].make_step())[0] for made in (one, other)]
        np.testing.assert_array_equal(problems[0].M, problems[1].M)
        np.testing.assert_array_equal(problems[0].q, problems[1].q)
    first, second = (one[f"quadruped/contacts=4/state=000{k}"].make_step().state.theta for k in (0, 1))
    assert not np.array_equal(first, second)


def test_dotted_keys_change_a_document_and_leave_the_old_one():
    document = {"model": [{"links": 3}], "body": [{"mass": 1}, {"mass": 2}], "stepping": {"dt": 0.1}}
    changes = {"model.links": 6, "body.1.mass": 5, "stepping.dt": 0.2, "material.mu": 0.5}
    assert changed(document, changes) == {
        "model": [{"links": 6}],
        "body": [{"mass": 1}, {"mass": 5}],
        "stepping": {"dt": 0.2},
        "material": {"mu": 0.5},
    }
    assert document["model"] == [{"links": 3}]
    with pytest.raises(OptionError, match=r"body is not one table; say which by its index"):
        changed(document, {"body.mass": 5})


def test_every_key_of_every_kind_is_described():
    for kind in KINDS.values():
        for name, about in kind.model_fields.items():
            assert about.description, (kind, name)


def test_the_keys_in_the_documentation_are_those_of_the_schema():
    text = (Path(__file__).parents[2] / "docs/studies.md").read_text(encoding="utf-8")
    assert text.split("<!-- keys:begin -->\n")[1].split("<!-- keys:end -->")[0] == reference()


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[2] / "examples/studies").glob("*.toml")), ids=str
)
def test_every_study_of_the_examples_can_be_run(path):
    study = load_study(path)
    assert study.name == path.stem


def test_a_class_of_random_problems_needs_no_name(files):
    """What the file does not give is not among the keys that it is blamed for."""
    assert list(cases_of('generator = "monotone"\nsizes = 3', files)) == ["monotone/seed=0"]
    with pytest.raises(OptionError, match="belong to families"):
        cases_of('generator = "monotone"\nchange = [0.1]', files)


def test_twenty_thousand_problems_are_ready_at_once():
    """Loading was quadratic in the points of the grid: 3,200 of them took 384 s."""
    start = time.process_time()
    study = parse_study(
        'solvers = ["lemke"]\n[[problems]]\ngenerator = "monotone"\nsizes = [3, 4]\nseeds = 10_000\n'
    )
    source, place = study.sources[0], study.place()
    assert len(source.groups(place)) == 20_000
    names = [source.open(place, g)(0).name for g in range(0, 20_000, 20)]
    assert len(set(names)) == 1000
    assert time.process_time() - start < SOON


SOON = 5.0
"""Processor seconds within which a large study is read; it takes a third of one where nobody disturbs."""


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ('generator = "full"\nseeds = 2_000_000', "2000000 points of the grid"),
        ('generator = "full"\nsizes = -1', "size"),
        ('generator = "monotone"\nsizes = 10_001', "sizes: 10001 is too large"),
        ('generator = "full"\nseeds = [-1]', "seed"),
        ('system = "pendulum"\nstates = 99_999_999_999', "cases"),
        ('system = "pendulum"\nparameters = { links = 99_999_999 }', "links = 99999999: at most 10,000"),
    ],
)
def test_counts_beyond_all_measure_are_refused_before_anything_is_made(table, key, files):
    with pytest.raises(OptionError, match=key):
        cases_of(table, files)


def test_a_scene_in_the_place_of_a_study_is_told_apart():
    with pytest.raises(OptionError, match='is a scene, not a study; .* scene = "drop.toml"'):
        parse_study('[model]\nsystem = "sphere"\n', name="drop.toml")
