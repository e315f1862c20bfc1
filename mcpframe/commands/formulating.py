"""``mcpframe formulate``: one contact step of a system, written as a problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import scipy.sparse as sp
import typer
from rich.table import Table
from rich.text import Text

import mcpframe as mf
from mcpframe.commands import completion
from mcpframe.commands.system import Start, make_model, start_state
from mcpframe.commands.terminal import check_out_file, console, quoted, read_pairs
from mcpframe.contact.step import Asks
from mcpframe.exceptions import ModelError, OptionError
from mcpframe.papers import PAPERS
from mcpframe.problem.cone import StepProblem
from mcpframe.scene.settings import BAUMGARTE, CLOSURE_BIAS, CONTACT_BIAS, POSITION_LEVEL
from mcpframe.solving.plugin import AbstractContactLaw, AbstractFormulation

if TYPE_CHECKING:
    from mcpframe.multibody.state import State  # its kernels are loaded when a state is made

Built = TypeVar("Built")

FORMULATION, LAW = "os", "coulomb"
MU = 0.5
REPEATS = 5
"""Builds after the first one, of which the fastest is told."""

FORMULATE_EPILOG = """
Examples:

    mcpframe formulate pendulum --set links=12 --state random --out problem.npz

    mcpframe solve problem.npz --solver lemke

    mcpframe formulate quadruped --formulation nmc --law rolling --out problem.npz

    mcpframe formulate robot.urdf --set floating_base=true --contacts contacts.toml --out problem.npz

    mcpframe formulate box --law torsional --law-option radius=0.02 --position-level

Systems: {systems}; or a path to a robot, .urdf or .xml (MJCF). A file of contacts has a table [[contact]] for
each, with body_a, body_b, point, normal and, where wanted, mu, restitution, gap, tangent, law, parameters.

