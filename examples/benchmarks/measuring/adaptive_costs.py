"""What steps, choices, whole runs and collisions of adaptive bodies cost."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from subjects.cables import INTERVAL, Body, Swing, collide_again, least, on_bars, step_times, sweep, swinging

import mcpframe as mf
from mcpframe.jit import address
from mcpframe.multibody.adaptive.piece_records import N_PIECES
from mcpframe.multibody.kernels import entries

Rows = list[list[str]]
SIZES = (200, 40), (300, 60), (500, 70), (5000, 70)
WITHOUT = {(200, 40): 2.4, (300, 60): 2.8, (500, 70): 3.7, (5000, 70): 19.0}
WITH = {(300, 60): 2.1, (500, 70): 2.9, (5000, 70): 15.0}
"""How many times faster steps with eight contacts are asked to be, without and with the contact problems."""
BLOCKS, REPEATS, CHOICES = 6, 8, 200


def steps(quick: bool) -> tuple[list[str], Rows]:
    """Kinematics and free acceleration."""
    head, rows = ["n", "full us", "ns per link", "d", "hybrid us", "ns per cluster (≤ 50)"], []
    for n, _ in SIZES[:2] if quick else SIZES:
        for d in (40, 70) if quick else (10, 40, 70, 150):
            body = Body(n, d)
            full = least(lambda count, b=body: sweep(b.IT, b.XT, count), 0.1)
            hybrid = least(lambda count, b=body: sweep(b.I, b.X, count), 0.1)
            times = f"{full:.1f}", f"{1e3 * full / n:.0f}", str(d), f"{hybrid:.2f}", f"{1e3 * hybrid / d:.0f}"
            rows.append([str(n), *times])
    return head, rows


def choices(quick: bool) -> tuple[list[str], Rows]:
    """A whole choice while a cable swings: choosing, impulses, clusters; in turns with sweeps, medians."""
    head = ["n", "d", "by", "full sweep us", "choice us (≤ 110 at 5000)", "in full sweeps (≤ 2.3 up to 500)"]
    rows = []
    for n, d in SIZES[:1] if quick else SIZES:
        body, whole = Swing(n, d), Body(n, d)
        times = []
        for _ in range(10 if quick else CHOICES):
            begin = perf_counter()
            sweep(whole.IT, whole.XT, 1)
            full = 1e6 * (perf_counter() - begin)
            times.append((full, body.choose()))
            body.step()
        (full, chosen), by = np.median(times[2:], axis=0), "pieces" if body.IA[N_PIECES] > 0 else "sweep"
        rows.append([str(n), str(d), by, f"{full:.1f}", f"{chosen:.1f}", f"{chosen / full:.2f}"])
    return head, rows


def runs(quick: bool) -> tuple[list[str], Rows]:
    """Whole steps, a choice every 15, beside full ones: times faster."""
    head = ["cable", "n", "d", "n/d", "contacts", "full us", "adaptive us", "without solves", "asked"]
    head, rows = [*head, "with solves", "asked"], []
    for make, name in ((swinging, "swings"), (on_bars, "on eight bars")):
        for n, d in SIZES[:1] if quick else SIZES:
            count = INTERVAL * (1 if quick else max(2, 3000 // (INTERVAL * (n // 20))))
            asked = mf.Adaptive(active=d, interval=INTERVAL, at_contacts="none")
            both = make(n, None), make(n, asked)
            full, own = step_times(both, count, BLOCKS, 1 if quick else REPEATS)
            held = make is on_bars
            wanted = [str(targets.get((n, d), "")) if held else "" for targets in (WITHOUT, WITH)]
            ratios = f"{full[0] / own[0]:.1f}", wanted[0], f"{full[1] / own[1]:.1f}", wanted[1]
            touching = f"{full[2]:.1f}, {own[2]:.1f}"
            sizes = str(n), str(d), f"{n / d:.1f}", touching, f"{full[1]:.0f}", f"{own[1]:.0f}"
            rows.append([name, *sizes, *ratios])
    return head, rows


def contacts(quick: bool) -> tuple[list[str], Rows]:
    """A collision by active joints of 300: kinematics, sweep and compliance of a contact [G06, figure 7]."""
    n = 300
    head = ["active joints", "us per collision", "ns per active joint (≤ 70)", "R² of a line (≥ 0.99)"]
    sizes = (20, 60, 100) if quick else (20, 40, 60, 100, 150, 200, 299)
    times = []
    for d in sizes:
        body = Body(n, d)
        state = body.state.hybrid(body.active)
        IR, XR, _, _ = state._space([mf.Node("link_300")])
        call = address(entries.node_compliance), state.I, state.X, IR, XR
        times.append(least(lambda count, c=call: collide_again(*c, count), 0.3))
    line = f"{np.corrcoef(sizes, times)[0, 1] ** 2:.4f}"
    return head, [[str(d), f"{t:.2f}", f"{1e3 * t / d:.0f}", line] for d, t in zip(sizes, times, strict=True)]
