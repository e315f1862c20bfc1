"""Models: trees of rigid links, the loops that close them, and named frames on them.

A model says what a mechanism is; a `State` of it says where it is and how it moves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.arrays import Array
from mcpframe.exceptions import ModelError, nearest
from mcpframe.multibody.model.link import WORLD, Link
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.model.shapes import Geometry
from mcpframe.multibody.model.tree import Tree
from mcpframe.multibody.model.validation import values
from mcpframe.notebook import html
from mcpframe.spatial.transforms import Pose

if TYPE_CHECKING:
    from mcpframe.multibody.closures import Closure
    from mcpframe.multibody.state import State

ANGLE_RANGE = np.pi
POSITION_RANGE = 1.0
"""Where random coordinates without limits are drawn: ± radians and ± metres."""


class Model:
    """A tree of links on the world, with closures and frames.

    Links are kept in depth-first order, children in the order of addition; theta and theta_dot of all links
    are concatenated in that order. Adding a link gives the model a new `tree`; states made before keep the
    old one.

    Args:
        links: in any order.
        closures: bilateral constraints that close loops or prescribe motion.
        gravity: acceleration [3], m/s².
        name: for messages and files.
        geometry: shapes fixed to the world.

    >>> model = Model([Link("arm", hinge=Hinge("pin", (0, 1, 0)), mass=1.0, com=(0, 0, -0.5))])
    >>> model.n_links, model.n_dofs, model.dof_names
    (1, 1, ['arm'])
    """

    def __init__(
        self,
        links: Iterable[Link] = (),
        closures: Iterable[Closure] = (),
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        name: str = "model",
        geometry: Iterable[Geometry] = (),
    ) -> None:
        self.name = name
        self._gravity = values("gravity", gravity, (3,))
        self.geometry = tuple(geometry)
        self._links: dict[str, Link] = {}
        self._frames: dict[str, tuple[str, Pose]] = {}
        self._closures: list[Closure] = []
        for link in links:
            if not isinstance(link, Link):
                raise ModelError(f"links: {link!r} is not a Link (the name of a model is name=...)")
            self._check_new(link.name)
            self._links[link.name] = link
        self._tree: Tree | None = Tree.of(self._links)
        self.check()
        for closure in closures:
            self.add_closure(closure)

    def __repr__(self) -> str:
        return (
            f"Model({self.name!r}, links={self.n_links}, dofs={self.n_dofs}, closures={len(self._closures)})"
        )

    def _repr_html_(self) -> str:
        mass = sum(link.mass for link in self.links)
        about = {"dofs": self.n_dofs, "closures": len(self._closures) or "", "mass": f"{mass:.4g} kg"}
        heads = ("link", "parent", "hinge", "joint", "mass [kg]")
        rows = [
            (link.name, link.parent, link.hinge.kind, link.joint, f"{link.mass:.4g}") for link in self.links
        ]
        table = html.grid(heads, rows)
        return html.card(f"Model {self.name!r}, {self.n_links} links", about, table)

    def add_link(self, link: Link | str, /, *args: Any, **options: Any) -> Link:
        """Add a link, or the Link that the name and the other arguments make; its parent must be there."""
        new = Link(link, *args, **options) if isinstance(link, str) else link
        self._check_new(new.name)
        if new.parent != WORLD and new.parent not in self._links:
            raise ModelError(
                f"link {new.name!r}: unknown parent {new.parent!r}; add it first"
                f"{nearest(new.parent, self._links).replace(' did', ', or did')}"
            )
        self._links[new.name] = new
        self._tree = None
        return new

    def add_frame(self, name: str, body: str, pose: Pose | None = None) -> None:
        """Name a frame that is posed on a link, on another frame or on the world."""
        self._check_new(name)
        base, base_pose = self._fixed_on(body)
        self._frames[name] = base, base_pose @ (Pose() if pose is None else pose)

    def add_closure(self, closure: Closure) -> None:
        """Add a bilateral constraint; the bodies and hinges that it names must be there."""
        if not hasattr(closure, "check"):
            raise ModelError(f"closure {closure!r}: give one of mcpframe.closures, such as Ball or Weld")
        closure.check(self)
        self._closures.append(closure)

    def check(self) -> None:
        """Raise ModelError where a hinge would move nothing that has mass, or joints are called alike."""
        _ = self.tree.joints
        if self.tree.why_immovable:
            raise ModelError(self.tree.why_immovable)

    @property
    def tree(self) -> Tree:
        """The links in order; a new value after every change."""
        if self._tree is None:
            self._tree = Tree.of(self._links)
        return self._tree

    @property
    def gravity(self) -> Array:
        """Acceleration of gravity [3], m/s²; read-only."""
        return self._gravity

    @property
    def links(self) -> tuple[Link, ...]:
        """Links in depth-first order."""
        return self.tree.links

    @property
    def closures(self) -> tuple[Closure, ...]:
        """Bilateral constraints in the order of addition."""
        return tuple(self._closures)

    @property
    def frames(self) -> dict[str, tuple[int, Pose]]:
        """Named frames: index of the link, -1 for the world, and pose on it."""
        return {name: (self._body_index(base), pose) for name, (base, pose) in self._frames.items()}

    @property
    def n_links(self) -> int:
        """Number of links n."""
        return len(self.tree.links)

    @property
    def n_dofs(self) -> int:
        """Number of degrees of freedom N, the length of theta_dot."""
        return self.tree.coordinates.n_dofs

    @property
    def n_theta(self) -> int:
        """Length of theta."""
        return self.tree.coordinates.n_theta

    @property
    def parents(self) -> NDArray[np.int64]:
        """Index of every link's parent, -1 for the world [n]."""
        return self.tree.parents

    @property
    def theta_start(self) -> NDArray[np.int64]:
        """First coordinate of every link [n]."""
        return self.tree.coordinates.theta_start

    @property
    def dof_start(self) -> NDArray[np.int64]:
        """First rate of every link [n]."""
        return self.tree.coordinates.dof_start

    @property
    def dof_names(self) -> list[str]:
        """Name of the joint, or of the link where that has none; ``name[i]`` for one of several dofs."""
        return list(self.tree.dof_names)

    @property
    def lower(self) -> Array:
        """Lower limits [N], -inf for none."""
        return self.tree.gather("lower")

    @property
    def upper(self) -> Array:
        """Upper limits [N], inf for none."""
        return self.tree.gather("upper")

    @property
    def damping(self) -> Array:
        """Hinge force per rate [N]."""
        return self.tree.gather("damping")

    @property
    def stiffness(self) -> Array:
        """Hinge force per coordinate away from rest [N]."""
        return self.tree.gather("stiffness")

    @property
    def armature(self) -> Array:
        """Inertia added at the hinges [N]."""
        return self.tree.gather("armature")

    @property
    def rest_theta(self) -> Array:
        """Coordinates at which the springs are free [n_theta]."""
        return self.tree.gather("rest")

    def link_index(self, name: str) -> int:
        """Return the index of a link."""
        if name not in self.tree.index:
            raise ModelError(f"model {self.name!r}: no link {name!r};{nearest(name, self.tree.index)}")
        return self.tree.index[name]

    def dof_index(self, name: str) -> int:
        """Return the index of a dof by its name among `dof_names`, or by that of its link."""
        known = self.tree.dof_index
        if name not in known:
            raise ModelError(
                f"model {self.name!r}: no dof {name!r}; a dof is named as its joint or link, with [i] where "
                f"that has several;{nearest(name, known)}"
            )
        return known[name]

    def resolve(self, node: Node | str, tree: Tree | None = None) -> tuple[int, Array, Array]:
        """Return link index (-1: the world), position and rotation on the link of a node or named body.

        Args:
            node: node, or name of a body for the node at its origin.
            tree: the tree that the index is for, as that of a state made before links were added; the
                present one unless given.
        """
        place = node if isinstance(node, Node) else Node(node)
        if place.body not in self._frames:
            return self._body_index(self._fixed_on(place.body)[0], tree), place.position, place.rotation
        base, pose = self._frames[place.body]
        return self._body_index(base, tree), pose @ place.position, pose.rotation @ place.rotation

    def neutral(self) -> Array:
        """Return the coordinates at which every link's frame is its hinge frame."""
        return self.tree.coordinates.neutral()

    def random_theta(self, rng: np.random.Generator) -> Array:
        """Return coordinates drawn within the limits, ±π and ±1 m where there are none.

        Closures are not respected; `project_loops` does that.
        """
        coordinates = self.tree.coordinates
        theta = rng.uniform(-POSITION_RANGE, POSITION_RANGE, self.n_theta)
        low, high = self._ranges()
        theta[coordinates.plain_theta] = rng.uniform(low, high)[coordinates.plain_dofs]
        quaternions = rng.standard_normal(coordinates.quaternions.shape)
        theta[coordinates.quaternions] = quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True)
        return theta

    def integrate(self, theta: ArrayLike, theta_dot: ArrayLike, dt: float = 1.0) -> Array:
        """Return the coordinates that constant rates lead to in a time dt; exact on quaternions."""
        return self.tree.coordinates.integrate(
            self.check_theta(theta), self.check_theta_dot(theta_dot), float(values("dt", dt, ()))
        )

    def difference(self, theta_0: ArrayLike, theta_1: ArrayLike) -> Array:
        """Return the constant rates that lead from theta_0 to theta_1 in unit time [N]."""
        return self.tree.coordinates.difference(self.check_theta(theta_0), self.check_theta(theta_1))

    def check_theta(self, theta: ArrayLike) -> Array:
        """Return a copy of theta, quaternions normalised, or raise ModelError."""
        return self.tree.coordinates.check_theta(theta)

    def check_theta_dot(self, theta_dot: ArrayLike) -> Array:
        """Return a copy of theta_dot, or raise ModelError."""
        return self.tree.coordinates.check_rates("theta_dot", theta_dot)

    def state(
        self, theta: ArrayLike | None = None, theta_dot: ArrayLike | None = None, time: float = 0.0
    ) -> State:
        """Return the state with these coordinates (neutral unless given) and rates (zero unless given)."""
        from mcpframe.multibody.state import State

        self.check()
        return State(self, theta, theta_dot, time)

    def merged(self) -> Model:
        """Return the model with locked links merged into their parents; see `merge`."""
        from mcpframe.multibody.model.merge import merged

        return merged(self)

    def _ranges(self) -> tuple[Array, Array]:
        """Return where to draw the rates' coordinates: limits, or the usual range around or beside them."""
        kinds = [kind for link in self.links for kind in _dof_kinds(link)]
        reach = np.array([POSITION_RANGE if kind == "prismatic" else ANGLE_RANGE for kind in kinds])
        low, high = self.lower, self.upper
        start = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * reach, -reach))
        end = np.where(np.isfinite(high), high, np.where(np.isfinite(low), low + 2 * reach, reach))
        return start, end

    def _check_new(self, name: str) -> None:
        if name == WORLD or name in self._links or name in self._frames:
            raise ModelError(f"model {self.name!r}: the name {name!r} is taken; names of bodies are unique")

    def _fixed_on(self, body: str) -> tuple[str, Pose]:
        """Return the link (or the world) that a body is part of, and its pose there."""
        if body in self._frames:
            return self._frames[body]
        if body != WORLD and body not in self._links:
            known = (WORLD, *self._links, *self._frames)
            raise ModelError(f"model {self.name!r}: no link or frame {body!r};{nearest(body, known)}")
        return body, Pose()

    def _body_index(self, base: str, tree: Tree | None = None) -> int:
        if base == WORLD:
            return -1
        index = (self.tree if tree is None else tree).index
        if base not in index:
            raise ModelError(
                f"link {base!r} was added after the state was made; make a new state of the model"
            )
        return index[base]


def _dof_kinds(link: Link) -> list[str]:
    kinds: list[str] = []
    for kind, _ in link.hinge.elementary():
        kinds += [kind] * {"locked": 0, "ball": 3, "free": 6}.get(kind, 1)
    return kinds
