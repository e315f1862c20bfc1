"""What steps, choices, whole runs and collisions of adaptive bodies cost.

Everything is read in turns, and what is asked as a ratio is the median of those of readings next to each
other: they meet the same machine. Times are the least of all readings.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from measuring.timing import fastest, in_turns
from subjects.cables import INTERVAL, Body, Swing, collide_again, on_bars, step_times, sweep, swinging

import mcpframe as mf
from mcpframe.jit import address
from mcpframe.multibody.adaptive.piece_records import N_PIECES
from mcpframe.multibody.kernels import entries

Rows = list[list[str]]
SIZES = (200, 40), (300, 60), (500, 70), (5000, 70)
WITHOUT = {(200, 40): 2.4, (300, 60): 2.8, (500, 70): 3.7, (5000, 70): 19.0}
WITH = {(300, 60): 2.1, (500, 70): 2.9, (5000, 70): 15.0}
"""How many times faster steps with eight contacts are asked to be, without and with the contact problems."""
MANY, BLOCKS, REPEATS, CHOICES = 40, 3, 12, 400
"""Intervals of a reading, since to begin one takes a millisecond; readings of a run; runs; choices."""
LONG, FEW = 1000, 16
"""From so many links on a run is one reading of few intervals: then such a cable begins to leave the bars."""
STEPS = 4.0
"""Seconds for the kinematics and accelerations of all lengths with as many active joints."""


def steps(quick: bool) -> tuple[list[str], Rows]:
    """Kinematics and free acceleration of hybrid bodies; those of all n in turns."""
    head = ["d", "n", "hybrid us", "ns per cluster (≤ 50 from 40 on)", "of n = 200 (≤ 1.15)"]
    head += ["of full, n = 200"]
    rows, sizes = [], [n for n, _ in (SIZES[:2] if quick else SIZES)]
    for d in (40, 70) if quick else (10, 40, 70, 150):
        bodies = {n: Body(n, d) for n in sizes}
        runs = {n: lambda count, b=body: sweep(b.I, b.X, count) for n, body in bodies.items()}
        short = bodies[sizes[0]]
        full = {0: lambda count, b=short: sweep(b.IT, b.XT, count)}
        times = in_turns(runs | full, 0.1 if quick else STEPS)
        for n in sizes:
            least, beside = 1e6 * times[n].min(), [np.median(times[n] / times[k]) for k in (sizes[0], 0)]
            figures = f"{least:.2f}", f"{1e3 * least / d:.0f}", f"{beside[0]:.2f}", f"{beside[1]:.2f}"
            rows.append([str(d), str(n), *figures])
    return head, rows


def choices(quick: bool) -> tuple[list[str], Rows]:
    """A whole choice while a cable swings: choosing, impulses, clusters; in turns with sweeps."""
    head = ["n", "d", "by", "full sweep us", "choice us, least", "median (≤ 110 at 5000)"]
    head += ["in full sweeps (≤ 2.3 up to 500)"]
    rows = []
    for n, d in SIZES[:1] if quick else SIZES:
        body, whole = Swing(n, d), Body(n, d)
        readings = []
        for _ in range(10 if quick else CHOICES):
            begin = perf_counter()
            sweep(whole.IT, whole.XT, 1)
            full = 1e6 * (perf_counter() - begin)
            readings.append((full, body.choose()))
            body.step()
        times, by = np.array(readings[2:]), "pieces" if body.IA[N_PIECES] > 0 else "sweep"
        least, usual = times.min(axis=0), np.median(times[:, 1])
        figures = f"{least[0]:.1f}", f"{least[1]:.1f}", f"{usual:.1f}"
        rows.append([str(n), str(d), by, *figures, f"{np.median(times[:, 1] / times[:, 0]):.2f}"])
    return head, rows


def runs(quick: bool) -> tuple[list[str], Rows]:
    """Whole steps, a choice every 15, beside full ones: times faster."""
    head = ["cable", "n", "d", "n/d", "contacts", "full us", "adaptive us", "without solves", "quartiles"]
    head, rows = [*head, "asked", "with solves", "quartiles", "asked"], []
    for make, name in ((swinging, "swings"), (on_bars, "on eight bars")):
        for n, d in SIZES[:1] if quick else SIZES:
            count, blocks = (INTERVAL * MANY, BLOCKS) if n < LONG else (INTERVAL * FEW, 1)
            asked = mf.Adaptive(active=d, interval=INTERVAL, at_contacts="none")
            both = make(n, None), make(n, asked)
            times = step_times(both, INTERVAL if quick else count, blocks, 1 if quick else REPEATS)
            full, own = np.median(times.min(axis=0), axis=0)
            quarter, half, most = np.quantile(times[:, :, 0] / times[:, :, 1], (0.25, 0.5, 0.75), axis=(0, 1))
            ratios = []
            for k, targets in enumerate((WITHOUT, WITH)):
                wanted = str(targets.get((n, d), "")) if make is on_bars else ""
                ratios += [f"{half[k]:.2f}", f"{quarter[k]:.2f} to {most[k]:.2f}", wanted]
            touching = f"{full[2]:.1f}, {own[2]:.1f}"
            sizes = str(n), str(d), f"{n / d:.1f}", touching, f"{full[1]:.0f}", f"{own[1]:.0f}"
            rows.append([name, *sizes, *ratios])
    return head, rows


def contacts(quick: bool) -> tuple[list[str], Rows]:
    """A collision by active joints of 300: kinematics, sweep and compliance of a contact [G06, figure 7]."""
    n = 300
    head = ["active joints", "us per collision", "ns per active joint (≤ 70)", "R² of a line (≥ 0.99)"]
    sizes = (20, 60, 100) if quick else (20, 40, 60, 100, 150, 200, 299)
    runs = {}
    for d in sizes:
        body = Body(n, d)
        state = body.state.hybrid(body.active)
        IR, XR, _, _ = state._space([mf.Node("link_300")])
        call = address(entries.node_compliance), state.I, state.X, IR, XR
        runs[d] = lambda count, c=call: collide_again(*c, count)
    times = [1e6 * time for time in fastest(runs, 0.3 * len(sizes) if quick else 2.0 * len(sizes)).values()]
    line = f"{np.corrcoef(sizes, times)[0, 1] ** 2:.4f}"
    return head, [[str(d), f"{t:.2f}", f"{1e3 * t / d:.0f}", line] for d, t in zip(sizes, times, strict=True)]
