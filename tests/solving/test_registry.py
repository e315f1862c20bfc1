from importlib.metadata import EntryPoint

import pytest
from pydantic import Field
from toys import Diagonal

import mcpframe as mf
from mcpframe import AbstractFormulation, AbstractSolver, OptionError, PluginError
from mcpframe.solving.plugin import AbstractContactLaw, build_plugin
from mcpframe.solving.registry import CONTACT_LAWS, FORMULATIONS, REMEMBERED, SOLVERS, Registry


class Package:
    """As much of an installed distribution as an entry point shows."""

    def __init__(self, name):
        self.name = name


def registry_of(*entries):
    """A registry that finds the given (name, value, package) instead of what is installed."""
    registry = Registry("mcpframe.solvers", AbstractSolver, "solver")
    registry._found = {}
    for name, value, package in entries:
        point = EntryPoint(name, value, registry.group)._for(Package(package))
        registry._found.setdefault(name, []).append(point)
    return registry


class NeedsMuch(AbstractSolver):
    """Needs what nobody has."""

    name = "needy"
    requires = ("no_such_module", "numpy.no_such_part", "no_such.part")
    extra = "peers"

    def _solve(self, problem, request): ...


def test_an_entry_point_is_found_and_loaded_by_name():
    registry = registry_of(("diagonal", "toys:Diagonal", "toys-package"))
    assert registry.names() == ["diagonal"]
    assert registry.create("diagonal", {"sweeps": 4}) == Diagonal(sweeps=4)


def test_equal_calls_share_one_value_and_the_memory_is_bounded():
    registry = registry_of(("diagonal", "toys:Diagonal", "toys-package"))
    assert registry.create("diagonal", {"sweeps": 2}) is registry.create("diagonal", {"sweeps": 2})
    for k in range(REMEMBERED + 10):
        registry.create("diagonal", {"damping": k / 10**4})
    assert len(registry._instances) <= REMEMBERED


def test_an_unknown_name_is_answered_with_the_nearest_and_the_list():
    with pytest.raises(
        PluginError, match="unknown solver 'lemkee'; did you mean 'lemke'.*known: auto.*lemke"
    ):
        mf.solver("lemkee")


def test_an_unknown_name_is_answered_with_the_extra_that_would_help():
    registry = registry_of(("needy", f"{__name__}:NeedsMuch", "mcpframe"))
    with pytest.raises(PluginError, match=r"known: needy \(needs .*pip install 'mcpframe\[peers\]'\)"):
        registry.get("other")


def test_a_plugin_that_misses_a_module_says_what_to_install():
    registry = registry_of(("needy", f"{__name__}:NeedsMuch", "mcpframe"))
    reason = registry.available()["needy"]
    assert reason.startswith("needs no_such_module, numpy.no_such_part, no_such.part")
    with pytest.raises(PluginError, match="solver 'needy' cannot run here: it needs no_such_module"):
        registry.create("needy", {})


def test_a_name_claimed_twice_names_both_owners_and_spares_the_others():
    registry = registry_of(
        ("twin", "toys:Diagonal", "first-package"),
        ("twin", "toys:Says", "second-package"),
        ("diagonal", "toys:Diagonal", "toys-package"),
    )
    with pytest.raises(
        PluginError, match=r"first-package \(toys:Diagonal\) and second-package \(toys:Says\)"
    ):
        registry.get("twin")
    assert "second-package" in registry.available()["twin"]
    assert registry.available()["diagonal"] == ""


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("no_such_module_here:Solver", "cannot be loaded: ModuleNotFoundError"),
        ("toys:Missing", "cannot be loaded: AttributeError"),
        ("toys:np", "is not a solver: it must extend AbstractSolver"),
        ("mcpframe.solving.plugin:AbstractSolver", "it must implement _solve"),
        ("toys:Diagonal", "is called 'diagonal', not 'x'"),
    ],
)
def test_a_broken_entry_point_says_what_is_wrong_with_it(value, message):
    registry = registry_of(("x", value, "broken-package"))
    with pytest.raises(PluginError, match=message) as caught:
        registry.get("x")
    assert "broken-package" in str(caught.value)
    assert "broken-package" in registry.available()["x"]


def test_classes_are_registered_by_hand_and_again(registries):
    class First(Diagonal):
        name = "mine"

    class Second(Diagonal):
        name = "mine"

    assert mf.register_solver(First) is First
    assert type(mf.solver("mine")) is First
    mf.register_solver(Second)
    assert type(mf.solver("mine")) is Second
    assert mf.available_solvers()["mine"] == ""


def test_an_installed_name_cannot_be_taken_by_hand():
    class Impostor(Diagonal):
        name = "lemke"

    with pytest.raises(
        PluginError, match=r"test_registry.*Impostor has the name of one installed by mcpframe"
    ):
        mf.register_solver(Impostor)


def test_only_finished_plugins_of_the_family_are_registered():
    class Nameless(AbstractSolver):
        def _solve(self, problem, request): ...

    for cls, message in (
        (dict, "must extend AbstractSolver"),
        (AbstractFormulation, "must extend AbstractSolver"),
        (AbstractSolver, "must implement _solve"),
        (Nameless, "has no name"),
        ("lemke", "must extend"),
    ):
        with pytest.raises(PluginError, match=message):
            mf.register_solver(cls)


