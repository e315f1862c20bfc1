"""How a scene is to be stepped: formulation, solver, scheme and tolerances; and what is kept of the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from mcpframe.contact.frames import EXACT_CONE
from mcpframe.contact.layers.options import SpringOptions
from mcpframe.contact.step import Asks
from mcpframe.exceptions import OptionError, nearest
from mcpframe.problem.cone import ConeLCP
from mcpframe.solving.plugin import AbstractFormulation, AbstractSolver
from mcpframe.solving.registry import FORMULATIONS, SOLVERS, Registry


class Settings(BaseModel):
    """Base of settings: frozen, typed, with ranges; unknown ones are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, strict=True)

    def __init__(self, **options: Any) -> None:
        try:
            super().__init__(**options)
        except ValidationError as error:
            raise OptionError(_explain(type(self), error)) from None

    def with_options(self, **options: Any) -> Self:
        """Return the settings with some changed, checked as when they were made."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        return type(self)(**{**given, **options})


Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]

POSITION_LEVEL = "add gap/dt to normal rows and to limits that are overrun, so that gaps close, not speeds"
CONTACT_BIAS = "add dt Ġ_u θ̇ to contact rows [J14, Eq. (45)]; redundant contacts may then be unsolvable"
CLOSURE_BIAS = "keep dt Ġ_b θ̇ in closure rows [J14, Eq. (33)]; without it loops that move and rub solve"
BAUMGARTE = "share of the loops' position error removed in one step"
"""What a step asks of its rows, for all who let it be chosen."""

USUAL_BAUMGARTE = 0.2
"""Share of a loop's error that a step removes: small enough not to ring, gone after some twenty steps."""


LEAST_CERTIFY_TOL, LOOSER = 1e-6, 1e3
"""What certificates may be where `certify_tol` is not given. Solves to rounding give 1e-9 and less; one that
just meets its tolerance, which is absolute, is off by more where impulses are small."""


class LayerSettings(SpringOptions, Settings):
    """The layer of contacts that yield, where the contact model is compliant, or while it is."""

    pressed: bool = Field(
        default=False,
        description="compliant: contacts begin with the forces that rigid ones have in a first step",
    )


class Switching(Settings):
    """When contacts yield and when they are rigid again, where the contact model is auto [S00, section 4]."""

    yield_margin: Annotated[float, Field(ge=0.0, lt=1.0)] = Field(
        default=0.0, description="rigid contacts yield where the margin of uniqueness is no more than that"
    )
    rigid_margin: Annotated[float, Field(ge=0.0, lt=1.0)] = Field(
        default=0.05, description="and may be rigid again where it is more than that"
    )
    dwell: int = Field(default=3, ge=1, description="steps running in which they may, before they are")
    slip_speed: Positive = Field(
        default=1e-3,
        description="speed above which a contact slides, m/s or rad/s: surfaces that are at their friction "
        "must be faster, bodies whose surfaces stick slower",
    )
    agreement: Positive = Field(
        default=0.1,
        description="share of the largest force by which forces of the layer may differ from rigid ones",
    )
    moving: Positive = Field(
        default=0.25, description="share of the energy that the layer stores that motions in it may have"
    )
    settle: Positive = Field(
        default=1.0,
        description="s in which gaps that a layer leaves are taken away; their speeds in a tenth of it",
    )

    @field_validator("rigid_margin")
    @classmethod
    def _has_hysteresis(cls, value: float, info: ValidationInfo) -> float:
        least = info.data.get("yield_margin", 0.0)
        if value < least:
            raise OptionError(f"{value}: must not be below yield_margin = {least}")
        return value


