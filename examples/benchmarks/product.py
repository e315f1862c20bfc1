"""Everything with everything: formulations, solvers, laws, integrators, schemes and treatments of impacts.

    python examples/benchmarks/product.py [--quick] [--count 40] [--seed 0] [--only SCENE]

Each scene starts some steps before it strikes and runs for 30 steps, so often as --count says, with settings
drawn at random from all that there are (--count 0: with all of them, which takes hours), and by every
formulation; with `cone` as the solver friction is round. All must run, but for what a solver refuses in words
(problems too large for `enum`, laws that have no cone), which is counted, and formulations must agree: unless
problems have several answers, so that solvers do not agree in one formulation either. Writes
out/bench/product.json.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import warnings
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
from reporting.study import opening, parser, save_figures

import mcpframe as mf
from mcpframe.exceptions import McpframeError
from mcpframe.scene.settings import Stepping
from mcpframe.simulation.recording.energy_audit import EnergyWarning, energy_gains
from mcpframe.solving.solution import Status

SCENES = Path(__file__).parents[1] / "scenes"
STARTS = {"quadruped": 0.0, "four_bar": 0.05, "arm_pushes_box": 0.5}
"""When the scenes start, s: the quadruped stands, the hand is about to meet the box, the linkage is let down
to where it strikes the floor."""
STEPS = 30
AGREE = 1e-8
"""Rates and coordinates of all formulations are within this share of each other."""
CHOICES = "scheme", "integrator", "restitution_model", "decompression", "impacts", "drift_control"
"""Settings with few values, all of which are tried."""
REFUSED = Status.UNSUPPORTED.name
"""What an error says of a problem that a solver does not take."""

Settings = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return 1 where anything is off."""
    options = parse(arguments)
    console, facts = opening("Everything with everything", page=options.page)
    rows, refused = dict[str, list[str]](), dict[str, int]()
    for name in STARTS:
        if options.only not in name:
            continue
        scene = about_to_strike(name)
        chosen = drawn(options.count, options.seed)
        said = [line for settings in chosen for line in troubles(scene, settings)]
        rows[name] = [line for line in said if REFUSED not in line]
        refused[name] = len(said) - len(rows[name])
        for line in rows[name]:
            console.print(f"{name}: {line}", markup=False, highlight=False, soft_wrap=True)
        n = len(chosen) * len(mf.available_formulations())
        told = f"{refused[name]} refused, {len(rows[name])} troubles"
        console.print(f"{name}: {n} runs of {STEPS} steps, {told}")
    save_figures(console, Path(options.out), "product", facts, troubles=rows, refused=refused)
    return int(any(rows.values()))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    line = parser(__doc__)
    line.add_argument("--count", type=int, default=40, help="settings for each scene; 0 for all")
    line.add_argument("--seed", type=int, default=0, help="of the settings that are drawn")
    line.add_argument("--only", default="", help="scenes whose name has this in it")
    options = line.parse_args(arguments)
    if options.quick:
        options.count = 2
    return options


def all_settings() -> list[Settings]:
    """Return every combination but for formulations: a law, and settings of the stepping."""
    values = {name: get_args(Stepping.model_fields[name].annotation) for name in CHOICES}
    values |= {"solver": tuple(mf.available_solvers()), "law": tuple(mf.available_contact_laws())}
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


def drawn(count: int, seed: int) -> list[Settings]:
    """Return some of the combinations, or all."""
    every = all_settings()
    if not count:
        return every
    chosen = np.random.default_rng(seed).choice(len(every), size=min(count, len(every)), replace=False)
    return [every[i] for i in chosen]


def about_to_strike(name: str) -> mf.Scene:
    """Return a scene as it is some time after its start."""
    scene = mf.load_scene(SCENES / f"{name}.toml")
    if not STARTS[name]:
        return scene
    run = mf.simulate(scene, duration=STARTS[name])
    return changed(scene, theta=run.theta[-1], theta_dot=run.theta_dot[-1], time=float(run.time[-1]))


def changed(scene: mf.Scene, **parts: Any) -> mf.Scene:
    """Return a scene with other parts."""
    kept = (
        "theta",
        "theta_dot",
        "time",
        "materials",
        "ignore",
        "neighbours",
        "controllers",
        "stepping",
        "name",
    )
    return mf.Scene(scene.model, **{part: getattr(scene, part) for part in kept} | parts)


def troubles(scene: mf.Scene, settings: Settings) -> list[str]:
    """Return what went wrong with these settings, a line for each."""
    law = settings["law"]
    of_law = {key: mf.Material(m.mu, m.restitution, law) for key, m in scene.materials.items()}
    stepping = {name: value for name, value in settings.items() if name != "law"}
    if settings["solver"] == "cone":
        stepping["friction"] = "cone"
    ready = changed(scene, materials=of_law).with_stepping(duration=STEPS * scene.stepping.dt, **stepping)
    found, runs = [], {}
    for formulation in mf.available_formulations():
        said = f"{formulation}, {', '.join(map(str, settings.values()))}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EnergyWarning)
                runs[formulation] = mf.simulate(ready, formulation=formulation)
        except (McpframeError, ArithmeticError) as error:
            found.append(f"{said}: {type(error).__name__}: {error}")
            continue
        gain = energy_gains(runs[formulation].impacts).max(initial=0.0)
        if gain > 0.0:
            found.append(f"{said}: an impact adds {gain:.2g} J")
    apart = differences(runs, settings)
    return found + ([] if apart and is_ambiguous(ready) else apart)


def is_ambiguous(scene: mf.Scene) -> bool:
    """Return whether solvers lead elsewhere in one formulation: contacts that share a load, and rub."""
    runs = {}
    for solver in mf.available_solvers():
        try:
            runs[solver] = mf.simulate(scene, formulation="os", solver=solver)
        except McpframeError:
            continue
    return bool(differences(runs, {}))


def differences(runs: Mapping[str, mf.Trajectory], settings: Settings) -> list[str]:
    """Return where formulations end elsewhere than the first of them."""
    if not runs:
        return []
    (first, known), *others = runs.items()
    found = []
    for name, run in others:
        away = max(
            float(np.abs(getattr(run, part)[-1] - getattr(known, part)[-1]).max() / size)
            for part in ("theta", "theta_dot")
            for size in [1.0 + np.abs(getattr(known, part)[-1]).max()]
        )
        if not away <= AGREE:
            found.append(f"{name} is {away:.1e} from {first}: {', '.join(map(str, settings.values()))}")
    return found


if __name__ == "__main__":
    raise SystemExit(main())
