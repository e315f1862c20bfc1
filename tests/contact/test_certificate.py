"""The certificate of a step finds whatever is wrong with an outcome, and says where."""

from dataclasses import replace

import numpy as np
import pytest
from contact_scenes import DT, floating_four_bar, quadruped, tree

import mcpframe as mf
from mcpframe import systems
from mcpframe.contact.certificate import FIGURES
from mcpframe.contact.impact_step import ImpactStep

RIGHT = 1e-9
"""Solvers are asked for 1e-12."""
WRONG = 1e-4
"""Mutations here change something by a per cent at least; the scales are those of whole models."""


class NoChangeError(Exception):
    """Another problem whose answer is one of the right problem too: there are steps that have several."""


def solved(step, name="os", change=None, solver="auto", **options):
    """An outcome, where `change` makes another problem of (M, q, layout)."""
    formulation = mf.formulation(name, **options)
    problem, recovery = formulation.build(step)
    if change is None:
        return formulation.recover(recovery, mf.solve(problem, solver, tol=1e-12, throw=True))
    M, q = problem.M.copy(), problem.q.copy()
    change(M, q, problem.layout)
    other = mf.MixedLCP(M, q, problem.lower, problem.upper, layout=problem.layout)
    solution = mf.solve(other, solver, tol=1e-12, throw=True)
    if problem.certify(solution.z)[2] <= RIGHT * problem.scale:
        raise NoChangeError
    return formulation.recover(recovery, solution)


def box(law="coulomb", mu=0.3, speed=2.0, **kwargs):
    """A box that slides on four corners, one of which is the contact of the tests."""
    state = systems.box().state(theta_dot=[speed, 0.7, 0.0, 0.0, 0.0, 0.4])
    return mf.ContactStep(state, systems.contacts_of(state, 4, mu=mu), DT, law=law, **kwargs)


def with_contacts(step, change):
    """The same step with other contacts."""
    contacts = [change(i, contact) for i, contact in enumerate(step.contacts)]
    return mf.ContactStep(step.state, contacts, step.dt, step.tau, step.wrenches, step.law)


def remade(contact, **parts):
    own = {"point": contact.point, "normal": contact.normal, "mu": contact.mu, "gap": contact.gap, **parts}
    return mf.Contact(contact.body_a, contact.body_b, **own)


def with_model(step, **parts):
    """The same step of a model with another property of all links or of the model."""
    old = step.state.model
    gravity = parts.pop("gravity", old.gravity)
    links = [replace(link, **{name: part(link) for name, part in parts.items()}) for link in old.links]
    model = mf.Model(links, gravity=gravity)
    for closure in old.closures:
        model.add_closure(closure)
    return with_state(step, model.state(step.state.theta, step.state.theta_dot, step.state.time))


def with_state(step, state, dt=None):
    return mf.ContactStep(state, list(step.contacts), dt or step.dt, step.tau, step.wrenches, step.law)


# What is done to outcomes.


def scaled(part, factor):
    return lambda step: replace(solved(step), **{part: factor * getattr(solved(step), part)})


def changed_beta(change):
    """Change β, contact by contact [n_u, 5] (F_n and four directions)."""

    def mutate(step):
        outcome = solved(step)
        beta = outcome.beta.reshape(step.n_u, -1).copy()
        change(beta)
        return replace(outcome, beta=beta.ravel())

    return mutate


def swap_contacts(beta):
    pressing = np.flatnonzero(beta[:, 0] > 0.0)
    beta[pressing[[0, -1]]] = beta[pressing[[-1, 0]]]


def drop_contact(beta):
    beta[np.argmax(beta[:, 0])] = 0.0


def pull_instead(beta):
    beta[np.argmax(beta[:, 0]), 0] *= -1.0


def leave_the_cone(beta):
    beta[:, 1:] *= 1.5


def push_along(beta):
    beta[:, 1:] = beta[:, [3, 4, 1, 2]]


def forget_friction(beta):
    beta[:, 1:] = 0.0


def nothing_happens(step):
    return replace(solved(step), theta_dot=step.state.theta_dot)


def one_rate_is_off(step):
    outcome = solved(step)
    rates = outcome.theta_dot.copy()
    rates[-1] += 0.01
    return replace(outcome, theta_dot=rates)


# What is done to the problem.


def changed_problem(change):
    return lambda step: solved(step, change=change)


def flip_a_constant(M, q, layout):
    at = layout["beta"].start
    q[at] = abs(q[at]) + 0.1


