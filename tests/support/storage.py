"""Problems to store and the claim that nothing was lost, shared by the tests of both file formats."""

import numpy as np
import scipy.sparse as sp

from mcpframe import ContactBlocks, Layout, MixedLCP
from mcpframe.problem.friction import FrictionProblem

MIXED_BOUNDS = ([-np.inf, 0.0, 1.5, -0.0, -1e300], [np.inf, np.inf, 1.5, 5e-324, 1e300])


def dense_problem():
    """Entries that a careless writer would change: negative zero, denormals, the last bit of a third."""
    M = np.array([[1 / 3, -0.0, 5e-324, 1e308, 2.0]] * 5)
    return MixedLCP(M, [0.1, -0.0, 1e-320, 3.0, 0.3], *MIXED_BOUNDS)


def sparse_problem():
    """Compressed rows with a stored zero and an empty row."""
    rows, columns, values = [0, 0, 2, 4], [1, 4, 0, 4], [0.0, 1 / 7, -0.0, 2.0]
    return MixedLCP(sp.csr_array((values, (rows, columns)), shape=(5, 5)), np.arange(5.0), *MIXED_BOUNDS)


def wide_index_problem():
    M = sp.csr_array(np.eye(3))
    M.indices, M.indptr = M.indices.astype(np.int64), M.indptr.astype(np.int64)
    return MixedLCP(M, np.ones(3))


def contact_problem():
    """Two contacts, their unknowns not in one piece, behind one bilateral row."""
    contacts = ContactBlocks([1, 2], [[3, 4], [5, 6]], [7, 8], [0.3, 0.7])
    layout = Layout({"p_b": 1, "sigma first": 6, "β": 2})
    lower = np.r_[-np.inf, np.zeros(8)]
    return MixedLCP(np.eye(9), np.arange(9.0), lower, layout=layout, contacts=contacts)


def empty_problem():
    return MixedLCP(np.zeros((0, 0)), [])


def friction_problem():
    """Two contacts in space; W is not symmetric in its last bit."""
    W = np.eye(6) + np.triu(np.full((6, 6), 1 / 3))
    return FrictionProblem(W, np.arange(6.0), [0.3, 0.0])


def sparse_friction_problem():
    return FrictionProblem(sp.csr_array(np.diag([1.0, 0.0, 2.0, 1 / 3])), np.arange(4.0), 0.7, dim=2)


def global_friction_problem():
    M, H = sp.csr_array(np.diag([3.0, 7.0, 2.0, 1.0])), sp.csr_array(np.eye(4, 3))
    return FrictionProblem.from_global(M, H, [1 / 3, -1.0, 0.0, 2.0], [0.1, 0.2, 0.3], 0.5)


PROBLEMS = (
    dense_problem,
    sparse_problem,
    wide_index_problem,
    contact_problem,
    empty_problem,
    friction_problem,
    sparse_friction_problem,
    global_friction_problem,
)


def same_bits(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def arrays_of(problem):
    """Every array that makes up a problem, by name."""
    if isinstance(problem, FrictionProblem):
        parts = {"W": problem.W, "q": problem.q, "mu": problem.mu, "dim": problem.dim}
        form = problem.global_form
        parts |= {} if form is None else {"M": form.M, "H": form.H, "f": form.f, "w": form.w}
    else:
        parts = {"M": problem.M, "q": problem.q, "lower": problem.lower, "upper": problem.upper}
        parts |= {} if problem.contacts is None else vars(problem.contacts)
    for name in [name for name, part in parts.items() if sp.issparse(part)]:
        matrix = parts.pop(name)
        parts |= {f"{name}.{k}": getattr(matrix, k) for k in ("data", "indices", "indptr", "shape")}
    return parts


def assert_same_problem(a, b):
    """Every array has the same bits, every block the same name and place."""
    assert type(a) is type(b)
    parts, others = arrays_of(a), arrays_of(b)
    assert parts.keys() == others.keys()
    assert all(same_bits(parts[name], others[name]) for name in parts)
    assert getattr(a, "layout", None) == getattr(b, "layout", None)
