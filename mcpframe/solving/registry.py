"""Which plugins there are: found by entry point, added by hand, asked for by name.

Built-in plugins use the same entry-point groups as a stranger's package.
"""

from __future__ import annotations

import contextlib
import inspect
import threading
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from mcpframe.contact.law import set_law_finder
from mcpframe.exceptions import OptionError, PluginError, nearest
from mcpframe.jit import ready
from mcpframe.solving.plugin import (
    AbstractContactLaw,
    AbstractFormulation,
    AbstractPlugin,
    AbstractSolver,
    build_plugin,
)

Plugin = TypeVar("Plugin", bound=AbstractPlugin)

REMEMBERED = 1000
"""How many plugins with their options are kept for the next call."""


class Registry(Generic[Plugin]):
    """The plugins of one family.

    Args:
        group: entry-point group, e.g. ``mcpframe.solvers``.
        base: the abstract class that every plugin of the family extends.
        kind: the word for one plugin in messages.
    """

    def __init__(self, group: str, base: type[Any], kind: str) -> None:
        self.group, self.base, self.kind = group, base, kind
        self._registered: dict[str, type[Plugin]] = {}
        self._loaded: dict[str, type[Plugin]] = {}
        self._instances: dict[Any, Plugin] = {}
        self._found: dict[str, list[EntryPoint]] | None = None
        self._lock = threading.RLock()

    def names(self) -> list[str]:
        """Return all names, sorted."""
        return sorted({*self._entry_points(), *self._registered})

    def register(self, cls: type[Plugin]) -> type[Plugin]:
        """Add a class by hand (usable as a decorator); registering the same name again replaces it.

        Raises:
            PluginError: it is not a plugin of this family, or an installed package owns the name.
        """
        self._check(cls, f"{cls!r}")
        with self._lock:
            owner = self._entry_points().get(cls.name)
            if owner is not None:
                raise PluginError(
                    f"{self.kind} {cls.name!r} of {cls.__module__}.{cls.__qualname__} has the name of one "
                    f"installed by {_owners(owner)}; give it another name"
                )
            self._registered[cls.name] = cls
            self._instances.clear()
        return cls

    def get(self, name: str) -> type[Plugin]:
        """Return the class behind a name or an alias.

        Raises:
            PluginError: the name is unknown (the message lists the known ones and what those that cannot
                run here need), two packages claim it, or its class cannot be loaded.
        """
        cls = self._registered.get(name) or self._loaded.get(name)
        if cls is not None:
            return cls
        points = self._entry_points().get(name)
        if points is None:
            return self._by_alias(name)
        with self._lock:
            self._loaded[name] = self._load(points)
        return self._loaded[name]

    def _by_alias(self, alias: str) -> type[Plugin]:
        owners = self._aliases().get(alias, [])
        if not owners:
            raise PluginError(self._unknown(alias))
        if len(owners) > 1:
            names = " and ".join(repr(cls.name) for cls in owners)
            raise PluginError(f"{self.kind} {alias!r} is another name of {names}; ask for one of these")
        return owners[0]

    def _aliases(self) -> dict[str, list[type[Plugin]]]:
        """Return the classes behind every alias; what cannot be loaded has none."""
        owners: dict[str, list[type[Plugin]]] = {}
        for name in self.names():
            with contextlib.suppress(PluginError):
                cls = self.get(name)
                for alias in cls.aliases:
                    owners.setdefault(alias, []).append(cls)
        return owners

    def _unknown(self, name: str) -> str:
        known = [f"{other} ({reason})" if reason else other for other, reason in self.available().items()]
        return (
            f"unknown {self.kind} {name!r};{nearest(name, [*self.names(), *self._aliases()])} "
            f"known: {', '.join(known) or 'none installed'}. "
            f"Others come with packages that declare the entry-point group {self.group!r}"
        )

    def create(self, name: str, options: Mapping[str, Any]) -> Plugin:
        """Return the plugin of that name with these options; equal calls share one (immutable) value."""
        try:
            key = (name, tuple(sorted(options.items()))) if options else name
            found = self._instances.get(key)
        except TypeError:  # an option that cannot be hashed or compared is not worth remembering
            key, found = None, None
        if found is not None:
            return found
        cls = self.get(name)
        reason = cls.why_unavailable()
        if reason:
            raise PluginError(f"{self.kind} {name!r} cannot run here: it {reason}")
        plugin = build_plugin(cls, options)
        ready("mcpframe.problem", ".".join(cls.__module__.split(".")[:2]))  # before it is timed
        if key is not None:
            if len(self._instances) >= REMEMBERED:
                self._instances.clear()
            self._instances[key] = plugin
        return plugin

    def available(self) -> dict[str, str]:
        """Return {name: "" or why it cannot run here}."""
        reasons = {}
        for name in self.names():
            try:
                reasons[name] = self.get(name).why_unavailable()
            except PluginError as error:
                reasons[name] = str(error)
        return reasons

    def from_table(self, table: Mapping[str, Any]) -> Plugin:
        """Return the plugin described by a config table: its name, and its options beside it."""
        if not isinstance(table, Mapping):
            raise OptionError(f"{self.kind}: expected a table with a name, got {table!r}")
        options = dict(table)
        name = options.pop("name", None)
        if not isinstance(name, str):
            names = ", ".join(self.names())
            raise OptionError(f'{self.kind}: the table needs name = "...", one of {names}')
        return self.create(name, options)

    def _entry_points(self) -> dict[str, list[EntryPoint]]:
        """Return the entry points by name; more than one behind a name is a conflict."""
        with self._lock:
            if self._found is None:
                self._found = {}
                for point in entry_points(group=self.group):
                    self._found.setdefault(point.name, []).append(point)
            return self._found

    def _load(self, points: list[EntryPoint]) -> type[Plugin]:
        point = points[0]
        if len(points) > 1:
            raise PluginError(
                f"{self.kind} {point.name!r} is claimed by {_owners(points)}; uninstall all but one of them"
            )
        try:
            cls = point.load()
        except Exception as error:
            raise PluginError(
                f"{self.kind} {point.name!r} of {_owners(points)} cannot be loaded: "
                f"{type(error).__name__}: {error}"
            ) from error
        self._check(cls, _owners(points))
        if cls.name != point.name:
            raise PluginError(f"{_owners(points)} is called {cls.name!r}, not {point.name!r}")
        loaded: type[Plugin] = cls
        return loaded

    def _check(self, cls: Any, where: str) -> None:
        if not (isinstance(cls, type) and issubclass(cls, self.base)):
            raise PluginError(f"{where} is not a {self.kind}: it must extend {self.base.__name__}")
        if inspect.isabstract(cls):
            missing = ", ".join(sorted(getattr(cls, "__abstractmethods__", ())))
            raise PluginError(f"{where} is not a {self.kind} yet: it must implement {missing}")
        name = getattr(cls, "name", None)
        if not isinstance(name, str) or not name:
            raise PluginError(f"{where} has no name: set the class variable 'name'")


