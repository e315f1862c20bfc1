"""Systems with known answers: each is run in several formulations and with several solvers."""
