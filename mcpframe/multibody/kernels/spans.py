"""Spans: the bodies that kernels go through, whole trees that follow each other.

One span of all bodies, unless a run has others wait while some of its trees move.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from mcpframe.jit import callee, inline
from mcpframe.jit.lanes import get, put
from mcpframe.multibody.memory.records import (
    DOF_AT,
    N_BODIES,
    N_DOF,
    N_DOFS,
    N_SPANS,
    SP_BODY,
    SP_BODY_END,
    SP_DOF,
    SP_DOF_END,
    SPAN,
    SPANS,
    TREE,
    TREE_ROW,
)


@inline
def bodies_of(I, s):
    """Return the first body of a span, and the one after its last."""
    return get(I, I[SPANS] + s * SPAN + SP_BODY), get(I, I[SPANS] + s * SPAN + SP_BODY_END)


@inline
def dofs_of(I, s):
    """Return the first dof of a span, and the one after its last."""
    return get(I, I[SPANS] + s * SPAN + SP_DOF), get(I, I[SPANS] + s * SPAN + SP_DOF_END)


@callee
def span_all(I):
    """Have kernels go through all bodies."""
    o = I[SPANS]
    put(I, N_SPANS, 1)
    put(I, o + SP_BODY, 0)
    put(I, o + SP_BODY_END, I[N_BODIES])
    put(I, o + SP_DOF, 0)
    put(I, o + SP_DOF_END, I[N_DOFS])


@inline
def add_to_spans(I, k):
    """Have kernels go through body k too, which comes after those that they go through already."""
    row, n = I[TREE] + k * TREE_ROW, I[N_SPANS]
    first = get(I, row + DOF_AT)
    o = I[SPANS] + (n - 1) * SPAN
    if n == 0 or get(I, o + SP_BODY_END) != k:
        o += SPAN
        put(I, N_SPANS, n + 1)
        put(I, o + SP_BODY, k)
        put(I, o + SP_DOF, first)
    put(I, o + SP_BODY_END, k + 1)
    put(I, o + SP_DOF_END, first + get(I, row + N_DOF))
