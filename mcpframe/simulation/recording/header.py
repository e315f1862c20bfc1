"""What a run was: scene, model, options, versions; enough to draw and replay it without the model's file.

The model is kept as JSON: links with hinges, inertias and shapes, frames, and the shapes of the world. From
it the coordinates of a step give the poses of all links. Not in it: closures, limits, springs and dampers;
those stand in the scene.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import metadata
from typing import Any, get_args

from mcpframe.exceptions import FileFormatError, McpframeError, ProblemError
from mcpframe.multibody.model.hinge import Hinge
from mcpframe.multibody.model.link import WORLD, Link
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.shapes import Geometry, Shape
from mcpframe.spatial.transforms import Pose

SHAPES = {shape.__name__: shape for shape in get_args(Shape)}
PACKAGES = ("mcpframe", "numpy", "scipy", "numba")
"""Whose versions are kept, beside Python's."""
version = cache(metadata.version)  # a millisecond each


def versions_here() -> dict[str, str]:
    """Return the versions of what computes here."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


@dataclass(frozen=True, eq=False)
class Header:
    """What is known of a run before its first step.

    Attributes:
        model: what moves; read back from a file it has what the module's first paragraph says.
        scene: the scene as TOML.
        options: formulation, solver, step and so on; anything that JSON can hold.
        seed: of random numbers, None where there are none.
        solvers: names that the column ``solver`` counts.
        versions: of Python and packages.
        fingerprints: of the scene's parts, see `mcpframe.scene.fingerprint`.
    """

    model: Model
    scene: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    solvers: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=versions_here)
    fingerprints: Mapping[str, str] = field(default_factory=dict)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of the links, in the order of body indices."""
        return tuple(link.name for link in self.model.links)

    def texts(self) -> dict[str, str]:
        """Return the header as texts, JSON but for the scene and the model's name."""
        tables = {
            "model": model_table(self.model),
            "link_names": self.link_names,
            "options": dict(self.options),
            "seed": self.seed,
            "solvers": self.solvers,
            "versions": dict(self.versions),
            "fingerprints": dict(self.fingerprints),
        }
        texts = {name: _json(name, table) for name, table in tables.items()}
        return {"name": self.model.name, "scene": self.scene, **texts}

    @staticmethod
    def from_texts(texts: Mapping[str, str], where: str) -> Header:
        """Return the header that texts describe; `where` says in errors which file they are from."""
        try:
            tables = {name: json.loads(text) for name, text in texts.items() if name not in ("name", "scene")}
            for name in ("options", "versions", "fingerprints"):
                if not isinstance(tables[name], dict):
                    raise TypeError(f"{name}: {tables[name]!r} is no table")
            return Header(
                model_from(tables["model"]),
                texts["scene"],
                tables["options"],
                tables["seed"],
                tuple(tables["solvers"]),
                tables["versions"],
                tables["fingerprints"],
            )
        except (KeyError, TypeError, ValueError, McpframeError) as error:
            raise FileFormatError(f"{where}: its header cannot be read ({error!r})") from None


def model_table(model: Model) -> dict[str, Any]:
    """Return a model as a table for JSON."""
    names = (*(link.name for link in model.links), WORLD)  # so that index -1 is the world
    return {
        "name": model.name,
        "gravity": model.gravity.tolist(),
        "links": [_link_table(link) for link in model.links],
        "frames": {name: [names[link], _pose_table(pose)] for name, (link, pose) in model.frames.items()},
        "geometry": [geometry_table(geometry) for geometry in model.geometry],
    }


def model_from(table: Mapping[str, Any]) -> Model:
    """Return the model of a table."""
    links = [_link_from(link) for link in table["links"]]
    world = [geometry_from(geometry) for geometry in table["geometry"]]
    model = Model(links, gravity=table["gravity"], name=table["name"], geometry=world)
    for name, (body, pose) in table["frames"].items():
        model.add_frame(name, body, Pose(*pose))
    return model


def geometry_table(geometry: Geometry) -> dict[str, Any]:
    """Return a placed shape as a table for JSON: kind, name, pose and the sizes of its kind."""
    kind = type(geometry.shape).__name__
    sizes = asdict(geometry.shape)
    return {"kind": kind, "name": geometry.name, "pose": _pose_table(geometry.pose), **sizes}


def geometry_from(table: Mapping[str, Any]) -> Geometry:
    """Return the placed shape of a table."""
    sizes = {name: value for name, value in table.items() if name not in ("kind", "name", "pose")}
    return Geometry(SHAPES[table["kind"]](**sizes), Pose(*table["pose"]), table["name"])


def _link_table(link: Link) -> dict[str, Any]:
    return {
        "name": link.name,
        "parent": link.parent,
        "joint": link.joint,
        "hinge": asdict(link.hinge),
        "pose": _pose_table(link.pose),
        "mass": link.mass,
        "com": link.com.tolist(),
        "inertia": link.inertia.tolist(),
        "armature": link.armature.tolist(),
        "geometry": [geometry_table(geometry) for geometry in link.geometry],
    }


def _link_from(table: Mapping[str, Any]) -> Link:
    shapes = [geometry_from(geometry) for geometry in table["geometry"]]
    parts = {"hinge": Hinge(**table["hinge"]), "pose": Pose(*table["pose"]), "geometry": shapes}
    return Link(**{**table, **parts}, check_inertia=False)


def _pose_table(pose: Pose) -> list[Any]:
    return [pose.position.tolist(), pose.rotation.tolist()]


def _json(name: str, value: Any) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError) as error:
        raise ProblemError(f"{name}: cannot be written as JSON ({error})") from None
