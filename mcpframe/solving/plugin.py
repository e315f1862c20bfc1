"""What a plugin is: solvers, formulations and contact laws are immutable values that hold their options.

Options are the fields of the class (typed, with ranges, frozen); `build_plugin` turns a table of
options into a plugin and answers a bad one with an error that names the key and the value.
"""

from __future__ import annotations

import importlib.util
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeVar, get_args, get_origin

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from mcpframe.contact.contact import Contact
from mcpframe.contact.frames import FRICTION_DIRECTIONS
from mcpframe.contact.law import LawRows
from mcpframe.contact.step import Asks
from mcpframe.contact.step_rows import StepRows
from mcpframe.exceptions import OptionError, nearest
from mcpframe.multibody.memory.skeleton import Skeleton
from mcpframe.problem.cone import StepProblem
from mcpframe.problem.problems import MixedLCP
from mcpframe.solving.solution import Claim, Solution
from mcpframe.solving.stages import FormulationStages, SolverStage

if TYPE_CHECKING:
    from mcpframe.solving.prepared import Prepared

Array = NDArray[np.float64]


class AbstractPlugin(BaseModel, ABC):
    """Base of all families: a name, what it needs, its options as frozen fields.

    Attributes:
        name: how users ask for it.
        aliases: other names by which they may ask.
        requires: modules that must be importable, beyond mcpframe's own dependencies.
        extra: the extra of mcpframe that installs them (empty where there is none).
        elsewhere: what a user may take for an option, and where it is said instead.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    requires: ClassVar[tuple[str, ...]] = ()
    extra: ClassVar[str] = ""
    elsewhere: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def why_unavailable(cls) -> str:
        """Return why the plugin cannot run here and what would help; empty where it can."""
        missing = [module for module in cls.requires if not _is_installed(module)]
        if not missing:
            return ""
        remedy = f"pip install 'mcpframe[{cls.extra}]'" if cls.extra else f"pip install {' '.join(missing)}"
        return f"needs {', '.join(missing)}: {remedy}"

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the docstring."""
        return (cls.__doc__ or "").strip().partition("\n")[0]


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What the framework asks of a solver besides the problem.

    Attributes:
        tol: natural residual to reach, absolute (already multiplied by the problem's scale).
        z0: point to start from [n], or None.
        basis: codes to start from [n] (AT_LOWER, AT_UPPER, BASIC), or None; goes before z0.
        deadline: value of ``time.perf_counter()`` after which to stop with TIME_LIMIT.
        kept: claims that a solver leaves here on its way; the last one counts if the clock overtakes it.
    """

    tol: float
    z0: Array | None = None
    basis: NDArray[np.int8] | None = None
    deadline: float = math.inf
    kept: list[Claim] = field(default_factory=list)


class AbstractSolver(AbstractPlugin):
    """A method that turns a problem into a claim.

    A solver does not time, print, raise on non-convergence or judge itself: the framework does all
    that. The same problem, request and options must give the same bits. `_solve` may be called from
    several threads at once.

    Attributes:
        problems: the problem types it takes.
        chooses: whether it picks a method for every problem, so that simulation may pick one for piles.
    """

    problems: ClassVar[tuple[type, ...]] = (MixedLCP,)
    chooses: ClassVar[bool] = False

    def why_unsupported(self, problem: Any) -> str:
        """Return in words why this problem cannot be solved by this method; empty where it can be tried."""
        if isinstance(problem, self.problems):
            return ""
        takes = " or ".join(kind.__name__ for kind in self.problems)
        return f"{self.name} takes {takes}, not {type(problem).__name__}"

    @abstractmethod
    def _solve(self, problem: Any, request: Request) -> Claim:
        """Look for a solution and say what was found."""

    def stage(self, discs: bool = False) -> SolverStage | None:
        """Return a kernel by which compiled code solves mixed LCPs as this solver does; None for none.

        Args:
            discs: whether they have rows on discs, exact friction cones.
        """
        return None

    def prepare(self, problem: MixedLCP, tol: float = 1e-9) -> Prepared:
        """Return this solver with a problem whose numbers may change, for many solves of one size.

        Args:
            problem: the first problem; M is kept dense.
            tol: as for `mcpframe.solve`.
        """
        from mcpframe.solving.prepared import Prepared  # it knows the driver, which knows plugins

        return Prepared(self, problem, tol)

    def _solve_batch(self, problems: Sequence[Any], requests: Sequence[Request]) -> list[Claim]:
        """Solve independent problems in one thread; override where a kernel can take many at once."""
        return [self._solve(problem, request) for problem, request in zip(problems, requests, strict=True)]


def _of_the_step(name: str) -> str:
    """Return where something is said that belongs to a step, not to the way it is written."""
    flag = name.replace("_", "-")
    return (
        f"it belongs to the step; say it to ContactStep, under [stepping] of a scene, beside dt in the "
        f"[[problems]] of a study, or by --{flag} of mcpframe formulate"
    )


class AbstractFormulation(AbstractPlugin):
    """A way to write one contact step as a mixed LCP, with discs where friction cones are exact.

    Nothing is remembered on self between the two calls: what `recover` needs travels in the recovery.
    """

    elsewhere: ClassVar[Mapping[str, str]] = {name: _of_the_step(name) for name in Asks.__annotations__}

    @abstractmethod
    def build(self, step: Any) -> tuple[StepProblem, Any]:
        """Return the step's problem (M, q, l, u), with discs for exact cones, and what `recover` will need.

        What the rows are to ask of the velocity after the step is the step's to say: its `closure_rate`,
        `limit_shift` and `contact_row_shift` are added to them as they are.
        """

    @property
    def directions(self) -> int:
        """Friction directions of laws that leave them open; 0 for exact cones."""
        return int(getattr(self, "friction_directions", FRICTION_DIRECTIONS))

    def rows(self, step: Any) -> StepRows | None:
        """Return the step's rows in contact components, before its laws; None where only `build` knows them.

        With them the step can be had with the exact friction cone: ``rows(step).friction_problem()``.
        """
        return None

    @abstractmethod
    def recover(self, recovery: Any, solution: Solution) -> Any:
        """Return velocities and impulses that belong to the solution of the step's problem."""

    def stages(
        self,
        skeleton: Skeleton,
        loops: NDArray[np.int64],
        laws: Sequence[LawRows],
        half: Sequence[LawRows],
        dt: float,
    ) -> FormulationStages | None:
        """Return kernels by which compiled code writes steps as this formulation does; None for none.

        Args:
            skeleton: of the tree of links.
            loops: its closures, as `multibody.memory.loop_records` has them.
            laws: what contacts of each material, and joint limits, may do in a step of dt.
            half: the same in a step of half that: rows may grow with dt, but not otherwise change.
            dt: s.
        """
        return None


FrictionDirections = Annotated[
    int | None,
    Field(
        ge=0,
        multiple_of=2,
        description="directions of a friction cone, opposites included; 0: exact, None leaves it open",
    ),
]
"""Type of a law's option `friction_directions`, by which formulations know it."""


class AbstractContactLaw(AbstractPlugin):
    """What one contact may do, in its own frame: see `mcpframe.contact.law` for the rows.

    A law whose cones have a number of directions to choose has the option
    ``friction_directions: FrictionDirections = None``; None takes the number that the formulation says.

    Attributes:
        adds_energy: whether contacts can drive what they touch, as a belt does; runs then do not warn of
            energy that grows.
    """

    adds_energy: ClassVar[bool] = False

    @abstractmethod
    def rows(self, contact: Contact, dt: float) -> LawRows:
        """Return the rows of a contact in a step of dt seconds.

        They depend on the options, on `contact.mu`, `contact.restitution` and on dt, never on where the
        contact is: they are made once for all contacts that agree in these.
        """

    def with_options(self, options: Mapping[str, Any]) -> Self:
        """Return the law with some options changed, or raise OptionError naming a bad one."""
        return build_plugin(type(self), {**self.model_dump(), **options})

    def with_friction_directions(self, n_f: int) -> Self:
        """Return the law with n_f directions, unless its options say how many or it has no such option."""
        if getattr(self, "friction_directions", n_f) is not None:
            return self
        return self.with_options({"friction_directions": n_f})


Plugin = TypeVar("Plugin", bound=AbstractPlugin)


def build_plugin(cls: type[Plugin], options: Mapping[str, Any]) -> Plugin:
    """Return cls with the given options, or raise OptionError naming the first bad one."""
    try:
        return cls.model_validate(dict(options))
    except ValidationError as error:
        raise OptionError(_explain(cls, error)) from None


@dataclass(frozen=True)
class Option:
    """One option of a plugin, as users see it: all texts."""

    name: str
    kind: str
    default: str
    range: str
    description: str


def describe_options(cls: type[AbstractPlugin]) -> list[Option]:
    """Return the options of a plugin with type, default, range and description."""
    return [
        Option(name, _kind(field.annotation), repr(field.default), _range(field), field.description or "")
        for name, field in cls.model_fields.items()
    ]


def _kind(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return " | ".join(repr(choice) for choice in get_args(annotation))
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")


def _range(field: FieldInfo) -> str:
    """Return the bounds of a field, e.g. ``>= 1, < 2``."""
    bounds = (("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<="), ("multiple_of", "multiple of"))
    limits = [
        (sign, getattr(limit, key)) for limit in field.metadata for key, sign in bounds if hasattr(limit, key)
    ]
    return ", ".join(f"{sign} {value}" for sign, value in limits)


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):  # the package around it is missing or half imported
        return False


def _explain(cls: type[AbstractPlugin], error: ValidationError) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden" and key in cls.elsewhere:
        return f"{cls.name}: {key!r} is no option of it: {cls.elsewhere[key]}"
    if first["type"] == "extra_forbidden":
        known = ", ".join(cls.model_fields) or "none"
        return f"{cls.name}: unknown option {key!r};{nearest(key, cls.model_fields)} (options: {known})"
    message = first["msg"][0].lower() + first["msg"][1:]
    return f"{cls.name}: option {key} = {first['input']!r}: {message}"
