"""What it costs to know whether rigid contact forces are unique: the P test by rows, and judged steps.

    python examples/benchmarks/diagnosis.py [--quick] [--seconds 2] [--page FILE]

Matrices of random entries whose symmetric part is definite, so that the cheapest test decides. The judge: the
kernel that judges a step, rows, uniqueness, margin and growth, on states of scenes of this repository. Steps:
these scenes in the compiled loop, with `diagnose` and without, in turns: least processor time of some rounds,
and the median over the rounds of the difference, since other work on a machine slows both. Writes
out/bench/diagnosis.json.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from engines.engine import processor_time
from engines.own import WARM_UP
from measuring.timing import fastest, repeated
from reporting.sheets import Sheet, show
from reporting.study import opening, parser, save_figures

import mcpframe as mf
from mcpframe.diagnosis.p_matrix import TESTS, p_matrix_test, work_size
from mcpframe.simulation.engine import Engine
from mcpframe.simulation.memory import slots as at
from mcpframe.simulation.step.contact_model.judging import judge

ROWS = 4, 8, 12
SCENES = {"quadruped": 1.0, "grasp_rotate": 1.0}
"""Scenes of this repository, and how many seconds of them."""
JUDGED = {"quadruped": (0.1, 0.6), "grasp_rotate": (0.1, 0.5)}
"""Scenes, and after how many seconds a step of them is judged."""
ROUNDS = 25


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study."""
    options = parser(__doc__, seconds=2.0).parse_args(arguments)
    console, facts = opening("Diagnosis", page=options.page)
    seconds = 0.1 if options.quick else options.seconds
    tests, judged, steps = (
        list(p_test_costs(seconds)),
        list(judge_costs(seconds)),
        list(step_costs(options.quick)),
    )
    columns = "rows", "decided by", "µs, called from Python"
    asked = Sheet("Is a matrix P?", columns, [[str(n), test, f"{1e6 * t:.2f}"] for n, test, t in tests])
    columns = "scene", "after", "rows", "decided by", "µs, called from Python"
    rows = [[name, f"{t:g} s", str(n), test, f"{1e6 * cost:.2f}"] for name, t, n, test, cost in judged]
    judge_sheet = Sheet("A step judged", columns, rows)
    columns = "scene", "contacts, mean", "not judged", "judged", "more, median"
    rows = [[name, f"{k:.1f}", *(f"{1e6 * t:.2f}" for t in times)] for name, k, *times in steps]
    show(console, [asked, judge_sheet, Sheet("Processor time of a step, µs", columns, rows)], None)
    save_figures(console, Path(options.out), "diagnosis", facts, tests=tests, judged=judged, steps=steps)
    return 0


def p_test_costs(seconds: float) -> Iterator[tuple[int, str, float]]:
    """Yield rows, the test that has decided, and what that takes, s."""
    for n in ROWS:
        entries = np.random.default_rng(n).normal(size=(n, n)) / n
        A, work = np.eye(n) + entries - np.diag(np.diag(entries)), np.zeros(work_size(n))
        took = fastest({n: repeated(partial(p_matrix_test, A, work))}, seconds / len(ROWS))[n]
        yield n, TESTS[abs(p_matrix_test(A, work))], took


def judge_costs(seconds: float) -> Iterator[tuple[str, float, int, str, float]]:
    """Yield scene, time, rows, the test that has decided, and what the judge of the step there takes, s."""
    for name, times in JUDGED.items():
        scene = load(name).with_stepping(contact_model="rigid", diagnose=True)
        for time in times:
            engine = Engine(scene)
            engine.advance(scene.initial_state(), 0, round(time / scene.stepping.dt))
            work, body = engine._work, engine._body
            arrays = body.I, engine._IE, work.IP, work.XR, work.IS, work.XS, int(engine._A[at.EIGENVALUES])
            took = fastest({time: repeated(partial(judge, *arrays))}, seconds / 6)[time]
            yield name, time, int(work.IS[at.N_TOLD]), TESTS[abs(int(work.IS[at.UNIQUE]))], took


def load(name: str) -> mf.Scene:
    """Return a scene of this repository."""
    return mf.load_scene(next((Path(__file__).parents[1] / "scenes").rglob(f"{name}.toml")))


def step_costs(quick: bool) -> Iterator[tuple[str, float, float, float, float]]:
    """Yield name, contacts, and the time of a step without and with a diagnosis, and the difference, s."""
    for name, seconds in SCENES.items():
        scene = load(name)
        dt = scene.stepping.dt
        n = WARM_UP + round((0.05 if quick else 1.0) * seconds / dt)
        contacts = mf.simulate(scene, contact_model="rigid", diagnose=True, duration=n * dt).n_contacts
        times = np.array([[step_time(scene, n, judged) for judged in (False, True)] for _ in rounds(quick)])
        more = float(np.median(times[:, 1] - times[:, 0]))
        yield name, float(contacts.mean()), *times.min(axis=0).tolist(), more


def rounds(quick: bool) -> range:
    """Return the rounds to make."""
    return range(2 if quick else ROUNDS)


def step_time(scene: mf.Scene, n: int, judged: bool) -> float:
    """Return the processor time of a step of a scene, of n steps without the first few, s."""
    engine = Engine(scene.with_stepping(contact_model="rigid", diagnose=judged))
    state = scene.initial_state()
    engine.advance(state, 0, WARM_UP)
    return processor_time(partial(engine.advance, state, WARM_UP, n - WARM_UP)) / (n - WARM_UP)


if __name__ == "__main__":
    raise SystemExit(main())
