"""The one door to Numba: flags shared by all kernels, the list of kernels, the "compiling" line.

Kernels are compiled for one explicit signature when they are first needed (`mcpframe.jit.cache`); whoever
starts a clock calls `ready` before, so that none runs while a compiler does. Results are cached on disk
beside the source; see `mcpframe.jit.stamp`.

What keeps compiling short (and running fast), beside what the flags say:
    helpers are optimised and turned into machine code once, with the kernel that they end up in;
    a helper has one version, whatever constants it is called with;
    helpers are nobody else's: they lose arguments that they do not use, and those called once their calls;
    large kernels are called `by_address`: one that calls another by name compiles it all over again;
    arrays are copied and filled by loops: `x[:] = y` brings in the text of its error, 3 s to compile.

The environment variable MCPFRAME_JIT chooses another way to run them; see `mcpframe.jit.ways`.
"""

from mcpframe.jit.cache import largest_first, ready, settle, taking_turns
from mcpframe.jit.kernels import (
    KERNELS,
    address,
    by_address,
    callee,
    calls_of,
    inline,
    inline_extremum,
    inline_reduction,
    kernel,
    primitive,
)
from mcpframe.jit.kinds import (
    Codes,
    CodesOut,
    CodeStack,
    CodeTable,
    Flags,
    IndexTable,
    Indices,
    IndicesOut,
    Matrix,
    MatrixOut,
    MatrixStack,
    Vector,
    VectorOut,
)
from mcpframe.jit.primitives import cycles, flat, matrix_window, span, window
from mcpframe.jit.ways import WAY

__all__ = [
    "KERNELS",
    "WAY",
    "CodeStack",
    "CodeTable",
    "Codes",
    "CodesOut",
    "Flags",
    "IndexTable",
    "Indices",
    "IndicesOut",
    "Matrix",
    "MatrixOut",
    "MatrixStack",
    "Vector",
    "VectorOut",
    "address",
    "by_address",
    "callee",
    "calls_of",
    "cycles",
    "flat",
    "inline",
    "inline_extremum",
    "inline_reduction",
    "kernel",
    "largest_first",
    "matrix_window",
    "primitive",
    "ready",
    "settle",
    "span",
    "taking_turns",
    "window",
]
