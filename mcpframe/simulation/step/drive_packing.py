"""Controllers into the arrays of the kernels; the layout is written down in `drives.py`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mcpframe.arrays import Array
from mcpframe.multibody.memory.packing import aligned_zeros
from mcpframe.multibody.model.model import Model
from mcpframe.scene.controllers import PD, ComputedTorque, Constant, Controller, Push, Together
from mcpframe.scene.references import Moves
from mcpframe.simulation.step import drives as at

Indices = NDArray[np.int64]


def parts_of(controller: Controller) -> Iterator[Controller]:
    """Yield the controllers that act together."""
    if isinstance(controller, Together):
        for part in controller.controllers:
            yield from parts_of(part)
    else:
        yield controller


def has_kernel(controller: Controller) -> bool:
    """Return whether all parts of a controller are known to the kernels."""
    return all(
        type(part) in (Controller, Constant, Push)
        or (isinstance(part, (PD, ComputedTorque)) and isinstance(part.reference, Moves))
        for part in parts_of(controller)
    )


def pack_drives(model: Model, controller: Controller) -> tuple[Indices, Array, Array]:
    """Return IF and XF of a controller, and its forces that never change [N]; none where Python is asked."""
    constant = np.zeros(model.n_dofs)
    rows: list[tuple[int, int, int]] = []
    numbers: list[tuple[Array, Array, Array]] = []
    if not has_kernel(controller):
        return *_packed(model, rows, numbers), constant
    for part in parts_of(controller):
        if isinstance(part, Constant):
            constant += part.tau
        elif isinstance(part, Push):
            rows.append((at.PUSHING, _body(model, part), 0))
            numbers.append((_push_numbers(model, part), np.zeros(0), np.zeros(0)))
        elif isinstance(part, (PD, ComputedTorque)):
            kind = at.PD if isinstance(part, PD) else at.COMPUTED_TORQUE
            rows.append((kind, -1, len(_moves(part).moves)))
            numbers.append(_follower_numbers(part))
    return *_packed(model, rows, numbers), constant


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
    IF = np.zeros(at.DRIVE_HEAD + len(rows) * at.DRIVE_ROW, dtype=np.int64)
    IF[at.N_DRIVES], IF[at.DRIVES] = len(rows), at.DRIVE_HEAD
    end, values = 0, []
    scratch = {at.THETA_R: model.n_theta}
    scratch |= dict.fromkeys((at.RATE_R, at.ACCELERATION_R, at.WANTED, at.FORCE), model.n_dofs)
    for part, size in scratch.items():
        IF[part], end = end, end + -(-size // 8) * 8
    for k, (row, arrays) in enumerate(zip(rows, numbers, strict=True)):
        drive = at.DRIVE_HEAD + k * at.DRIVE_ROW
        IF[drive : drive + 3] = row
        for slot, array in zip((at.V_NUMBERS, at.V_TARGETS, at.V_TIMES), arrays, strict=True):
            IF[drive + slot] = end
            values.append((end, array))
            end += -(-array.size // 8) * 8
    XF = aligned_zeros(end + 8)
    for start, array in values:
        XF[start : start + array.size] = array
    return IF, XF
