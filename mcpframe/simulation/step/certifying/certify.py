"""Certify: hold what a step or an impact did against physics; what is not good enough is a failed solve."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import by_address, callee
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.kernels.spans import dofs_of
from mcpframe.multibody.memory.loop_records import N_ROWS as N_LOOP_ROWS
from mcpframe.multibody.memory.records import N_SPANS, THETA_DOT
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.step import host
from mcpframe.simulation.step.certifying.certificate import force_error, gift_error, push_error
from mcpframe.simulation.step.closures import write_loops
from mcpframe.simulation.step.kick import call_place_rates
from mcpframe.simulation.step.pushing.push import show_whole
from mcpframe.simulation.step.pushing.solve import DECOMPRESSION, STEP

FORCES, GIFT = 3, 4
"""What is certified that is no problem: what forces do in a kick, and impulses that are given back."""

call_push_error = by_address(push_error)
call_gift_error = by_address(gift_error)
call_force_error = by_address(force_error)


@callee
def take_figure(run, X, figure, kind):
    """Count a figure; have Python say what becomes of one that is too large."""
    XS = run.XS
    put(XS, at.FIGURE, figure)
    put(XS, at.CERTIFICATE, max(XS[at.CERTIFICATE], figure))
    put(XS, at.HIT_FIGURE, max(XS[at.HIT_FIGURE], figure))
    if figure <= XS[at.CERTIFY_TOL]:
        return at.DONE
    put(run.IS, at.KIND, kind)
    code = show_whole(run, X)
    if code != at.DONE:
        return code
    return host.call_host(run.A[at.HOST], host.DISTRUST, X, figure)


@callee
def certify_push(run, X, h, kind):
    """Certify the last push, from the state where its problem was made; one that was Python's by Python."""
    put(run.IS, at.KIND, kind)
    if run.IS[at.HOST_PUSH] != 0:
        code = host.call_host(run.A[at.HOST], host.CERTIFY, X, h)
        return take_figure(run, X, run.XS[at.FIGURE], kind) if code == at.DONE else code
    if run.IE[N_LOOP_ROWS] > 0:
        write_loops(run, X, at.MIDDLE)  # those of where it led may be there
    parts = run.I, X, run.IE, run.XE, run.IS, run.XS, h
    return take_figure(run, X, call_push_error(run.A[at.PUSH_ERROR], parts), kind)


@callee
def put_rates(run, rates):
    """Give the middle of a step other rates; its bodies are placed."""
    for s in range(run.I[N_SPANS]):
        begin, end = dofs_of(run.I, s)
        for d in range(begin, end):
            put(run.Z, run.I[THETA_DOT] + d, get(run.XS, rates + d))
    call_place_rates(run.A[at.PLACE_RATES], (run.I, run.Z))


@callee
def certify_forces(run, h):
    """Certify what forces have done in the kick of a step of h."""
    put_rates(run, run.IS[at.FORCED])
    parts = run.I, run.Z, run.IE, run.XE, run.IS, run.XS, h
    figure = call_force_error(run.A[at.FORCE_ERROR], parts)
    put_rates(run, run.IS[at.KICKED])
    return take_figure(run, run.Z, figure, FORCES)


@callee
def certify_kick(run, h, held):
    """Certify the kick of a step of h: its forces, and its push where something is held."""
    code = certify_forces(run, h)
    return certify_push(run, run.Z, h, STEP) if code == at.DONE and held else code


@callee
def certify_step(run, h, held):
    """Certify the kick of a step of h, if it is its turn; steps of four stages have none."""
    if run.IS[at.CERTIFIES] == 0 or run.IS[at.BY_KICK] == 0:
        return at.DONE
    return certify_kick(run, h, held)


@callee
def certify_jam(run, h):
    """Certify the kick of a step of h that is recorded as an impact."""
    return certify_kick(run, h, True) if run.IS[at.CERTIFY_EVERY] != 0 else at.DONE


@callee
def certify_impact(run, X, kind):
    """Certify a part of an impact, and what is given back before decompression."""
    if run.IS[at.CERTIFY_EVERY] == 0:
        return at.DONE
    code = certify_push(run, X, 0.0, kind)
    if code == at.DONE and kind == DECOMPRESSION:
        parts = run.I, X, run.IE, run.XE, run.IS, run.XS
        code = take_figure(run, X, call_gift_error(run.A[at.GIFT_ERROR], parts), GIFT)
    return code
