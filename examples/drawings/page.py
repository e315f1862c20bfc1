"""The report of a small study of formulations and solvers, as a browser shows it."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import mcpframe as mf
from mcpframe.studies.report import write_report

STUDY = {
    "name": "formulations and solvers",
    "formulations": ["os", "mc", "nmc_os", "nmc"],
    "solvers": ["lemke", "auto", "path", "newton", "ipm", "pgs"],
    "time_limit": 5.0,
    "repeats": 5,
    "problems": [
        {"system": "pendulum", "parameters": {"links": [6, 12]}, "states": 3},
        {"system": "quadruped", "states": 3},
        {"system": "dual_arm", "states": 3},
    ],
}
START = "h2:has-text('solver')"
"""Where the picture begins, below the bar of filters: the grid of formulations and solvers."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
WINDOW = {"width": 1100, "height": 760}
PATIENCE = 60_000
"""Milliseconds that a loaded machine may take to open five megabytes of scripts."""


def report(path: Path) -> Path:
    """Run the study and write a picture of its report, from the grid on."""
    with TemporaryDirectory() as folder:
        results = mf.run_study(STUDY, out=folder, progress=True)
        return screenshot(write_report(results.rows, results.header, results.folder), path)


def screenshot(page: Path, path: Path, start: str = START) -> Path:
    """Write a picture of a page as a browser shows it, scrolled to an element."""
    from playwright.sync_api import sync_playwright

    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise SystemExit(f"the picture of a page needs one of {', '.join(BROWSERS)}")
    with sync_playwright() as player:
        tab = player.chromium.launch(executable_path=browser, args=FLAGS).new_page(viewport=WINDOW)
        tab.goto(page.absolute().as_uri(), timeout=PATIENCE)
        tab.locator(start).first.evaluate("heading => { heading.scrollIntoView(); scrollBy(0, -90); }")
        tab.wait_for_timeout(1000)  # charts are drawn when they come into sight
        tab.screenshot(path=path)
    return path
