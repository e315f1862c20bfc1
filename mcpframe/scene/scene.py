"""Scenes: a model in its surroundings, where it starts, what acts on it, and how it is to be stepped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mcpframe.arrays import Array, frozen
from mcpframe.contact.detection.detector import Detector
from mcpframe.contact.detection.materials import DEFAULT, Material, Names, make_rules, surfaces
from mcpframe.contact.layers.layered import on_layer
from mcpframe.contact.limits import all_limits
from mcpframe.exceptions import ModelError
from mcpframe.multibody.adaptive.locking import active_links
from mcpframe.multibody.closures import closure_rows
from mcpframe.multibody.independence import check_motion, closures_off
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.shapes import Geometry
from mcpframe.multibody.model.validation import values
from mcpframe.notebook import html
from mcpframe.scene.compiled_function import function_controller
from mcpframe.scene.controllers import Controller, Law, Together
from mcpframe.scene.naming import ByName, rates_by_name, theta_by_name
from mcpframe.scene.settings import Adaptive, Output, Stepping

if TYPE_CHECKING:
    from mcpframe.multibody.state import State  # its kernels are loaded when a state is made

Part = TypeVar("Part")

OPEN_LOOP = 1e-6
"""Metres and radians beyond which a loop at the start is a mistake, not rounding of the given coordinates."""


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Scene:
    """What a simulation is given; a value that is checked when it is made.

    Attributes:
        model: all that moves, with gravity and the shapes of the surroundings as geometry of the world;
            `mcpframe.multibody.model.joining.joined` makes one of several.
        theta, theta_dot: where it starts [n_theta] and how it moves [N]; may be given by name, the rest is
            neutral and at rest.
        time: at the start, s.
        materials: of all surfaces under the key "default", and of those of two names, or of one name with any
            other, under these; names are of shapes or bodies, or patterns of them. The last that fits holds.
        ignore: pairs of names, or names, of what does not meet.
        neighbours: whether bodies that a hinge or a closure joins may meet, or which of them; see
            `mcpframe.contact.detection.materials`.
        points_on: names of bodies or shapes on whose surfaces the points of their contacts lie, and not in
            the middle between both.
        controllers: add up; a function f(state, time) -> tau is one too, or one that Numba has compiled, see
            `CompiledFunction`.
        stepping: formulation, solver, step, scheme, tolerances.
        output: what is kept of a run.
        adaptive: which joints move, None for all.
        name: for messages and files; that of the model unless given.
        text: the file that it was read from, empty if none.
        folder: against which paths in that file are meant.

    >>> scene = Scene(mf.systems.sphere(), theta=[0, 0, 1, 0, 0, 0, 1], materials=Material(restitution=0.5))
    >>> scene.initial_state().pose("sphere").position
    array([0. , 0. , 1.1])
    """

    model: Model
    theta: Array
    theta_dot: Array
    time: float
    materials: Mapping[Names, Material]
    ignore: tuple[Names, ...]
    neighbours: bool | tuple[Names, ...]
    points_on: tuple[str, ...]
    controllers: tuple[Controller, ...]
    stepping: Stepping
    output: Output
    adaptive: Adaptive | None
    name: str
    text: str
    folder: Path

    def __init__(
        self,
        model: Model,
        theta: ByName | None = None,
        theta_dot: ByName | None = None,
        time: float = 0.0,
        materials: Material | Mapping[Names, Material] | None = None,
        ignore: Sequence[Names] = (),
        neighbours: bool | Sequence[Names] = False,
        points_on: Sequence[str] = (),
        controllers: Sequence[Controller | Law] = (),
        stepping: Stepping | None = None,
        output: Output | None = None,
        adaptive: Adaptive | None = None,
        name: str = "",
        text: str = "",
        folder: str | Path = "",
    ) -> None:
        start = theta_by_name(model, "theta", {} if theta is None else theta, model.neutral())
        rates = rates_by_name(model, "theta_dot", {} if theta_dot is None else theta_dot)
        vars(self).update(  # the class is frozen
            model=model,
            theta=start,
            theta_dot=frozen(model.check_theta_dot(rates)),
            time=float(values("time", time, ())),
            materials=_materials(materials),
            ignore=tuple(ignore),
            neighbours=neighbours if isinstance(neighbours, bool) else tuple(neighbours),
            points_on=(points_on,) if isinstance(points_on, str) else tuple(points_on),
            controllers=tuple(_controller(model, controller) for controller in controllers),
            stepping=_instance("stepping", stepping, Stepping),
            output=_instance("output", output, Output),
            adaptive=None if adaptive is None else _instance("adaptive", adaptive, Adaptive),
            name=name or model.name,
            text=text,
            folder=Path(folder),
        )
        rules = self.ignore, self.materials, self.neighbours, self.points_on
        make_rules(model, surfaces(model), *rules)  # refuses bad names
        _ = self.limit_restitution  # refuses bad names too
        if self.adaptive is not None:
            active_links(model, self.adaptive.pinned)
        self._check_loops()

    def __repr__(self) -> str:
        stepping = self.stepping
        return (
            f"Scene({self.name!r}, {self.model!r}, formulation={stepping.formulation.name!r}, "
            f"solver={stepping.solver.name!r}, dt={stepping.dt:g}, duration={stepping.duration:g})"
        )

    def _repr_html_(self) -> str:
        stepping, model = self.stepping, self.model
        surfaces = {
            name if isinstance(name, str) else " and ".join(name): m for name, m in self.materials.items()
        }
        about = {
            "model": f"{model.name}: {model.n_links} links, {model.n_dofs} dofs",
            "closures": len(model.closures) or "",
            "surroundings": ", ".join(shape.name or type(shape.shape).__name__ for shape in model.geometry),
            "materials": "; ".join(
                f"{name}: mu {m.mu:g}, restitution {m.restitution:g}" for name, m in surfaces.items()
            ),
            "controllers": ", ".join(type(controller).__name__ for controller in self.controllers),
            "formulation": stepping.formulation.name,
            "solver": stepping.solver.name,
            "scheme": f"{stepping.scheme}, dt = {stepping.dt:g} s, {stepping.duration:g} s",
        }
        return html.card(f"Scene {self.name!r}", about)

    @property
    def gravity(self) -> Array:
        """Acceleration of gravity [3], m/s²."""
        return self.model.gravity

    @property
    def rest_speed(self) -> float:
        """Speed of approach below which a contact rests and does not bounce, m/s.

        The setting, or that of a fall through the penetration tolerance: who closes more slowly was never
        seen to be open.
        """
        fall = np.sqrt(2.0 * np.linalg.norm(self.gravity) * self.stepping.penetration_tolerance)
        return max(self.stepping.rest_speed, float(fall))

    @property
    def environment(self) -> tuple[Geometry, ...]:
        """Shapes fixed to the world."""
        return self.model.geometry

    @cached_property
    def controller(self) -> Together:
        """All controllers as one."""
        return Together(self.model, self.controllers)

    @cached_property
    def limit_restitution(self) -> Array:
        """Restitution of every joint limit, in the order of `mcpframe.contact.limits.all_limits`."""
        by_dof = rates_by_name(self.model, "limit_restitution", self.stepping.limit_restitution)
        return frozen(by_dof[all_limits(self.model.tree).dof])

    def initial_state(self) -> State:
        """Return a new state where the scene starts."""
        return self.model.state(self.theta, self.theta_dot, self.time)

    def detector(self, margin: float = 0.0) -> Detector:
        """Return what finds the contacts of the scene's shapes with gaps up to a margin, in metres."""
        stepping, materials = self.stepping, self.materials
        if stepping.contact_model == "compliant" and stepping.switches == "never":
            materials = on_layer(materials, stepping.layer.springs())
        return Detector(self.model, self.ignore, materials, margin, self.neighbours, self.points_on)

    def with_stepping(self, **options: Any) -> Scene:
        """Return the scene with some settings of its stepping changed, as dt, solver or duration."""
        return replace(self, stepping=self.stepping.with_options(**options))

    def _check_loops(self) -> None:
        if not self.model.closures:
            return
        state = self.initial_state()
        off = np.abs(closure_rows(state).error)
        if off.max(initial=0.0) > OPEN_LOOP:
            raise ModelError(
                f"theta: the loops of model {self.model.name!r} are open by {off.max():.3g} m or rad at the "
                f"start, {', '.join(closures_off(self.model, off > OPEN_LOOP))}; "
                "mf.project_loops closes them"
            )
        check_motion(state)


def _instance(name: str, value: Part | None, kind: type[Part]) -> Part:
    """Return a value of some type, the default one for None, or raise ModelError."""
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise ModelError(f"{name}: {value!r} is not a {kind.__name__}")
    return value


def _materials(materials: Any) -> Mapping[Names, Material]:
    """Return materials by names; one alone is for all."""
    table = {DEFAULT: materials or Material()} if not isinstance(materials, Mapping) else dict(materials)
    return {
        names: _instance(f"material of {names!r}", material, Material) for names, material in table.items()
    }


def _controller(model: Model, controller: Any) -> Controller:
    if not isinstance(controller, Controller):
        return function_controller(model, controller)
    if controller.model is not model:
        raise ModelError(
            f"controller {type(controller).__name__}: made for another model than the scene's; make it for "
            "the joined one"
        )
    return controller
