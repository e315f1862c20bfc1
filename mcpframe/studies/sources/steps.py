"""Sources of steps: ready systems in random states, and the steps of scenes."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr

from mcpframe import systems
from mcpframe.contact.law import find_law
from mcpframe.contact.step import Asks, ContactStep
from mcpframe.exceptions import McpframeError, OptionError
from mcpframe.io.readers import READERS, typed_options
from mcpframe.io.trust import Code
from mcpframe.multibody.model.model import Model
from mcpframe.scene.functions import find_function
from mcpframe.scene.scene import Scene
from mcpframe.scene.scene_file import load_scene
from mcpframe.scene.settings import (
    BAUMGARTE,
    CLOSURE_BIAS,
    CONTACT_BIAS,
    POSITION_LEVEL,
    NotNegative,
    Output,
    Positive,
    Share,
)
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.studies.sources.source import (
    AbstractSource,
    Case,
    Group,
    Place,
    Point,
    Recording,
    count_points,
    group_name,
    numbered,
    parameters_of,
    point_at,
    points,
    within,
)
from mcpframe.systems.states import neutral_state, random_state

OWN = ("contacts", "mu", "dt")
"""Keys of a system's table that are parameters of the grid beside those of the system."""
STATE_DIGITS, STEP_DIGITS = 4, 6