class Stepping(Settings):
    """How a scene moves from one time to the next."""

    dt: Positive = Field(default=1e-3, description="step, s")
    duration: Positive = Field(default=1.0, description="simulated time, s")
    scheme: Literal["event_driven", "time_stepping"] = Field(
        default="event_driven",
        description="stop at every impact, or look at contacts at the ends of steps only",
    )
    integrator: Literal["midpoint", "semi_implicit_euler", "rk4"] = Field(
        default="midpoint",
        description="half a step of drift, a kick, the other half: second order; a kick, then drift: first "
        "order; fourth order in flight and while contacts keep their modes, else as midpoint",
    )
    restitution_model: Literal["poisson", "newton"] = Field(
        default="poisson",
        description="what restitution is a share of: the normal impulse, or the normal speed",
    )
    decompression: Literal["whole", "j14"] = Field(
        default="whole",
        description="Poisson: friction leans on the whole normal impulse of decompression, the stored one "
        "too; or as in [J14, Eqs. (57), (58)]",
    )
    impacts: Literal["simultaneous", "sequential"] = Field(
        default="simultaneous",
        description="all that is closed in one problem, or one approach after the other, the fastest first",
    )
    limit_restitution: float | dict[str, float] = Field(
        default=0.0,
        description="share of the speed, or impulse, with which joint limits throw back; or by dof",
    )
    drift_control: Literal["projection", "baumgarte", "none"] = Field(
        default="projection",
        description="loops are moved back, pulled back in the next step, or left to drift",
    )
    closure_bias: bool | None = Field(
        default=None,
        description=f"semi_implicit_euler: {CLOSURE_BIAS}; on unless drift control projects, if not given",
    )
    baumgarte: Share | None = Field(
        default=None,
        description=f"{BAUMGARTE}; {USUAL_BAUMGARTE} where drift control is baumgarte, else 0, if not given",
    )
    on_failure: Literal["stop", "auto", "best"] = Field(
        default="stop",
        description="when a solve fails: stop, the problem saved; try `auto`; take the best point",
    )
    tol: Positive = Field(default=1e-9, description="natural residual of a solved step, relative")
    certify: Literal["all", "none"] | Annotated[int, Field(ge=1)] = Field(
        default=10,
        description="steps whose physics is certified: all, every so many, or none; impacts with them",
    )
    certify_tol: Positive | None = Field(
        default=None,
        description="largest certificate of a step that counts as solved, relative; "
        f"{LEAST_CERTIFY_TOL:g}, or {LOOSER:g} tol where that is more, if not given",
    )
    time_tolerance: Positive = Field(default=1e-9, description="how well the time of an impact is found, s")
    penetration_tolerance: NotNegative = Field(default=1e-6, description="overlap that counts as touching, m")
    rest_speed: NotNegative = Field(default=1e-6, description="normal speed below which a contact rests, m/s")
    rise_speed: Positive = Field(
        default=0.1, description="largest speed at which what overlaps is pushed apart, m/s or rad/s"
    )
    max_impacts: int = Field(
        default=100, ge=1, description="impacts in one step before the sequence is cut short"
    )
    max_trials: int = Field(
        default=20_000, ge=1, description="trials of one step before the run stops and says why"
    )
    sleep_after: Positive | None = Field(
        default=None,
        description="seconds of rest after which bodies that touch each other sleep until they are touched; "
        "never, if not given",
    )
    sleep_speed: Positive = Field(
        default=1e-4, description="speed of any point below which a body that may sleep is at rest, m/s"
    )
    contact_model: Literal["rigid", "compliant", "auto"] = Field(
        default="rigid",
        description="contacts are rigid; yield by a layer; or are rigid while that has one stable answer",
    )
    layer: LayerSettings = Field(
        default=LayerSettings(), description="table: the layer of contacts that yield"
    )
    switching: Switching = Field(default=Switching(), description="table: when auto switches")
    diagnose: bool = Field(
        default=False,
        description="tell of every step whether its rigid forces were unique and stable; auto always does",
    )
    friction: Literal["polygon", "cone"] | None = Field(
        default=None,
        description="friction cones with edges, or round ones, exact; as the formulation says, if not given",
    )
    formulation: AbstractFormulation = Field(
        default_factory=lambda: FORMULATIONS.create("os", {}), description="name, or table with a name"
    )
    solver: AbstractSolver = Field(
        default_factory=lambda: SOLVERS.create("auto", {}),
        description="name, or table with a name",
    )

    @property
    def certify_every(self) -> int:
        """Every how many steps one is certified; 0 for none."""
        return self.certify if isinstance(self.certify, int) else int(self.certify == "all")

    @property
    def sleep_steps(self) -> int:
        """Steps of rest after which bodies sleep; 0 for never."""
        return 0 if self.sleep_after is None else max(1, round(self.sleep_after / self.dt))

    @property
    def largest_certificate(self) -> float:
        """The largest certificate of a step that counts as solved."""
        usual = max(LEAST_CERTIFY_TOL, LOOSER * self.tol)
        return usual if self.certify_tol is None else self.certify_tol

    @property
    def asks(self) -> Asks:
        """What its fixed steps ask of their rows, as arguments of `ContactStep`.

        Projection needs no help from the rows of closures: without their bias every step has a solution, also
        where loops move and rub.
        """
        projects = self.drift_control == "projection"
        usual = USUAL_BAUMGARTE if self.drift_control == "baumgarte" else 0.0
        return Asks(
            position_level=True,
            contact_bias=False,
            closure_bias=not projects if self.closure_bias is None else self.closure_bias,
            baumgarte=usual if self.baumgarte is None else self.baumgarte,
        )

    @property
    def switches(self) -> Literal["never", "once", "both"]:
        """Whether contacts become compliant once, after a first step, or both ways."""
        if self.contact_model == "auto":
            return "both"
        return "once" if self.contact_model == "compliant" and self.layer.pressed else "never"

    @property
    def diagnoses(self) -> bool:
        """Whether steps are judged, as those must be that switch."""
        return bool(self.diagnose) or self.switches != "never"

    @field_validator("layer", "switching", mode="before")
    @classmethod
    def _from_table(cls, value: Any, info: ValidationInfo) -> Any:
        tables: dict[str | None, type[Settings]] = {"layer": LayerSettings, "switching": Switching}
        return tables[info.field_name](**value) if isinstance(value, Mapping) else value

    @field_validator("limit_restitution")
    @classmethod
    def _is_share(cls, value: float | dict[str, float]) -> float | dict[str, float]:
        for number in value.values() if isinstance(value, dict) else (value,):
            if not 0.0 <= number <= 1.0:
                raise OptionError(f"{value!r}: restitution must lie between 0 and 1")
        return value

    @field_validator("formulation", mode="before")
    @classmethod
    def _known_formulation(cls, value: Any) -> Any:
        return _plugin(FORMULATIONS, value)

    @field_validator("formulation")
    @classmethod
    def _has_friction(cls, value: AbstractFormulation, info: ValidationInfo) -> AbstractFormulation:
        friction = info.data.get("friction")
        if friction is None:
            return value
        if "friction" not in type(value).model_fields:
            raise OptionError(f"{value.name} has no option friction = {friction!r}")
        return value.model_copy(update={"friction": friction})

    @field_validator("solver")
    @classmethod
    def _takes_cones(cls, value: AbstractSolver, info: ValidationInfo) -> AbstractSolver:
        exact = "formulation" in info.data and info.data["formulation"].directions == EXACT_CONE
        if exact and ConeLCP not in value.problems:
            raise OptionError(f"{value.name} takes no exact friction cones, these do: {_takers()}")
        return value

    @field_validator("solver", mode="before")
    @classmethod
    def _known_solver(cls, value: Any) -> Any:
        return _plugin(SOLVERS, value)


