"""Rows of an invented study, with the habits of real solvers: for the tests of the report."""

import numpy as np

from mcpframe.studies.study.row import Row

SYSTEMS = {
    "pendulum": (12, 3),
    "dual arm": (14, 4),
    "quadruped": (18, 4),
    "humanoid": (36, 8),
    "stack": (48, 16),
}
"""Dofs and most contacts."""
MOTIONS = ("sticking", "sliding", "mixed", "impact", "separating")
TOL = 1e-9

# seconds at n = 1, exponent, share of failures, status of a failure, claim of a failure, typical residual
SOLVERS = {
    "auto": (6e-7, 1.30, 0.0, "", "", 1e-14),
    "lemke": (4e-7, 1.45, 0.004, "RAY", "RAY", 1e-14),
    "path": (2e-6, 1.30, 0.01, "ITERATION_LIMIT", "ITERATION_LIMIT", 1e-13),
    "newton": (6e-6, 1.15, 0.03, "NUMERICAL", "NUMERICAL", 1e-12),
    "qp relaxed": (4e-4, 0.80, 0.06, "INACCURATE", "SOLVED", 1e-10),
    "pgs": (5e-6, 1.60, 0.25, "ITERATION_LIMIT", "ITERATION_LIMIT", 4e-10),
    "stranger": (1e-5, 1.20, 0.05, "CRASHED", "", 1e-11),
}
FORMULATIONS = {"os": 0, "nmc_os": 5, "nmc": 11}
"""Rows beside those of the contacts, per dof."""
REASONS = {
    "RAY": "pivoting ended on a ray after {} pivots",
    "ITERATION_LIMIT": "no convergence in 500 iterations",
    "NUMERICAL": "the Jacobian is singular at iteration {}",
    "INACCURATE": "claimed success, but the residual is too large",
    "CRASHED": 'ValueError: matrix <M> is not "square" & more',
    "TIME_LIMIT": "stopped after 10 s",
    "UNSUPPORTED": "takes only problems without free rows",
}


def header(**changes):
    """Return the header of the study."""
    return {
        "name": "Solvers on os-assembled problems",
        "started": "2025-03-04 10:12",
        "finished": "2025-03-04 11:40",
        "mcpframe": "0.1.0",
        "commit": "2729de5",
        "python": "3.11.7",
        "versions": {"numpy": "2.4.0", "scipy": "1.17.0", "numba": "0.62.1"},
        "machine": {"cpu": "An Example Processor @ 2.40 GHz", "cores": 2, "system": "Linux 6.8"},
        "threads": 1,
        "tol": TOL,
        "time_limit": 10.0,
        "repeats": 3,
        "executor": "local",
        "config": {"name": "Solvers on os-assembled problems", "solvers": list(SOLVERS)},
    } | changes


def row(case="a", solver="lemke", seconds=1.0, **changes):
    """Return one row, solved unless changes say otherwise."""
    changes = {"status": "SOLVED"} | changes
    ok = changes["status"] == "SOLVED"
    claim = changes.get("claim", changes["status"])
    values = {
        **{"source": "s", "system": "pendulum", "formulation": "os", "start": "cold", "repeat": 0},
        **{
            "reason": "" if ok else "why",
            "claim": claim,
            "ok": ok,
            "claim_right": claim == changes["status"],
        },
        **{"residual": 1e-12, "scaled_residual": 5e-13, "iterations": 3, "z_digest": "0"},
        **{"build_seconds": 0.5, "solve_seconds": seconds, "recover_seconds": 0.25},
        **{"n": 6, "n_contacts": 1, "n_dofs": 3, "nnz": 36},
    }
    return Row(case=case, solver=solver, **(values | changes))


def invented(problems, solvers=tuple(SOLVERS), formulations=("os",), starts=("cold",), repeats=1, seed=1):
    """Return the rows of a study; the same for the same arguments."""
    rng = np.random.default_rng(seed)
    return [
        row
        for k in range(problems)
        for case in (_case(k, rng),)
        for formulation in formulations
        for solver in solvers
        for start in starts
        for row in _repeats(case, formulation, solver, start, repeats, rng)
    ]


def _case(k, rng):
    """Invent a problem."""
    system = list(SYSTEMS)[k % len(SYSTEMS)]
    dofs, most = SYSTEMS[system]
    contacts = int(rng.integers(1, most + 1))
    condition = float(rng.uniform(0.3, 7.5))
    labels = {
        "hardness": "easy" if condition < 2.5 else "medium" if condition < 5 else "hard",
        "motion": MOTIONS[int(rng.integers(len(MOTIONS)))],
        "contacts_per_dof": contacts / dofs,
        "mass_ratio": float(10 ** rng.uniform(0, 4)),
        "condition": condition,
        "rank_ratio": float(rng.uniform(0.4, 1.0)),
    }
    return f"{system}/seed={k % 3}/step={k // 15:04d}", system, dofs, contacts, labels


def _repeats(case, formulation, solver, start, repeats, rng):
    """Solve an invented problem a few times."""
    name, system, dofs, contacts, labels = case
    n = 6 * contacts + FORMULATIONS[formulation] * dofs
    seconds, exponent, failing, status, claim, residual = SOLVERS[solver]
    unsupported = solver == "newton" and formulation == "nmc"
    weight = {"easy": 0.2, "medium": 0.8, "hard": 2.0}[labels["hardness"]]
    failed = rng.random() < failing * weight * (0.5 if start == "warm" else 1.0)
    if failed and rng.random() < 0.1:
        status, claim = "TIME_LIMIT", ""
    status = "UNSUPPORTED" if unsupported else status if failed else "SOLVED"
    claim = "UNSUPPORTED" if unsupported else claim if failed else "SOLVED"
    ok = status == "SOLVED"
    found = (residual if ok else 1e-2) * 10 ** rng.normal(0, 0.5)
    found = float("inf") if status in ("CRASHED", "TIME_LIMIT") else min(found, 0.9 * TOL) if ok else found
    solve = seconds * n**exponent * (0.35 if start == "warm" else 1.0) * 10 ** rng.normal(0, 0.15)
    for repeat in range(repeats):
        noise = 1 + 0.1 * rng.random()
        yield Row(
            case=name,
            source=system,
            system=system,
            formulation=formulation,
            solver=solver,
            start=start,
            repeat=repeat,
            status=status,
            reason="" if ok else REASONS[status].format(3 * n),
            claim=claim,
            ok=ok,
            claim_right=claim == status,
            residual=2 * found,
            scaled_residual=found,
            iterations=max(1, int((0.3 if start == "warm" else 1.0) * n)),
            build_seconds=2e-5 * noise + 1e-7 * n,
            solve_seconds=10.0 if status == "TIME_LIMIT" else 0.0 if unsupported else solve * noise,
            recover_seconds=5e-6 * noise,
            n=n,
            n_contacts=contacts,
            n_dofs=dofs,
            nnz=n * n if formulation == "os" else 12 * n,
            z_digest="0" * 64,
            labels=dict(labels),
            problem_file="" if ok or unsupported else f"problems/{name.replace('/', '_')}_{formulation}.npz",
        )