class SystemSource(AbstractSource):
    """Random or neutral states of a system, or of a robot file, its lowest points touching supports.

    A system is ready, registered by hand, or made by a function of a file beside the study. Other processes
    do not know what was registered here, so the models of such a system go to them with the study.
    """

    kind: ClassVar[str] = "system"
    gives_steps: ClassVar[bool] = True

    system: str = Field(
        description="name of a ready or registered system, a robot file (.urdf, .xml), or a function that "
        'returns a model, "file.py:function" or "package.module:function"'
    )
    parameters: dict[str, Any] = Field({}, description="options of the system; lists are grids")
    states: int = Field(1, ge=1, description="how many states of every point of the grid")
    state: Literal["random", "neutral"] = Field("random", description="random and moving, or neutral at rest")
    contacts: int | list[int] = Field(4, description="how many contacts; a list is a grid")
    mu: NotNegative | list[NotNegative] = Field(0.5, description="friction coefficient; a list is a grid")
    dt: Positive | list[Positive] = Field(1e-3, description="length of the step, s; a list is a grid")
    law: str | dict[str, Any] = Field("coulomb", description="contact law, a name or a table with a name")
    position_level: bool = Field(False, description=POSITION_LEVEL)
    contact_bias: bool = Field(False, description=CONTACT_BIAS)
    closure_bias: bool = Field(True, description=CLOSURE_BIAS)
    baumgarte: Share = Field(0.0, description=BAUMGARTE)
    _made: dict[str, bytes] = PrivateAttr(default_factory=dict)

    def default_name(self) -> str:
        """Return the system's name, that of its function, or that of its file."""
        return self.code_named().partition(":")[2].rpartition(".")[2] or Path(self.system).stem

    def code_named(self) -> str:
        """Return the function that makes the models."""
        return "" if self._reader() or ":" not in self.system else self.system

    def check(self, place: Place) -> None:
        """Make every model, its first state and the contacts of it; no models of code that is left alone."""
        find_law(self.law)
        with within("parameters"):
            count_points(self.parameters)
        points_of_grid = range(count_points(self._grid(), self.states))
        if not self.is_ready(place):
            find_function(self.system, place.folder, place.code)
            return
        for g in points_of_grid:
            self.open(place, g)(0)

    def is_ready(self, place: Place) -> bool:
        """Return whether models can be made: not where their function is code that is left alone."""
        return not (self.code_named() and place.code is Code.SKIP)

    def groups(self, place: Place) -> list[Group]:
        """Return one group per point of the grid."""
        return [self._group(point) for point in points(self._grid())]

    def files(self, place: Place) -> list[Path]:
        """Return the robot file, or that of the function."""
        home = self.code_named().partition(":")[0] or (self.system if self._reader() else "")
        return [place.folder / home] if home and (self._reader() or home.endswith(".py")) else []

    def contents(self, place: Place) -> dict[str, bytes]:
        """Return the models of a registered system, of which there is no file."""
        return dict(self._made)

    def open(self, place: Place, g: int) -> Callable[[int], Case]:
        """Return what draws the states of a point."""
        point = point_at(self._grid(), g)
        names = self._group(point).cases
        model = self._model(place, {key: value for key, value in point.items() if key not in OWN})

        def make(i: int) -> Case:
            rng = np.random.default_rng([place.seed, i])
            state = neutral_state(model) if self.state == "neutral" else random_state(model, rng)
            contacts = systems.contacts_of(state, point["contacts"], point["mu"])

            def make_step() -> ContactStep:
                state.update(state.theta, state.theta_dot)  # forget what is known of the state
                return ContactStep(state, contacts, point["dt"], law=self.law, **self._asks())

            return Case(names[i], make_step, keys=np.arange(len(contacts)))

        return make

    def _asks(self) -> Asks:
        return Asks(
            position_level=self.position_level,
            contact_bias=self.contact_bias,
            closure_bias=self.closure_bias,
            baumgarte=self.baumgarte,
        )

    def _grid(self) -> Point:
        for key in self.parameters:
            if key in OWN:
                raise OptionError(f"parameters.{key}: write {key} in the table itself")
        return {**self.parameters, **{key: getattr(self, key) for key in OWN}}

    def _group(self, point: Point) -> Group:
        name = group_name(self.name, self._grid(), point)
        cases = numbered(name, "state", range(self.states), STATE_DIGITS)
        return Group(name, self.default_name(), parameters_of(point), cases)

    def _reader(self) -> Callable[..., Model] | None:
        return READERS.get(Path(self.system).suffix.lower())

    def _model(self, place: Place, options: Point) -> Model:
        reader = self._reader()
        if reader is not None:
            path = place.folder / self.system
            if not path.is_file():
                raise OptionError(f"system = {self.system!r}: there is no such file in {place.folder}")
            with within("parameters"):
                typed = typed_options(reader, options)
            return reader(path, **typed)
        key = ", ".join(f"{name}={value!r}" for name, value in options.items())
        if key in self._made:
            model: Model = pickle.loads(self._made[key])
            return model
        model = self._called(place, options)
        if systems.is_registered(self.system):
            self._made[key] = pickle.dumps(model)
        return model

    def _called(self, place: Place, options: Point) -> Model:
        """Return what the function of the system makes."""
        if self.code_named():
            function = find_function(self.system, place.folder, place.code)
        else:
            function = systems.maker(self.system)
        with within("parameters"):
            typed = typed_options(function, options)
        return systems.made_by(self.system, function, typed)


