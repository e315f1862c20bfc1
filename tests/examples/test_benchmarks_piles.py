"""The benchmark of piles, made small: what a cell says, and the table that shows it."""

import io

from benchmark_modules import load
from rich.console import Console

piles = load("piles")


def test_a_cell_says_time_residual_and_how_it_ended():
    cell = piles.measure("touch", 2, 60, 60.0)
    assert cell["status"] == "SOLVED"
    assert cell["residual"] <= piles.TOL
    console = Console(width=120, record=True, file=io.StringIO())
    failed = {"status": "TIME_LIMIT", "residual": 1e-3}
    rows = [
        {"kind": "touch", "dim": 2, "aim": aim, **cell, **more} for aim, more in ((0.1, {}), (None, failed))
    ]
    console.print(piles.table(rows))
    text = console.export_text()
    assert "touch 2D" in text
    assert cell["method"] in text
    assert "TIME_LIMIT" in text
