"""Controllers into the arrays of the kernels; the layout is written down in `drive_slots.py`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.jit.memory import LINE
from mcpframe.multibody.memory import records as rec
from mcpframe.multibody.model.model import Model
from mcpframe.scene.compiled_function import CompiledFunction
from mcpframe.scene.controllers import PD, ComputedTorque, Constant, Controller, Push, Together
from mcpframe.scene.references import Moves
from mcpframe.simulation.memory import drive_slots as at

Indices = NDArray[np.int64]


def parts_of(controller: Controller) -> Iterator[Controller]:
    """Yield the controllers that act together."""
    if isinstance(controller, Together):
        for part in controller.controllers:
            yield from parts_of(part)
    else:
        yield controller


def has_kernel(part: Controller) -> bool:
    """Return whether the kernels know a controller."""
    if isinstance(part, (PD, ComputedTorque)):
        return isinstance(part.reference, Moves)
    return type(part) in (Controller, Constant, Push, CompiledFunction)


def sorted_parts(controller: Controller) -> tuple[list[Controller], list[Controller]]:
    """Return the parts of a controller that the kernels know, and those that Python is asked for."""
    parts = list(parts_of(controller))
    return [part for part in parts if has_kernel(part)], [part for part in parts if not has_kernel(part)]


def pack_drives(model: Model, parts: Sequence[Controller]) -> tuple[Indices, Array, Array]:
    """Return IF and XF of controllers that the kernels know, and their forces that never change [N]."""
    constant = np.zeros(model.n_dofs)
    rows: list[tuple[int, int, int]] = []
    numbers: list[tuple[Array, Array, Array]] = []
    for part in parts:
        if isinstance(part, Constant):
            constant += part.tau
        elif isinstance(part, Push):
            rows.append((at.PUSHING, _body(model, part), 0))
            numbers.append((_push_numbers(model, part), np.zeros(0), np.zeros(0)))
        elif isinstance(part, CompiledFunction):
            rows.append((at.CALLED, part.address, 0))
            numbers.append((np.zeros(0), np.zeros(0), np.zeros(0)))
        elif isinstance(part, (PD, ComputedTorque)):
            kind = at.PD if isinstance(part, PD) else at.COMPUTED_TORQUE
            rows.append((kind, -1, len(_moves(part).moves)))
            numbers.append(_follower_numbers(part))
    return *_packed(model, rows, numbers), constant


def driven_bodies(model: Model, parts: Sequence[Controller]) -> NDArray[np.bool_]:
    """Return which bodies belong to trees that controllers act on with forces that change."""
    skeleton = model.tree.skeleton
    parents = rec.MEMORY.part(skeleton.I, skeleton.X, rec.TREE)[:, rec.PARENT]
    roots = np.arange(parents.size)
    for k in np.flatnonzero(parents >= 0):
        roots[k] = roots[parents[k]]
    pushed = [_body(model, part) for part in parts if isinstance(part, Push)]
    driven = np.isin(roots, roots[pushed])
    if any(isinstance(part, (PD, ComputedTorque)) for part in parts):
        driven |= np.isin(roots, roots[parents >= 0])
    return driven


def _moves(part: PD | ComputedTorque) -> Moves:
    assert isinstance(part.reference, Moves)
    return part.reference


def _body(model: Model, push: Push) -> int:
    return int(model.tree.skeleton.link_body[model.resolve(push.node, model.tree)[0]])


def _push_numbers(model: Model, push: Push) -> Array:
    link, position, _ = model.resolve(push.node, model.tree)
    numbers = np.zeros(at.PUSH_NUMBERS)
    numbers[at.P_PLACE : at.P_PLACE + 3] = model.tree.skeleton.link_rotation[link].T @ position
    numbers[at.P_MOMENT : at.P_MOMENT + 3], numbers[at.P_FORCE : at.P_FORCE + 3] = np.split(push.wrench, 2)
    numbers[at.P_START], numbers[at.P_STOP] = push.start, push.stop
    return numbers


def _follower_numbers(part: PD | ComputedTorque) -> tuple[Array, Array, Array]:
    """Return gains and limits, where the reference rests, and when it moves."""
    moves = _moves(part)
    times = np.array([(move.start, move.duration) for move in moves.moves])
    return np.concatenate([part.kp, part.kd, part.limit]), np.concatenate(moves.places), times.ravel()


def _packed(
    model: Model, rows: Sequence[tuple[int, int, int]], numbers: Sequence[tuple[Array, Array, Array]]
) -> tuple[Indices, Array]:
    arrays = [array for several in numbers for array in several]
    starts = np.cumsum([0, *(-(-array.size // LINE) * LINE for array in arrays)])  # loaded in lanes
    IF, XF = at.DRIVE.arrays(drive=len(rows), number=int(starts[-1]), theta=model.n_theta, dof=model.n_dofs)
    drives, pool = at.DRIVE.part(IF, XF, at.DRIVES), at.DRIVE.part(IF, XF, at.NUMBERS)
    drives[:, : at.V_NUMBERS] = np.reshape(rows, (-1, at.V_NUMBERS))
    drives[:, at.V_NUMBERS :] = IF[at.NUMBERS] + starts[:-1].reshape(-1, at.DRIVE_ROW - at.V_NUMBERS)
    for start, array in zip(starts, arrays, strict=False):
        pool[start : start + array.size] = array
    return IF, XF
