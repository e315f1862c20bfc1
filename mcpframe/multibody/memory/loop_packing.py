"""Closures of a model into the arrays of the kernels; the layout is written down in `loop_records.py`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mcpframe.multibody import closures
from mcpframe.multibody.memory import loop_records as rec
from mcpframe.multibody.memory import records
from mcpframe.multibody.memory.packing import RATES, SLIDES
from mcpframe.multibody.memory.row_packing import row_space
from mcpframe.multibody.model.hinge import plane_directions
from mcpframe.multibody.model.model import Model
from mcpframe.multibody.model.node import Node
from mcpframe.multibody.model.tree import Tree

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

KINDS = {closures.Weld: rec.TURNING, closures.Pin: rec.LEANING, closures.Ball: rec.FIXED}
KINDS |= {closures.Distance: rec.DISTANCE, closures.Gear: rec.GEAR}


@dataclass(eq=False)
class _Tables:
    """What the closures become, before it is known how much there is."""

    loops: list[list[int]] = field(default_factory=list)
    halves: list[list[int]] = field(default_factory=list)
    terms: list[list[int]] = field(default_factory=list)
    nodes: list[Array] = field(default_factory=list)
    directions: list[Array] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)


def pack_loops(model: Model) -> tuple[Indices, Array]:
    """Return IE and XE of the model's closures."""
    tables, tree = _Tables(), model.tree
    for closure in model.closures:
        if isinstance(closure, closures.Gear):
            _add_gear(tables, tree, closure)
        else:
            _add_between(tables, model, closure)
    return _packed(tables, closures.length_of(model))


def has_kernel(closure: closures.Closure) -> bool:
    """Return whether the kernels know this kind of closure."""
    return type(closure) in KINDS


def _add_between(tables: _Tables, model: Model, closure: closures.Closure) -> None:
    """Add a closure between two nodes."""
    assert isinstance(closure, closures._BetweenNodes)
    node, bodies = np.zeros(rec.NODE_ROW), []
    for which, place, axes in (
        (closure.node_a, rec.N_PLACE_A, rec.N_AXES_A),
        (closure.node_b, rec.N_PLACE_B, rec.N_AXES_B),
    ):
        body, position, rotation = _on_body(model, which)
        bodies.append(body)
        node[place : place + 3] = position
        node[axes : axes + 12].reshape(3, 4)[:, :3] = rotation.T
    rows = np.zeros((closure.n_rows, 8))
    if isinstance(closure, closures.Weld):
        rows[:3, :3] = rows[3:, 4:7] = np.eye(3)
    elif isinstance(closure, closures.Pin):
        x, y = plane_directions(closure.axis)
        node[rec.N_FIRST : rec.N_FIRST + 3], node[rec.N_SECOND : rec.N_SECOND + 3] = x, y
        rows[0, :3], rows[1, :3], rows[2:, 4:7] = x, y, np.eye(3)
    elif isinstance(closure, closures.Distance):
        node[rec.N_FIRST] = closure.length
    else:
        rows[:, 4:7] = np.eye(3)
    tables.loops.append(_loop(tables, closure, KINDS[type(closure)], bodies[0], bodies[1]))
    tables.halves += [[body for body in bodies if body >= 0]] * closure.n_rows
    tables.nodes.append(node)
    tables.directions.append(rows)


def _add_gear(tables: _Tables, tree: Tree, gear: closures.Gear) -> None:
    """Add a gear: each of its dofs is a half on its elementary body and one on that body's parent."""
    dofs = [tree.dof_index[name] for name in gear.ratios]
    theta_of = dict(
        zip(tree.coordinates.plain_dofs.tolist(), tree.coordinates.plain_theta.tolist(), strict=True)
    )
    loop = _loop(tables, gear, rec.GEAR, -1, -1)
    places = dof_places(tree)
    plain = all(dof in theta_of for dof in dofs)
    loop[rec.L_TERM], loop[rec.L_TERMS], loop[rec.L_PLAIN] = len(tables.terms), len(dofs), int(plain)
    tables.terms += [[dof, *places[dof], theta_of.get(dof, -1)] for dof in dofs]
    tables.ratios += list(gear.ratios.values())
    tables.halves.append([body for dof in dofs for body in places[dof][:2] if body >= 0])
    node = np.zeros(rec.NODE_ROW)
    node[rec.N_FIRST] = gear.offset
    tables.loops.append(loop)
    tables.nodes.append(node)
    tables.directions.append(np.zeros((1, 8)))


def _loop(tables: _Tables, closure: closures.Closure, kind: int, a: int, b: int) -> list[int]:
    first = sum(loop[rec.L_ROWS] for loop in tables.loops)
    return [kind, a, b, first, closure.n_rows, int(closure.motion is not None), 0, 0, 0]


def _on_body(model: Model, node: Node | str) -> tuple[int, Array, Array]:
    """Return the body of a node, -1 for the world, and its place and axes in the body's inner axes."""
    link, position, rotation = model.resolve(node, model.tree)
    if link < 0:
        return -1, position, rotation
    skeleton = model.tree.skeleton
    Q = skeleton.link_rotation[link]
    return int(skeleton.link_body[link]), Q.T @ position, Q.T @ rotation


def dof_places(tree: Tree) -> list[tuple[int, int, int]]:
    """Return of every dof its elementary body, that body's parent, and whether it slides."""
    places = []
    for body, row in enumerate(records.MEMORY.part(tree.skeleton.I, tree.skeleton.X, records.TREE)):
        kind = int(row[records.KIND])
        for k in range(RATES[kind]):
            places.append((body, int(row[records.PARENT]), int(SLIDES[kind][k])))
    return places


def _packed(tables: _Tables, length: float) -> tuple[Indices, Array]:
    halves = [body for row in tables.halves for body in row]
    IE, XE = rec.MEMORY.arrays(
        loop=len(tables.loops), row=len(tables.halves), half=len(halves), term=len(tables.terms)
    )
    directions = np.concatenate([np.zeros((0, records.PAIR)), *tables.directions])
    contents: dict[int, ArrayLike] = {
        rec.LOOPS: tables.loops,
        rec.HALF_AT: np.cumsum([0, *map(len, tables.halves)]),
        rec.HALF_BODY: halves,
        rec.TERMS: tables.terms,
        rec.NODES: tables.nodes,
        rec.DIRECTIONS: directions,
        rec.RATIOS: tables.ratios,
        rec.ROW_FIRST: [loop[rec.L_ROW] for loop in tables.loops for _ in range(loop[rec.L_ROWS])],
        rec.WEIGHT: np.where(directions[:, :3].any(axis=1), length, 1.0),
    }
    for part, values in contents.items():
        view = rec.MEMORY.part(IE, XE, part)
        view[:] = np.reshape(values, view.shape)
    IE[rec.ANY_MOTION] = any(loop[rec.L_MOVES] for loop in tables.loops)
    return IE, XE


def loop_space(n_bodies: int, IE: Indices) -> tuple[Indices, Array]:
    """Return IR and XR for the compliance of the loops' rows, which count as independent."""
    n, bodies = int(IE[rec.N_ROWS]), IE[IE[rec.HALF_BODY] :][: IE[rec.N_HALVES]]
    IR, XR = row_space(rec.SPACE_MEMORY, n_bodies, bodies, loop_row=n)
    IR[rec.CERTAIN] = n
    return IR, XR
