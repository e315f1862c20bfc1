"""One picture for each concept, computed by mcpframe where there is something to compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import mcpframe as mf
from mcpframe.contact.law import FORCE_1, FORCE_2
from mcpframe.problem.generators import CLASSES, SOLVABLE, random_lcp
from mcpframe.view.figures import new_figure, save, tidy
from mcpframe.view.palette import ALL, BLUE, GREEN, ORANGE, SKY, VERMILION

GREY = "#777777"
UNIT = mf.Contact("a", "world", (0, 0, 0), (0, 0, 1), mu=1.0)


def problem(path: Path) -> Path:
    """Draw the pairs (z, w) that one row allows, for the three kinds of bounds."""
    figure = new_figure(9.0, 2.8)
    cases = {
        "z ≥ l, no upper bound": [(-1, 2), (-1, 0), (2, 0)],
        "l ≤ z ≤ u": [(-1, 2), (-1, 0), (1, 0), (1, -2)],
        "no bounds: an equation": [(-2, 0), (2, 0)],
    }
    for axis, (title, corners) in zip(figure.subplots(1, 3, sharey=True), cases.items(), strict=True):
        axis.axhline(0, color=GREY, lw=0.6)
        axis.axvline(0, color=GREY, lw=0.6)
        axis.plot(*np.transpose(corners), color=BLUE, lw=3, solid_joinstyle="round")
        for bound, name in ((-1, "l"), (1, "u")):
            if any(z == bound for z, _ in corners):
                axis.annotate(name, (bound, 0), (bound + 0.1, 0.12), style="italic")
        axis.set(title=title, xlabel="z", xlim=(-2, 2), ylim=(-2, 2), xticks=[], yticks=[])
        axis.set_aspect("equal")
    figure.axes[0].set_ylabel("w = M z + q", rotation=0, ha="right")
    return save(figure, path)


def formulations(path: Path) -> Path:
    """Draw where M of one step has entries, in formulations from the smallest to the largest."""
    state = mf.systems.pendulum(links=10).state()
    step = mf.ContactStep(state, mf.systems.contacts_of(state, 4, mu=0.5), dt=1e-3)
    names = ("os", "mc", "nmc_os", "trinkle", "nmc")
    figure = new_figure(11.0, 2.7)
    for axis, name in zip(figure.subplots(1, len(names)), names, strict=True):
        made = mf.formulation(name).build(step)[0]
        M = made.M.toarray() if hasattr(made.M, "toarray") else np.asarray(made.M)
        axis.spy(M, markersize=60 / made.n, color=BLUE)
        axis.set(title=f"{name}: {made.n} rows", xticks=[], yticks=[])
    return save(figure, path)


def solvers(path: Path, n: int = 8, count: int = 20) -> Path:
    """Draw how many small problems of each kind every solver solves, with the settings it comes with."""
    names = list(mf.available_solvers())
    kinds = [kind for kind in CLASSES if kind in SOLVABLE]
    made = {kind: [random_lcp(kind, n, seed=seed) for seed in range(count)] for kind in kinds}
    solved = [[sum(mf.solve(p, name).ok for p in made[kind]) for kind in kinds] for name in names]
    figure = new_figure(9.0, 0.36 * len(names) + 1.2)
    axis = figure.subplots()
    axis.imshow(solved, cmap=_fading(), vmin=0, vmax=count, aspect="auto")
    axis.set_xticks(range(len(kinds)), [kind.replace("_", " ") for kind in kinds])
    axis.set_yticks(range(len(names)), names)
    axis.tick_params(length=0)
    for (row, column), number in np.ndenumerate(np.array(solved)):
        axis.text(column, row, str(number), ha="center", va="center", fontsize=9)
    axis.set_title(f"solved of {count} random problems of {n} rows, by kind", fontsize=10)
    return save(figure, path)


def _fading() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("solved", [VERMILION, "#F5C04A", ALL])


def laws(path: Path) -> Path:
    """Draw the friction that laws allow under a normal impulse of 1, and the circle of Coulomb's."""
    cases: dict[str, tuple[str, dict[str, Any]]] = {
        "coulomb, 4 directions": ("coulomb", {"friction_directions": 4}),
        "coulomb, 8 directions": ("coulomb", {"friction_directions": 8}),
        "anisotropic, 0.9 and 0.4": ("anisotropic", {"mu_1": 0.9, "mu_2": 0.4, "friction_directions": 8}),
        "box, whatever the load": ("box", {"load": 0.5}),
    }
    figure = new_figure(10.0, 2.9)
    turn = np.linspace(0.0, 2 * np.pi, 200)
    for axis, (title, (name, options)) in zip(figure.subplots(1, len(cases)), cases.items(), strict=True):
        axis.plot(np.cos(turn), np.sin(turn), color=GREY, lw=0.8, ls="--")
        axis.fill(*_corners(mf.contact_law(name, **options).rows(UNIT, dt=1.0)).T, fc=SKY, ec=BLUE, alpha=0.6)
        axis.set(title=title, xlabel="$t_1$", xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), xticks=[], yticks=[])
        axis.title.set_fontsize(10)
        axis.set_aspect("equal")
    figure.axes[0].set_ylabel("$t_2$", rotation=0)
    return save(figure, path)


