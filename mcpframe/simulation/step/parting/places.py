"""Where bodies are when parties begin, and where those end that are done: coordinates and rates.

A party begins where the step does, after the impact there if there was one.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.kernels.spans import add_to_spans, bodies_of
from mcpframe.multibody.memory.records import (
    DOF_AT,
    N_BODIES,
    N_DOF,
    N_DOFS,
    N_SPANS,
    N_THETA,
    THETA,
    THETA_AT,
    THETA_DOT,
    TREE,
    TREE_ROW,
)
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.step.touching import call_place


@inline
def copy_body(I, k, source, theta, rates, target, to_theta, to_rates):
    """Copy coordinates and rates of body k."""
    row = I[TREE] + k * TREE_ROW
    first, end = get(I, row + THETA_AT), I[N_THETA]
    if k + 1 < I[N_BODIES]:
        end = get(I, row + TREE_ROW + THETA_AT)
    for i in range(first, end):
        put(target, to_theta + i, get(source, theta + i))
    d = get(I, row + DOF_AT)
    for i in range(d, d + get(I, row + N_DOF)):
        put(target, to_rates + i, get(source, rates + i))


@callee
def span_movers(run):
    """Have kernels go through the bodies of those that move now, and nobody else."""
    put(run.I, N_SPANS, 0)
    for k in range(run.I[N_BODIES]):
        if get(run.IS, run.IS[at.PARTY] + k) == run.IS[at.MOVING_PARTY]:
            add_to_spans(run.I, k)


@callee
def keep_ends(run, X):
    """Keep where the bodies that move now have come to."""
    I, IS = run.I, run.IS
    for s in range(I[N_SPANS]):
        begin, end = bodies_of(I, s)
        for k in range(begin, end):
            copy_body(I, k, X, I[THETA], I[THETA_DOT], run.XS, IS[at.ENDS], IS[at.END_RATES])


@callee
def put_movers(run, theta, rates, X):
    """Have the bodies that move now be at coordinates and rates that were kept, and place them."""
    I = run.I
    for s in range(I[N_SPANS]):
        begin, end = bodies_of(I, s)
        for k in range(begin, end):
            copy_body(I, k, run.XS, theta, rates, X, I[THETA], I[THETA_DOT])
    call_place(run.A[at.PLACE], (I, X))


@callee
def keep_all(run, X, theta, rates):
    """Keep coordinates and rates of everybody."""
    I, XS = run.I, run.XS
    for i in range(I[N_THETA]):
        put(XS, theta + i, get(X, I[THETA] + i))
    for d in range(I[N_DOFS]):
        put(XS, rates + d, get(X, I[THETA_DOT] + d))
