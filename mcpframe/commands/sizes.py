"""``mcpframe sizes``: the sizes that the paper publishes, counted in assembled matrices [J14]."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

import mcpframe as mf
from mcpframe.commands.terminal import console
from mcpframe.problem.cone import StepProblem

N_U, N_F, DT = 4, 4, 1e-3
"""Contacts, friction directions and step of both tables."""
DUAL_ARM = {"nmc": 310, "mc": 50, "rmc": 24, "os": 24}
"""[J14, Table 1], the line "Dual-arm LCP dimension"."""
PENDULUM = {
    3: {"os": 24, "nmc_os": 39, "nmc": 57},
    6: {"os": 24, "nmc_os": 54, "nmc": 90},
    12: {"os": 24, "nmc_os": 84, "nmc": 156},
    15: {"os": 24, "nmc_os": 99, "nmc": 189},
    24: {"os": 24, "nmc_os": 144, "nmc": 288},
    30: {"os": 24, "nmc_os": 174, "nmc": 354},
}
"""[J14, Table 2], the columns "LCP size", by number of links."""

Problems = Mapping[str, StepProblem]


def sizes() -> int:
    """Count the rows of assembled problems beside the sizes that are published.

    Those are of J14 (A. Jain, Contact dynamics formulation using minimal coordinates, 2014), Tables 1 and 2.
    Every formulation that is installed writes one step of the dual arm and of pendulums, with 4 contacts and
    4 friction directions. Exit status: 0 when all published sizes are met, 1 when one is not.
    """
    arm = _assembled(mf.systems.dual_arm())
    pendulums = {links: _assembled(mf.systems.pendulum(links=links)) for links in PENDULUM}
    out = console()
    out.print(_arm_table(arm))
    out.print(_pendulum_table(pendulums))
    pairs = [(arm[name].n, size) for name, size in DUAL_ARM.items()]
    pairs += [(pendulums[n][name].n, size) for n, row in PENDULUM.items() for name, size in row.items()]
    wrong = sum(assembled != published for assembled, published in pairs)
    verdict = f"{wrong} of {len(pairs)} published sizes are not met" if wrong else f"all {len(pairs)} match"
    out.print(Text(f"published sizes: {verdict}", style="red" if wrong else "green"))
    return 1 if wrong else 0


def _assembled(model: mf.Model) -> Problems:
    """Return the same step's problem in every formulation."""
    state = model.state()
    step = mf.ContactStep(state, mf.systems.contacts_of(state, N_U), DT)
    names = [*DUAL_ARM, *(name for name in mf.available_formulations() if name not in DUAL_ARM)]
    return {name: mf.formulation(name, friction_directions=N_F).build(step)[0] for name in names}


def _arm_table(problems: Problems) -> Table:
    table = Table("formulation", "rows", "published", "blocks of z", title="Dual arm: J14, Table 1")
    for name, problem in problems.items():
        blocks = ", ".join(f"{block} {size}" for block, size in problem.layout.sizes.items() if size)
        published = DUAL_ARM.get(name)
        table.add_row(name, _compared(problem.n, published), str(published or ""), blocks)
    return table


def _pendulum_table(pendulums: Mapping[int, Problems]) -> Table:
    """Return the table of assembled sizes, with the published one behind it where there is one."""
    first = list(next(iter(PENDULUM.values())))
    names = [*first, *(name for name in next(iter(pendulums.values())) if name not in first)]
    table = Table("links", *names, title="Pendulum: J14, Table 2, as assembled (published)")
    for links, problems in pendulums.items():
        cells = [_with_published(problems[name].n, PENDULUM[links].get(name)) for name in names]
        table.add_row(str(links), *cells)
    return table


def _with_published(assembled: int, published: int | None) -> Text:
    text = _compared(assembled, published)
    return text if published is None else text.append(f" ({published})")


def _compared(assembled: int, published: int | None) -> Text:
    style = "" if published is None else "green" if assembled == published else "bold red"
    return Text(str(assembled), style=style)