def test_formulations_have_their_own_family(registries):
    class Nothing(AbstractFormulation):
        """Builds nothing."""

        name = "nothing"

        def build(self, step): ...
        def recover(self, recovery, solution): ...

    mf.register_formulation(Nothing)
    assert "nothing" in mf.available_formulations()
    assert "nothing" not in mf.available_solvers()
    assert mf.formulation("nothing") == Nothing()


def test_contact_laws_have_their_own_family(registries):
    class Nothing(AbstractContactLaw):
        """Two bodies that do not notice each other."""

        name = "nothing"

        def rows(self, contact, dt):
            return mf.LawRows([[]] * 6)

    mf.register_contact_law(Nothing)
    assert "nothing" in mf.available_contact_laws()
    assert "nothing" not in mf.available_formulations()
    assert mf.contact_law("nothing") == Nothing()
    contact = mf.Contact("a", "b", (0, 0, 0), (0, 0, 1), law="nothing")
    assert contact.law.rows(contact, 0.1).m == 0


def test_an_alias_is_another_name_of_the_same_plugin():
    assert mf.formulation("tree_augmented", friction_directions=6) == mf.formulation(
        "os", friction_directions=6
    )
    assert mf.formulation("fully_augmented") == mf.formulation("nmc_os")
    assert not {"tree_augmented", "fully_augmented"} & mf.available_formulations().keys()
    with pytest.raises(
        PluginError, match="unknown formulation 'tree_augment'; did you mean 'tree_augmented'"
    ):
        mf.formulation("tree_augment")


class Alpha(Diagonal):
    name = "alpha"
    aliases = ("first", "letter", "diagonal")


class Beta(Diagonal):
    name = "beta"
    aliases = ("second", "letter")


def test_an_alias_of_two_plugins_is_an_error_that_names_both():
    registry = registry_of(
        ("alpha", f"{__name__}:Alpha", "greek"),
        ("beta", f"{__name__}:Beta", "greek"),
        ("broken", "no_such_module_here:Solver", "broken-package"),
    )
    assert registry.get("first") is Alpha
    assert registry.create("second", {"sweeps": 2}) == Beta(sweeps=2)
    with pytest.raises(PluginError, match="solver 'letter' is another name of 'alpha' and 'beta'"):
        registry.get("letter")
    assert registry.names() == ["alpha", "beta", "broken"]


def test_a_name_goes_before_an_alias(registries):
    registry = registry_of(("alpha", f"{__name__}:Alpha", "greek"))
    assert registry.get("diagonal") is Alpha
    registry.register(Diagonal)
    assert registry.get("diagonal") is Diagonal


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sweep": 3}, "diagonal: unknown option 'sweep'; did you mean 'sweeps'.*options: sweeps, damping"),
        ({"sweeps": 0}, "option sweeps = 0: input should be greater than or equal to 1"),
        ({"sweeps": 101}, "option sweeps = 101"),
        ({"sweeps": "many"}, "option sweeps = 'many'"),
        ({"sweeps": 1.5}, "option sweeps = 1.5"),
        ({"damping": float("nan")}, "option damping = nan"),
        ({"name": "other"}, "unknown option 'name'"),
        ({1: 2}, "diagonal: "),
    ],
)
def test_a_bad_option_is_refused_with_key_and_value(options, message):
    with pytest.raises(OptionError, match=message):
        build_plugin(Diagonal, options)


def test_plugins_are_immutable_values():
    plugin = Diagonal(sweeps=3)
    assert plugin == Diagonal(sweeps=3) != Diagonal(sweeps=4)
    assert hash(plugin) == hash(Diagonal(sweeps=3))
    with pytest.raises(ValueError, match="frozen"):
        plugin.sweeps = 4


def test_defaults_are_checked_too():
    class Wrong(Diagonal):
        name = "wrong"
        power: int = Field(0, ge=1)

    with pytest.raises(OptionError, match="option power = 0"):
        build_plugin(Wrong, {})


@pytest.mark.parametrize("table", [{}, {"name": 3}, {"sweeps": 3}, 5, None, ["lemke"]])
def test_a_table_needs_a_name(table):
    with pytest.raises(OptionError, match="solver: "):
        mf.solve(mf.MixedLCP([[1.0]], [1.0]), table)


def test_options_that_cannot_be_hashed_are_still_checked():
    with pytest.raises(OptionError, match="sweeps"):
        registry_of(("diagonal", "toys:Diagonal", "p")).create("diagonal", {"sweeps": [1]})


def test_the_summary_is_the_first_line_of_the_docstring():
    assert Diagonal.summary() == "Exact where M is diagonal and positive: z = clip(-q / m, l, u)."

    class Silent(Diagonal):
        name = "silent"

    assert Silent.summary() == ""


@pytest.mark.parametrize("registry", [SOLVERS, FORMULATIONS, CONTACT_LAWS], ids=lambda family: family.kind)
def test_every_builtin_plugin_loads_and_is_documented(registry):
    for name in registry.names():
        cls = registry.get(name)
        assert cls.summary().endswith("."), name
        assert all(field.description for field in cls.model_fields.values()), name