def flip_a_row(M, q, layout):
    """The sign of a friction row and of its column: as if its direction were the opposite one."""
    at = layout["beta"].start + 1
    others = np.arange(len(q)) != at
    n_beta = layout["beta"].stop
    q[at] *= -1.0
    M[at, :n_beta][others[:n_beta]] *= -1.0
    M[:n_beta, at][others[:n_beta]] *= -1.0


def couple_strangers(M, q, layout):
    """As an old plan would leave it: contacts of one body know nothing of each other."""
    M[:5, 5:10] = M[5:10, :5] = 0.0


def soften(M, q, layout):
    """One half of every contact is counted twice."""
    n = layout["beta"].stop
    M[:n, :n] *= 2.0


def other_budget(M, q, layout):
    M[layout["sigma"], layout["beta"]] *= np.where(M[layout["sigma"], layout["beta"]] > 0.0, 2.0, 1.0)


def no_slack(M, q, layout):
    """Half of what the friction rows of one direction of all contacts know of the slip speed is lost."""
    M[layout["beta"], layout["sigma"]][3::5] *= 0.5


def falls_without_weight(M, q, layout):
    q[layout["beta"].start] += DT * 9.81 / 2.0


# What is done to the step.


def changed_step(change):
    return lambda step: solved(change(step))


def moved_state(step):
    theta = step.state.model.integrate(step.state.theta, 0.05 * np.ones(step.state.model.n_dofs))
    return with_state(step, step.state.model.state(theta, step.state.theta_dot, step.state.time))


def older_rates(step):
    return with_state(step, step.state.model.state(step.state.theta, 0.9 * step.state.theta_dot))


def tilted(i, contact):
    return remade(contact, normal=contact.normal + (0.05 if i == 0 else 0.0) * contact.frame[:, 1])


def moved(i, contact):
    return remade(contact, point=contact.point + (0.02 if i == 1 else 0.0))


def other_way_round(i, contact):
    """A and B change places, and the normal does not."""
    if i:
        return contact
    return mf.Contact(contact.body_b, contact.body_a, contact.point, contact.normal, contact.mu)


def without_tau(step):
    return mf.ContactStep(step.state, list(step.contacts), step.dt, None, step.wrenches, step.law)


def without_wrenches(step):
    return mf.ContactStep(step.state, list(step.contacts), step.dt, step.tau, None, step.law)


def without_bias(step):
    asks = {**step.asks, "closure_bias": False}
    plain = mf.ContactStep(step.state, step.contacts, step.dt, step.tau, step.wrenches, step.law, **asks)
    return replace(solved(plain), step=step)


def forgotten_closure(step):
    outcome = solved(step)
    return replace(outcome, p_b=np.where(np.arange(outcome.p_b.size) == 2, 0.0, outcome.p_b))


def open_loop(step):
    """The closures as if they were not there, with impulses of none."""
    free = with_state(step, mf.Model(step.state.model.links).state(step.state.theta, step.state.theta_dot))
    found = solved(free)
    return replace(found, p_b=np.zeros(step.bilateral.n))


def limit_pulls(step):
    outcome = solved(step)
    return replace(outcome, p_l=-outcome.p_l)


# The box stands on more corners than it needs: what is done to one of them alone others can make up for, and
# that is no mistake. Where it would be one, the mutation is made of the quadruped.
MUTATIONS = {
    "an impulse doubled": (box, scaled("beta", 2.0)),
    "impulses a per cent too small": (quadruped, scaled("beta", 0.99)),
    "rates a per cent too small": (tree, scaled("theta_dot", 0.99)),
    "nothing happens": (quadruped, nothing_happens),
    "one rate is off": (tree, one_rate_is_off),
    "two contacts swapped": (quadruped, changed_beta(swap_contacts)),
    "a contact dropped": (tree, changed_beta(drop_contact)),
    "a contact pulls": (quadruped, changed_beta(pull_instead)),
    "friction beyond the cone": (box, changed_beta(leave_the_cone)),
    "friction along the slip": (box, changed_beta(push_along)),
    "friction forgotten": (box, changed_beta(forget_friction)),
    "the constant of a normal row": (quadruped, changed_problem(flip_a_constant)),
    "the sign of a friction row": (box, changed_problem(flip_a_row)),
    "contacts uncoupled": (box, changed_problem(couple_strangers)),
    "a half counted twice": (quadruped, changed_problem(soften)),
    "another budget of friction": (box, changed_problem(other_budget)),
    "a direction without slack": (quadruped, changed_problem(no_slack)),
    "weight missing in a row": (quadruped, changed_problem(falls_without_weight)),
    "a stale configuration": (tree, changed_step(moved_state)),
    "stale rates": (tree, changed_step(older_rates)),
    "a normal tilted": (quadruped, changed_step(lambda step: with_contacts(step, tilted))),
    "a contact elsewhere": (quadruped, changed_step(lambda step: with_contacts(step, moved))),
    "bodies the other way round": (tree, changed_step(lambda step: with_contacts(step, other_way_round))),
    "another coefficient of friction": (
        box,
        changed_step(lambda step: with_contacts(step, lambda i, contact: remade(contact, mu=0.33))),
    ),
    "another dt": (quadruped, changed_step(lambda step: with_state(step, step.state, 2.0 * step.dt))),
    "a mass scaled": (tree, changed_step(lambda step: with_model(step, mass=lambda link: 1.05 * link.mass))),
    "rotors forgotten": (tree, changed_step(lambda step: with_model(step, armature=lambda link: 0.0))),
    "another gravity": (box, changed_step(lambda step: with_model(step, gravity=(0.0, 0.0, -9.0)))),
    "hinge forces forgotten": (tree, changed_step(without_tau)),
    "wrenches forgotten": (tree, changed_step(without_wrenches)),
    "a row of a closure dropped": (floating_four_bar, forgotten_closure),
    "closures forgotten": (floating_four_bar, open_loop),
    "closures without their bias": (floating_four_bar, without_bias),
    "impulses of closures turned round": (floating_four_bar, scaled("p_b", -1.0)),
    "a limit that pulls": (quadruped, limit_pulls),
    "a limit without impulse": (quadruped, scaled("p_l", 0.0)),
}