class SceneSource(AbstractSource):
    """Steps of a scene that is run once as its file says, those at whose beginning bodies touch."""

    kind: ClassVar[str] = "scene"
    gives_steps: ClassVar[bool] = True

    scene: str = Field(description="file of the scene")
    parameters: dict[str, Any] = Field(
        {}, description='values of the scene file by dotted keys, as "model.options.links"; lists are grids'
    )
    after: NotNegative = Field(0.0, description="take steps from this time on, s")
    every: int = Field(1, ge=1, description="take every so many steps with contacts")
    limit: int | None = Field(None, ge=1, description="take so many at most, the first ones")

    def default_name(self) -> str:
        """Return the name of the file."""
        return Path(self.scene).stem

    def check(self, place: Place) -> None:
        """Read the scene at every point of the grid."""
        with within("parameters"):
            found = points(self.parameters)
        for point in found:
            self._scene(place, point)

    def files(self, place: Place) -> list[Path]:
        """Return the scene's file; robot files that it names are not looked at."""
        return [place.folder / self.scene]

    def needs_recording(self) -> bool:
        """Return that the steps are known after the run."""
        return True

    def most_cases(self, place: Place) -> tuple[int, int]:
        """Return the number of runs, and of their steps or `limit`."""
        found = points(self.parameters)
        settings = [self._scene(place, point).stepping for point in found]
        steps = [round(stepping.duration / stepping.dt) // self.every for stepping in settings]
        return len(found), sum(min(count, self.limit or count) for count in steps)

    def record(self, place: Place, g: int) -> Recording:
        """Run the scene and return the states from which the chosen steps begin."""
        from mcpframe.simulation.simulate import simulate  # brings kernels, which few studies need

        scene = self._scene(place, point_at(self.parameters, g))
        run = simulate(replace(scene, output=Output(every=1)))
        chosen = _touching(scene, run, self.after)[:: self.every][: self.limit]
        if not chosen.size:
            length = run.time[-1] - scene.time
            raise OptionError(
                f"scene = {self.scene!r}: no step of its {length:g} s has contacts after {self.after:g} s; "
                'run it for longer, by parameters = { "stepping.duration" = ... }'
            )
        columns = {"time": run.time, "theta": run.theta, "theta_dot": run.theta_dot}
        return {"step": chosen, **{name: column[chosen] for name, column in columns.items()}}

    def groups(self, place: Place) -> list[Group]:
        """Return one group per run."""
        return [self._group(place, g, point) for g, point in enumerate(points(self.parameters))]

    def open(self, place: Place, g: int) -> Callable[[int], Case]:
        """Return what makes the step that begins at a recorded state."""
        point, recording = point_at(self.parameters, g), place.recordings[g]
        scene = self._scene(place, point)
        names = self._group(place, g, point).cases
        detector, margin = scene.detector(), scene.stepping.penetration_tolerance

        def make(i: int) -> Case:
            state = scene.model.state(*(recording[key][i] for key in ("theta", "theta_dot", "time")))
            contacts = detector.contacts(state, margin)
            make_step = partial(_scene_step, scene, state, contacts)
            return Case(names[i], make_step, keys=detector.key.copy())

        return make

    def _group(self, place: Place, g: int, point: Point) -> Group:
        name = group_name(self.name, self.parameters, point)
        cases = numbered(name, "step", place.recordings[g]["step"].tolist(), STEP_DIGITS)
        system = self._scene(place, point).model.name
        return Group(name, system, parameters_of(point), cases)

    def _scene(self, place: Place, point: Point) -> Scene:
        path = place.folder / self.scene
        if not path.is_file():
            raise OptionError(f"scene = {self.scene!r}: there is no such file in {place.folder}")
        try:
            return load_scene(path, point, allow_code=place.code)
        except McpframeError as error:
            raise OptionError(f"scene = {self.scene!r}: {error}") from None


def _touching(scene: Scene, run: Trajectory, after: float) -> NDArray[np.int64]:
    """Return the states of a run, from a time on, at which bodies touch.

    Bodies that touch were in contact, or will be, in one of the steps beside the state.
    """
    in_contact = run.n_contacts > 0
    beside = in_contact | np.append(in_contact[1:], False)
    detector, margin = scene.detector(), scene.stepping.penetration_tolerance
    state = scene.model.state()

    def touches(k: int) -> bool:
        return len(detector.contacts(state.update(run.theta[k], run.theta_dot[k]), margin)) > 0

    found: list[int] = np.flatnonzero(beside & (run.time - scene.time >= after)).tolist()
    return np.array([k for k in found if touches(k)], dtype=np.int64)


def _scene_step(scene: Scene, state: Any, contacts: Any) -> ContactStep:
    """Return the fixed step of a scene's dt from a state, with what its controllers do there."""
    state.update(state.theta, state.theta_dot)  # forget what is known of the state
    tau = scene.controller.force(state, state.time)
    wrenches = scene.controller.wrenches(state.time)
    stepping = scene.stepping
    return ContactStep(state, contacts, stepping.dt, tau, wrenches or None, **stepping.asks)
