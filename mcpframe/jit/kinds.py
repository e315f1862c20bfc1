"""Types of kernels' arguments."""

from __future__ import annotations

from numba import types

# Read-only array types: a mutable array converts to them, so kernels accept both.
Vector = types.Array(types.float64, 1, "C", readonly=True)
Matrix = types.Array(types.float64, 2, "C", readonly=True)
MatrixStack = types.Array(types.float64, 3, "C", readonly=True)
Flags = types.Array(types.boolean, 1, "C", readonly=True)
Indices = types.Array(types.int64, 1, "C", readonly=True)
Codes = types.Array(types.int8, 1, "C", readonly=True)
# Writable ones, for workspaces and results.
VectorOut = types.Array(types.float64, 1, "C")
MatrixOut = types.Array(types.float64, 2, "C")
IndicesOut = types.Array(types.int64, 1, "C")
CodesOut = types.Array(types.int8, 1, "C")
IndexTable = types.Array(types.int64, 2, "C")
CodeTable = types.Array(types.int8, 2, "C")
CodeStack = types.Array(types.int8, 3, "C")
