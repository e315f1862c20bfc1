"""What contacts do in mcpframe, MuJoCo, Drake and DART: restitution, sliding to a stop, rest on a slope.

    python examples/benchmarks/contact_models.py [--quick] [--no-peers] [--markdown]

A ball is dropped from 1 m with restitution 0.2, 0.5, 0.8 (steps of 1 ms). A block slides at 2 m/s, mu 0.5,
along a friction direction and between two (steps of 0.2 ms). A block lies on a slope of 20 degrees, mu 0.5,
for 2 s (steps of 1 ms). Ours with friction polygons of 4, 8 and 16 directions, and with the exact cone; and
what a step costs with either, in four scenes. Writes out/bench/contact_models.json and
out/bench/contact_models.png; --markdown writes the tables to contact_models.md too.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engines.engine import installed_peers
from engines.own import Own
from measuring.cone_cost import MOST, Cost, costs
from measuring.contact_models import RESTITUTIONS, Model, euler_ratio, model_of, polygon_bound
from plots.contact_models import plot
from reporting.sheets import Sheet, show
from reporting.study import numbers, opening, parser, write
from rich.console import Console

DT, DT_STOP, REST = 1e-3, 2e-4, 2.0
"""Steps and seconds on the slope, s."""
BOUNCE, STOP, CREEP = 1e-6, 1e-3, 1e-12
"""What is wanted of ours: of restitution, of the stop over theory, and in m/s, which is rounding."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study."""
    options = parse(arguments)
    console, facts = opening("Contact models", ("mujoco", "drake", "dartpy"), options.page)
    models = all_models(console, options)
    with console.status("scenes ..."):
        spent = list(costs(options.quick))
    out = Path(options.out)
    sheets = [sheet_of(models, options.dt_stop), cost_sheet(spent)]
    show(console, sheets, out / "contact_models.md" if options.markdown else None)
    figures = {"models": [asdict(model) for model in models], "costs": [asdict(cost) for cost in spent]}
    write(console, out, "contact_models", facts, **figures)
    plot(models, out / "contact_models.png")
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    line = parser(__doc__)
    line.add_argument("--directions", default="4,8,16", help="numbers of friction directions, ours")
    line.add_argument("--dt-stop", type=float, default=DT_STOP, help="step where a block slides, s")
    line.add_argument("--rest", type=float, default=REST, help="seconds on the slope")
    line.add_argument("--no-peers", dest="peers", action="store_false", help="ours alone")
    line.add_argument("--markdown", action="store_true", help="write the table as Markdown")
    options = line.parse_args(arguments)
    options.directions = numbers(options.directions)
    if options.quick:
        options.dt_stop, options.rest = max(options.dt_stop, 1e-3), min(options.rest, 0.2)
    return options


def all_models(console: Console, options: argparse.Namespace) -> list[Model]:
    """Return what the contacts of every engine do."""
    peers, missing = installed_peers() if options.peers else ([], ["all peers"])
    if missing:
        console.print(f"left out: {', '.join(missing)}", style="yellow")
    contestants: list[tuple[Any, int]] = [(with_directions(n_f), n_f) for n_f in options.directions]
    contestants += [(Own("mcpframe, exact cone", {"friction": "cone"}), 0), *((peer, 0) for peer in peers)]
    models = []
    with console.status("") as status:
        for engine, n_f in contestants:
            status.update(f"{engine.name} ...")
            models.append(model_of(engine, n_f, DT, options.dt_stop, options.rest))
    return models


def with_directions(n_f: int) -> Own:
    """Return our event-driven engine with so many friction directions."""
    return Own(f"mcpframe, n_f = {n_f}", {"formulation": {"name": "os", "friction_directions": n_f}})


def sheet_of(models: Sequence[Model], dt_stop: float) -> Sheet:
    """Return the table; ours in the colour that says whether it is as wanted."""
    headings = [f"at {angle:g}°" for angle in models[0].stop]
    columns = ["engine", *(f"e = {e:g}" for e in RESTITUTIONS), *headings, "at most", "creep, m/s"]
    note = (
        f"Steps of {1e3 * dt_stop:g} ms where a block slides: semi-implicit Euler alone makes the stop "
        f"{euler_ratio(dt_stop):.4f} of theory. At most: 1 / cos(π / n_f), by the polygon."
    )
    title = "Contact models: restitution got for that asked, stop distance over theory by heading, creep"
    return Sheet(title, columns, [_row(model) for model in models], note)


def cost_sheet(spent: Sequence[Cost]) -> Sheet:
    """Return the table of what round cones cost."""
    rows = [[cost.scene, str(cost.steps), *_micros(cost), _ratio(cost)] for cost in spent]
    columns = ["scene", "steps", "n_f = 4, µs", "exact cone, µs", "cone / polygon"]
    return Sheet("What a step costs, all in, with a friction polygon and with the exact cone", columns, rows)


def _micros(cost: Cost) -> list[str]:
    return [f"{1e6 * seconds:.3g}" for seconds in (cost.polygon, cost.cone)]


def _ratio(cost: Cost) -> str:
    colour = "green" if cost.ratio <= MOST else "yellow"
    return f"[{colour}]{cost.ratio:.2f}[/{colour}]"


def _row(model: Model) -> list[str]:
    bounces = [_bounce(model, e) for e in RESTITUTIONS]
    bound = f"{polygon_bound(model.n_f):.4f}" if model.n_f else "1" if not model.is_peer else ""
    creep = _coloured(f"{model.creep:.0e}", model, model.creep <= CREEP)
    return [model.engine, *bounces, *(_stop(model, angle) for angle in model.stop), bound, creep]


def _bounce(model: Model, asked: float) -> str:
    if asked not in model.rebound:
        return "-"
    got = model.rebound[asked]
    return _coloured(f"{got:.3f}" if model.is_peer else f"{got:.7f}", model, abs(got - asked) <= BOUNCE)


def _stop(model: Model, angle: float) -> str:
    """Return a stop ratio; along a direction 1 is wanted, elsewhere no more than the polygon's bound."""
    got = model.stop[angle]
    most = polygon_bound(model.n_f) if angle else 1.0
    return _coloured(f"{got:.4f}", model, 1.0 - STOP <= got <= most + STOP)


def _coloured(text: str, model: Model, good: bool) -> str:
    if model.is_peer:
        return text
    colour = "green" if good else "yellow"
    return f"[{colour}]{text}[/{colour}]"


if __name__ == "__main__":
    raise SystemExit(main())