def base(make):
    return make("coulomb")


@pytest.mark.parametrize("make", [box, quadruped, floating_four_bar, tree], ids=lambda make: make.__name__)
def test_what_is_right_is_left_alone(make):
    step = base(make)
    certificate = mf.certify_step(step, solved(step))
    assert certificate.worst <= RIGHT, str(certificate)


@pytest.mark.parametrize("name", MUTATIONS)
def test_what_is_wrong_is_found(name):
    make, mutate = MUTATIONS[name]
    step = base(make)
    certificate = mf.certify_step(step, mutate(step))
    assert certificate.worst >= WRONG, str(certificate)
    assert certificate.words


# And whatever else: seeded, in assembly and in recovery.

CHANGED = 1e-6
"""Share by which a mutation changes rates or impulses, from which on it has to be found; some change nothing,
as in the row of a contact that opens."""


def flip_row_and_column(M, q, i, j):
    M[i], M[:, i], q[i] = -M[i], -M[:, i], -q[i]


def lose_an_entry(M, q, i, j):
    M[i, j] = M[j, i] = 0.0


def swap_constants(M, q, i, j):
    q[[i, j]] = q[[j, i]]


def swap_rows(M, q, i, j):
    M[[i, j]], q[[i, j]] = M[[j, i]], q[[j, i]]


def scale_an_entry(M, q, i, j):
    M[i, j] *= 1.1


def shift_a_constant(M, q, i, j):
    q[i] += 0.1 * np.abs(q).max()


ASSEMBLY = (flip_row_and_column, lose_an_entry, swap_constants, swap_rows, scale_an_entry, shift_a_constant)
RECOVERED = ("beta", "theta_dot", "p_l", "p_b")


def mutated(step, rng):
    """The outcome of a wrong problem, or a wrong one of the right one: a sign, a swap, a share, a loss."""
    if rng.random() < 0.6:
        kind = ASSEMBLY[rng.integers(len(ASSEMBLY))]

        def change(M, q, layout):
            kind(M, q, *rng.choice(len(q), 2, replace=False))

        return kind.__name__, solved(step, change=change, solver="lemke")
    outcome = solved(step)
    name = rng.choice([part for part in RECOVERED if getattr(outcome, part).size > 1])
    values = getattr(outcome, name).copy()
    i, j = rng.choice(np.flatnonzero(values != values[0]).size + 1, 2, replace=False)
    kind = ("sign", "swap", "share", "loss")[rng.integers(4)]
    if kind == "swap":
        values[[i, j]] = values[[j, i]]
    else:
        values[i] *= {"sign": -1.0, "share": 1.01, "loss": 0.0}[kind]
    return f"{kind} of {name}", replace(outcome, **{name: values})


def differs(right, wrong):
    """Whether rates differ, or, where they do not, what was recovered: impulses of one answer may be many."""
    parts = RECOVERED if np.array_equal(right.theta_dot, wrong.theta_dot) else ("theta_dot",)
    pairs = [(getattr(right, part), getattr(wrong, part)) for part in parts]
    return any(np.abs(a - b).max(initial=0.0) > CHANGED * np.abs(a).max(initial=0.0) for a, b in pairs)