def _corners(rows: Any) -> np.ndarray:
    """Return the corners of what friction can be at F_n = 1: of a box, or directions that share out F_n."""
    forces = np.asarray(rows.Wd)[[FORCE_1, FORCE_2]]
    if np.isfinite(rows.beta_upper).any():
        (a, b), (c, d) = (np.asarray(bound)[1:] for bound in (rows.beta_lower, rows.beta_upper))
        return np.array([(a, b), (c, b), (c, d), (a, d)])
    return np.asarray(forces[:, 1:].T * rows.P[0, 0])


def stepping(path: Path) -> Path:
    """Draw a ball that bounces, by events and by fixed steps, beside the truth."""
    ball = mf.Scene(
        mf.systems.sphere(radius=0.1),
        theta={"sphere": mf.Pose((0, 0, 0.6))},
        materials=mf.Material(restitution=0.7),
    )
    figure = new_figure(9.0, 3.0)
    axis = figure.subplots()
    axis.plot(*_bounces(0.5, 0.7, 1.4), color=GREY, lw=4, alpha=0.35, label="truth")
    styles = {"event_driven": (BLUE, "o", 1.0), "time_stepping": (ORANGE, "s", 0.0)}
    for scheme, (colour, marker, _) in styles.items():
        run = mf.simulate(ball, scheme=scheme, dt=0.02, duration=1.4)
        height = [mf.Pose(row[:3]).position[2] for row in run.theta]
        label = f"{scheme.replace('_', '-')}, steps of 20 ms"
        axis.plot(run.time, np.asarray(height), marker, ms=3.5, color=colour, label=label)
    tidy(axis, "gap to the floor, m", "time, s")
    axis.axhline(0.0, color="black", lw=1)
    axis.legend(frameon=False, ncols=3, loc="upper right")
    return save(figure, path)


def _bounces(height: float, e: float, until: float) -> tuple[np.ndarray, np.ndarray]:
    """Return times and heights of a ball that falls from rest and bounces, in closed form."""
    g, time = 9.81, np.linspace(0.0, until, 2000)
    z, start, speed, begin = np.full_like(time, np.nan), 0.0, 0.0, height
    while start < until:
        flight = (speed + np.sqrt(speed**2 + 2 * g * begin)) / g
        inside = (time >= start) & (time <= start + flight)
        z[inside] = begin + speed * (time[inside] - start) - g / 2 * (time[inside] - start) ** 2
        start, speed, begin = start + flight, e * (g * flight - speed), 0.0
        if speed < 1e-2:
            break
    return time, z


def impacts(path: Path) -> Path:
    """Draw the rates of five balls in a row that another comes to rest on: together, and one by one."""
    rates = {"before": np.array([1.0, 0, 0, 0, 0])}
    for order in ("simultaneous", "sequential"):
        rates[order] = _after(order)
    figure = new_figure(9.0, 2.6)
    titles = {"before": "before", "simultaneous": "after, simultaneous", "sequential": "after, sequential"}
    for axis, (name, rate) in zip(figure.subplots(1, 3, sharey=True), rates.items(), strict=True):
        axis.bar(
            range(5), rate, color=[GREY if name == "before" else BLUE if v >= 0 else VERMILION for v in rate]
        )
        axis.axhline(0.0, color="black", lw=0.8)
        for k, v in enumerate(rate):
            axis.text(k, v + (0.04 if v >= 0 else -0.16), f"{v:.1f}", ha="center", fontsize=9)
        axis.set(
            title=titles[name],
            xticks=range(5),
            xticklabels=[f"ball {k + 1}" for k in range(5)],
            ylim=(-0.9, 1.25),
        )
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("m/s")
    return save(figure, path)


def _after(order: str) -> np.ndarray:
    """Return the rates of five balls that touch after the first has come at 1 m/s, with ε = 1."""
    from mcpframe.multibody.model.shapes import Geometry, Sphere

    slide = mf.Hinge("prismatic", (1, 0, 0))
    balls = [
        mf.Link(f"ball_{k}", hinge=slide, pose=mf.Pose((0.2 * k, 0, 0)), mass=1.0, inertia=0.004 * np.eye(3),
                geometry=Geometry(Sphere(0.1)))
        for k in range(5)
    ]  # fmt: skip
    scene = mf.Scene(
        mf.Model(balls, gravity=(0, 0, 0)),
        theta_dot=[1.0, 0, 0, 0, 0],
        materials=mf.Material(restitution=1.0),
    )
    run = mf.simulate(scene, dt=1e-4, duration=2e-4, impacts=order)
    return np.asarray(run.theta_dot[-1])