J14: {paper}.
""".format(systems=", ".join(mf.systems.available()), paper=PAPERS["J14"])


def _sentence(description: str) -> str:
    return f"{description[0].upper()}{description[1:]}."


SystemName = Annotated[
    str,
    typer.Argument(
        metavar="SYSTEM", autocompletion=completion.systems, help="Name of a ready system, or a robot file."
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="An option of the system or of the file's reader; repeatable."
    ),
]
StartOption = Annotated[
    Start, typer.Option("--state", help="At rest in the neutral coordinates, or random ones with rates.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of a random state.")]
ContactsOption = Annotated[
    str,
    typer.Option(
        metavar="N|FILE", help="So many of the system's lowest points, each on a support; or a TOML file."
    ),
]
Mu = Annotated[
    float | None, typer.Option(min=0.0, help=f"Friction coefficient of the N contacts.  [default: {MU}]")
]
Formulation = Annotated[
    str | None,
    typer.Option(
        autocompletion=completion.formulations,
        help=f"Formulation by name; see mcpframe list.  [default: {FORMULATION}]",
    ),
]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="KEY=VALUE", help="An option of the formulation; repeatable."),
]
Directions = Annotated[
    int | None, typer.Option(help="Directions of a friction cone: --option friction_directions=...")
]
Law = Annotated[
    str | None,
    typer.Option(
        autocompletion=completion.laws, help=f"Contact law by name; see mcpframe list.  [default: {LAW}]"
    ),
]
LawOptions = Annotated[
    list[str] | None,
    typer.Option("--law-option", metavar="KEY=VALUE", help="An option of the contact law; repeatable."),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", help="TOML file with [formulation] and [contact_law] tables, instead of those."),
]
Seconds = Annotated[float, typer.Option("--dt", help="Length of the step, seconds.")]
PositionLevel = Annotated[bool, typer.Option("--position-level", help=_sentence(POSITION_LEVEL))]
ContactBias = Annotated[bool, typer.Option("--contact-bias", help=_sentence(CONTACT_BIAS))]
ClosureBias = Annotated[bool, typer.Option("--closure-bias/--no-closure-bias", help=_sentence(CLOSURE_BIAS))]
Baumgarte = Annotated[float, typer.Option(min=0.0, max=1.0, help=_sentence(BAUMGARTE))]
OutFile = Annotated[
    Path | None, typer.Option(help="Write the problem to this .npz file; without it only the table is shown.")
]


def formulate(
    system: SystemName,
    setting: Settings = None,
    start: StartOption = Start.neutral,
    seed: Seed = 0,
    contacts: ContactsOption = "4",
    mu: Mu = None,
    formulation: Formulation = None,
    option: Options = None,
    friction_directions: Directions = None,
    law: Law = None,
    law_option: LawOptions = None,
    config: ConfigFile = None,
    dt: Seconds = 1e-3,
    position_level: PositionLevel = False,
    contact_bias: ContactBias = False,
    closure_bias: ClosureBias = True,
    baumgarte: Baumgarte = 0.0,
    out: OutFile = None,
) -> None:
    """Write one contact step of a system as a problem, for mcpframe solve and every other solver."""
    check_out_file(out)
    options = read_pairs("--option", option)
    if friction_directions is not None:
        options["friction_directions"] = friction_directions
    chosen = _chosen_formulation(formulation, options, config)
    chosen_law = _chosen_law(law, read_pairs("--law-option", law_option), config)
    settings = read_pairs("--set", setting)
    state = start_state(make_model(system, settings), start, seed)
    touching = _contacts(contacts, mu, state)
    asks = Asks(
        position_level=position_level,
        contact_bias=contact_bias,
        closure_bias=closure_bias,
        baumgarte=baumgarte,
    )

    def build() -> tuple[mf.ContactStep, StepProblem]:
        state.update(state.theta, state.theta_dot)  # forget what is known of the state
        step = mf.ContactStep(state, touching, dt, law=chosen_law, **asks)
        return step, chosen.build(step)[0]

    (step, problem), at_first = _timed(build)
    again = min(_timed(build)[1] for _ in range(REPEATS))
    if out is not None:
        origin = {"system": system, "set": settings, "state": start.value, "seed": seed}
        origin |= {"contacts": contacts, "mu": mu, "dt": dt, "asks": dict(asks)}
        origin |= {"formulation": _described(chosen), "contact_law": _described(chosen_law)}
        mf.save_problem(out, problem, name=f"{chosen.name} of {state.model.name}", provenance=origin)
    _print(state.model, step, chosen.name, problem, (at_first, again), out)


def _chosen_formulation(
    name: str | None, options: Mapping[str, Any], config: Path | None
) -> AbstractFormulation:
    if config is None:
        return mf.formulation(name or FORMULATION, **options)
    if name or options:
        raise OptionError("--config names the formulation: leave out --formulation and its options")
    return mf.load_config(config).formulation or mf.formulation(FORMULATION)


def _chosen_law(name: str | None, options: Mapping[str, Any], config: Path | None) -> AbstractContactLaw:
    if config is None:
        return mf.contact_law(name or LAW, **options)
    if name or options:
        raise OptionError("--config names the contact law: leave out --law and --law-option")
    return mf.load_config(config).contact_law or mf.contact_law(LAW)


def _contacts(words: str, mu: float | None, state: State) -> Sequence[mf.Contact]:
    """Return so many contacts of the system's own shapes, or those of a file."""
    try:
        n_u = int(words)
    except ValueError:
        if mu is not None:
            raise OptionError(f"--mu {mu}: {words} says what friction its contacts have") from None
        return mf.load_contacts(words)
    try:
        return mf.systems.contacts_of(state, n_u, MU if mu is None else mu)
    except ModelError as error:
        raise ModelError(f"--contacts {n_u}: {error}; or name them in a file: --contacts FILE") from None


def _timed(build: Callable[[], Built]) -> tuple[Built, float]:
    begin = perf_counter()
    built = build()
    return built, perf_counter() - begin


def _described(plugin: AbstractFormulation | AbstractContactLaw) -> dict[str, Any]:
    return {"name": plugin.name, **plugin.model_dump(mode="json")}


def _print(
    model: mf.Model,
    step: mf.ContactStep,
    formulation: str,
    problem: StepProblem,
    seconds: tuple[float, float],
    out: Path | None,
) -> None:
    blocks = " + ".join(f"{name} {size}" for name, size in problem.layout.sizes.items())
    kind = "sparse" if sp.issparse(problem.M) else "dense"
    table = Table.grid(padding=(0, 2))
    table.add_row("system", Text(model.name))
    table.add_row("links", str(model.n_links))
    table.add_row("dofs", str(model.n_dofs))
    table.add_row("contacts", f"{step.n_u}, law {step.law.name}, dt = {step.dt:g} s")
    table.add_row("rows", Text(f"{problem.n} = {blocks} ({formulation})"))
    table.add_row("nonzeros", f"{sp.csr_array(problem.M).count_nonzero()} of {problem.n**2} in M, {kind}")
    table.add_row("build", f"{1e3 * seconds[1]:.3g} ms (at first {1e3 * seconds[0]:.3g} ms)")
    if out is not None:
        table.add_row("written", Text(f"{out}; next: mcpframe solve {quoted(out)}"))
    console().print(table)