@pytest.mark.parametrize("make", [quadruped, floating_four_bar, tree], ids=lambda make: make.__name__)
def test_twenty_mutations_that_change_an_outcome_are_found(make):
    step, right, found, seed = base(make), solved(base(make)), [], 0
    while len(found) < 20:
        seed += 1
        try:
            name, wrong = mutated(step, np.random.default_rng(seed))
        except (mf.NotSolvedError, NoChangeError):
            continue  # found by the solver, or no mutation
        if differs(right, wrong):
            found.append((name, seed, mf.certify_step(step, wrong).worst))
    assert len({name for name, _, _ in found}) >= 6
    assert [one for one in found if not one[2] > RIGHT] == []


def test_another_law_is_found():
    """Rolling resistance belongs to the step, the outcome knows the same rows with another radius."""
    weak, strong = ({"name": "rolling", "radius": radius} for radius in (0.001, 0.05))
    state = systems.sphere().state(theta_dot=[0.1, 0.0, 0.0, 0.0, 1.0, 0.0])
    contacts = systems.contacts_of(state, 1, mu=0.5)
    outcome = solved(mf.ContactStep(state, contacts, DT, law=weak))
    assert mf.certify_step(mf.ContactStep(state, contacts, DT, law=weak), outcome).worst <= RIGHT
    assert mf.certify_step(mf.ContactStep(state, contacts, DT, law=strong), outcome).friction >= WRONG


def test_the_outcome_of_another_step_is_refused():
    with pytest.raises(mf.ProblemError, match="belongs to another step"):
        mf.certify_step(box("frictionless"), solved(box()))


def test_what_the_step_asks_is_what_is_certified():
    step, plain = floating_four_bar("coulomb"), floating_four_bar("coulomb")
    plain.closure_bias = False
    outcome = solved(plain)
    assert mf.certify_step(plain, outcome).worst <= RIGHT
    assert mf.certify_step(step, replace(outcome, step=step)).closures > WRONG


def test_slacks_are_not_trusted():
    step = box()
    outcome = solved(step)
    assert mf.certify_step(step, replace(outcome, sigma=outcome.sigma + 1.0)).worst <= RIGHT


def test_words_say_where():
    step = box()
    outcome = solved(step)
    beta = outcome.beta.copy()
    beta[0] *= -1.0
    pulled = mf.certify_step(step, replace(outcome, beta=beta))
    assert any(word.startswith("normal: contact 0 between 'box' and 'world'") for word in pulled.words)
    assert any(word.startswith("momentum: dof 'box[2]'") for word in pulled.words)
    assert pulled.worst == max(getattr(pulled, name) for name in FIGURES)
    limit = mf.certify_step(quadruped("coulomb"), limit_pulls(quadruped("coulomb")))
    assert any("limit of dof 'FL_hip'" in word for word in limit.words)


def test_rates_that_are_no_numbers_are_no_outcome():
    step = box()
    outcome = solved(step)
    with pytest.raises(mf.ModelError):
        mf.certify_step(step, replace(outcome, theta_dot=np.full(6, np.nan)))
    lost = replace(outcome, beta=np.full_like(outcome.beta, np.nan))
    assert mf.certify_step(step, lost).worst == np.inf


def test_a_state_is_left_as_it_was():
    """What the state keeps and what a recovery needs are untouched."""
    step = quadruped("coulomb")
    formulation = mf.formulation("os")
    problem, recovery = formulation.build(step)
    solution = mf.solve(problem, throw=True)
    first = formulation.recover(recovery, solution)
    X = step.state.X.copy()
    mf.certify_step(step, first)
    assert X.tobytes() == step.state.X.tobytes()
    assert formulation.recover(recovery, solution).theta_dot.tobytes() == first.theta_dot.tobytes()


# Impacts.


def falling_box(rebound=None):
    state = systems.box().state(theta_dot=[1.0, 0.3, -2.0, 0.5, 0.2, 0.1])
    return ImpactStep(state, systems.contacts_of(state, 4, mu=0.4), rebound=rebound)


def test_an_impact_that_adds_energy_is_found_by_its_energy():
    step = falling_box()
    outcome = solved(step)
    assert mf.certify_step(step, outcome).worst <= RIGHT
    gained = mf.certify_step(step, replace(outcome, theta_dot=1.01 * step.state.theta_dot))
    assert gained.energy >= WRONG


def test_an_impact_that_is_to_open_may_add_energy():
    step = falling_box(rebound=np.full(4, 3.0))
    certificate = mf.certify_step(step, solved(step))
    assert certificate.worst <= RIGHT, str(certificate)