def mathematics(path: Path) -> Path:
    """Draw a chain of links with its two sweeps, and the nodes that the compliance is asked at."""
    figure = new_figure(9.0, 2.9)
    axis = figure.subplots()
    points = np.array([(0, 0), (1.6, 0.5), (3.2, 0.35), (4.8, 0.8), (6.4, 0.4)])
    axis.plot(*points.T, color=SKY, lw=14, solid_capstyle="round", zorder=1)
    axis.plot(*points[:-1].T, "o", color="white", mec=BLUE, mew=2, ms=10, zorder=2)
    for k, (x, y) in enumerate(points[:-1], 1):
        axis.annotate(f"hinge {k}: $\\theta({k})$", (x, y), (x - 0.15, y + 0.36), fontsize=9)
    for k, (a, b) in enumerate(pairwise(points), 1):
        axis.annotate(f"link {k}", (a + b) / 2 + (0.1, -0.02), ha="center", fontsize=9, va="center")
    axis.plot(*points[-1], "s", color=VERMILION, ms=8, zorder=3)
    axis.annotate(
        "node: a contact acts here", points[-1], points[-1] + (0.15, 0.15), color=VERMILION, fontsize=9
    )
    arrow = {"arrowstyle": "->", "lw": 1.6}
    _sweep(axis, (0, 6.4), -0.55, r"base to tips: velocities $V = \varphi^* V + H^* \dot\theta$", BLUE, arrow)
    _sweep(
        axis,
        (6.4, 0),
        -1.15,
        r"tips to base: articulated inertias $P,\ D = H P H^*,\ G,\ \psi$",
        GREEN,
        arrow,
    )
    _sweep(
        axis,
        (0, 6.4),
        -1.75,
        r"base to tips: $\Upsilon$, from which $\Lambda = \psi^* \Upsilon \psi$ at the nodes",
        ORANGE,
        arrow,
    )
    axis.set(xlim=(-0.6, 8.6), ylim=(-2.0, 1.4))
    axis.set_axis_off()
    return save(figure, path)


def _sweep(
    axis: Any, ends: Sequence[float], height: float, text: str, colour: str, arrow: dict[str, Any]
) -> None:
    axis.annotate("", (ends[1], height), (ends[0], height), arrowprops={**arrow, "color": colour})
    axis.text(3.2, height + 0.08, text, ha="center", fontsize=9, color=colour)


def uniqueness(path: Path) -> Path:
    """Draw up to which friction the answer of Painlevé's rod is unique, by how it leans."""
    angles = np.radians(np.linspace(25, 85, 13))
    fine = np.radians(np.linspace(20, 88, 200))
    figure = new_figure(9.0, 3.2)
    axis = figure.subplots()
    known = (1 + 3 * np.cos(fine) ** 2) / (3 * np.sin(fine) * np.cos(fine))
    axis.fill_between(np.degrees(fine), known, 4.0, color=VERMILION, alpha=0.15, lw=0)
    axis.plot(np.degrees(fine), known, color=GREY, lw=3, alpha=0.6, label="(1 + 3 cos²α) / (3 sin α cos α)")
    found = [mf.diagnose(_leaning(angle)).largest_mu() for angle in angles]
    axis.plot(np.degrees(angles), found, "o", ms=5, color=BLUE, label="largest_mu() of the diagnosis")
    axis.annotate("none, or several", (55, 2.6), color=VERMILION, ha="center")
    axis.annotate("one answer for every load", (45, 0.5), ha="center")
    tidy(axis, "friction coefficient μ", "angle α of a rod that slides with its tip ahead, degrees")
    axis.set_ylim(0.0, 4.0)
    axis.legend(frameon=False, loc="upper left")
    return save(figure, path)


def _leaning(angle: float) -> Any:
    """Return the step of a rod that slides towards where it leans away from."""
    rod = mf.Link("rod", hinge=mf.Hinge("planar", (0, -1, 0)), mass=1.0, inertia=np.eye(3) / 12)
    state = mf.Model([rod]).state()
    state.update(state.theta, -state.hinge_columns()[:, 3])
    tip = -0.5 * np.array([np.cos(angle), 0.0, np.sin(angle)])
    return mf.AccelerationStep(state, [mf.Contact("rod", "world", tip, (0, 0, 1), mu=0.1)])


PICTURES: dict[str, Callable[[Path], Path]] = {
    "problem": problem,
    "formulations": formulations,
    "solvers": solvers,
    "laws": laws,
    "stepping": stepping,
    "impacts": impacts,
    "uniqueness": uniqueness,
    "mathematics": mathematics,
}
"""By page: what draws its picture."""