class Adaptive(Settings):
    """Which joints move: the others are rigid until they would be missed [G06]."""

    active: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="most active joints, those that always are counted; as error says if not given",
    )
    error: NotNegative | None = Field(
        default=None,
        description="activate joints until the root of what the rigid ones add up to is no more; see metric",
    )
    metric: Literal["joined", "acceleration", "velocity"] = Field(
        default="joined",
        description="what a joint is judged by: θ̇ + span θ̈, the rate that it would have after a span if it "
        "were free; θ̈; θ̇",
    )
    span: Positive | None = Field(default=None, description="s, for joined; interval dt if not given")
    weights: Literal["identity", "inertia"] = Field(
        default="identity",
        description="all dofs alike, or by the inertia that they move: with acceleration the error then "
        "bounds that of the motion in the kinetic norm, times the root of the number of rigid dofs",
    )
    by: Literal["joints", "nodes"] | None = Field(
        default=None,
        description="take the joints that count most, one by one, or open nodes of the assembly tree from "
        "the root, as the paper does; joints unless a body has more than 20 links for each active one",
    )
    interval: int = Field(default=10, ge=1, description="choose every so many steps")
    at_contacts: Literal["none", "event", "twice"] = Field(
        default="twice",
        description="choose as well where something new is touched: not at all; after that step; before it, "
        "with the impulses that it had, and take it again",
    )
    patience: int = Field(
        default=1,
        ge=1,
        description="choices running in which a joint must be passed over to become rigid; of active, one "
        "place in four is for those that wait",
    )
    pinned: tuple[str, ...] = Field(default=(), description="names of joints or links that always are active")

    @field_validator("pinned", mode="before")
    @classmethod
    def _as_tuple(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value


class Output(Settings):
    """What is kept of a run."""

    every: int = Field(default=1, ge=1, description="record every so many steps; impacts are always recorded")


def _takers() -> str:
    """Return the names of solvers that take exact friction cones."""
    able = [name for name, reason in SOLVERS.available().items() if not reason]
    return ", ".join(name for name in able if ConeLCP in SOLVERS.get(name).problems)


def _plugin(registry: Registry[Any], value: Any) -> Any:
    """Return the plugin that a name or a table asks for, or the plugin itself."""
    if isinstance(value, registry.base):
        return value
    if isinstance(value, Mapping):
        return registry.from_table(value)
    if not isinstance(value, str):
        raise OptionError(
            f"{value!r}: give the name of a {registry.kind}, or a table with a name and options"
        )
    return registry.create(value, {})


def _explain(cls: type[Settings], error: ValidationError) -> str:
    first = error.errors()[0]
    key, message = str(first["loc"][0]), first["msg"]
    if first["type"] == "extra_forbidden":
        return f"unknown key {key!r};{nearest(key, cls.model_fields)} (keys: {', '.join(cls.model_fields)})"
    if first["type"] == "value_error":  # one of ours, which says it all
        return f"{key}: {first['ctx']['error']}"
    return f"{key} = {first['input']!r}: {message[0].lower()}{message[1:]}"