def _owners(points: list[EntryPoint]) -> str:
    """Return who declares the entry points: ``package (module:Class) and package (module:Class)``."""
    names = [point.dist.name if point.dist is not None else "an unnamed package" for point in points]
    return " and ".join(f"{name} ({point.value})" for name, point in zip(names, points, strict=True))


SOLVERS: Registry[AbstractSolver] = Registry("mcpframe.solvers", AbstractSolver, "solver")
FORMULATIONS: Registry[AbstractFormulation] = Registry(
    "mcpframe.formulations", AbstractFormulation, "formulation"
)
CONTACT_LAWS: Registry[AbstractContactLaw] = Registry(
    "mcpframe.contact_laws", AbstractContactLaw, "contact law"
)


@set_law_finder
def _law(law: str | Mapping[str, Any]) -> AbstractContactLaw:
    """Return the law that a contact or a step names."""
    return CONTACT_LAWS.create(law, {}) if isinstance(law, str) else CONTACT_LAWS.from_table(law)


def available_solvers() -> dict[str, str]:
    """Return {name: "" or why it cannot run here} for every solver."""
    return SOLVERS.available()


def available_formulations() -> dict[str, str]:
    """Return {name: "" or why it cannot run here} for every formulation."""
    return FORMULATIONS.available()


def available_contact_laws() -> dict[str, str]:
    """Return {name: "" or why it cannot run here} for every contact law."""
    return CONTACT_LAWS.available()


def register_solver(cls: type[AbstractSolver]) -> type[AbstractSolver]:
    """Add a solver class by hand, e.g. in a notebook; usable as a decorator."""
    return SOLVERS.register(cls)


def register_formulation(cls: type[AbstractFormulation]) -> type[AbstractFormulation]:
    """Add a formulation class by hand, e.g. in a notebook; usable as a decorator."""
    return FORMULATIONS.register(cls)


def register_contact_law(cls: type[AbstractContactLaw]) -> type[AbstractContactLaw]:
    """Add a contact law by hand, e.g. in a notebook; usable as a decorator."""
    return CONTACT_LAWS.register(cls)


def formulation(name: str, **options: Any) -> AbstractFormulation:
    """Return a formulation by name, with options."""
    return FORMULATIONS.create(name, options)


def solver(name: str, **options: Any) -> AbstractSolver:
    """Return a solver by name, with options."""
    return SOLVERS.create(name, options)


def contact_law(name: str, **options: Any) -> AbstractContactLaw:
    """Return a contact law by name, with options."""
    return CONTACT_LAWS.create(name, options)
