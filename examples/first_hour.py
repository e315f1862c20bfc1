"""Walk through the first hour of a newcomer, as its page of the documentation has it, and time every part.

    python examples/first_hour.py [--here] [--page docs/first-hour.md] [--only PART]

Clones this repository into an empty folder and makes an environment there, then takes the page section by
section: blocks that begin with the name of a file are written to it, those of the shell are run. With --here
the environment of this Python is used in the clone, and nothing is installed. Ends at the first command that
fails, with its exit status.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from benchmarks.reporting.pages import Remembering
from rich.table import Table

from mcpframe.studies.running.machine import provenance

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "first-hour.md"
SECTION = re.compile(r"^## (.*)$", re.MULTILINE)
BLOCK = re.compile(r"^```(python|toml|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INSTALL = "Install"


def main() -> int:
    options, facts = parsed(), provenance()  # of what is cloned, whatever is committed meanwhile
    console = Remembering(options.page)
    table = Table("part", "processor s", "wall s", title="A first hour")
    with tempfile.TemporaryDirectory() as folder:
        clone, environment = prepared(Path(folder), options.here)
        for part, blocks in sections():
            if options.only not in part or (options.here and part == INSTALL):
                continue
            console.print(f"{part} ...")
            before, start = spent(), perf_counter()
            for language, text in blocks:
                done(language, text, clone, environment)
            table.add_row(part, f"{spent() - before:.0f}", f"{perf_counter() - start:.0f}")
    console.print(table)
    told = "{cores} x {cpu}".format(**facts["machine"])
    console.put({"machine": told, "commit": facts["commit"], "Python": facts["python"]})
    return 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--here", action="store_true", help="install nothing, use this environment")
    parser.add_argument("--page", default="", metavar="FILE", help="put the times into this page")
    parser.add_argument("--only", default="", metavar="PART", help="parts with this in their title")
    return parser.parse_args()


def prepared(folder: Path, here: bool) -> tuple[Path, dict[str, str]]:
    """Return a clone of this repository, and the variables under which its commands run."""
    clone = folder / "mcpframe"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    bin_folder, variables = Path(sys.executable).parent, dict(os.environ)
    if not here:
        variables.pop("PYTHONPATH", None)  # what is installed is to be found, not what is beside it
        subprocess.run([sys.executable, "-m", "venv", str(clone / ".venv")], check=True)
        bin_folder = clone / ".venv" / "bin"
    path = os.pathsep.join([str(bin_folder), os.environ.get("PATH", "")])
    return clone, {**variables, "PATH": path, "OPENBLAS_NUM_THREADS": "1"}


def sections() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the title of every section with its blocks."""
    _, *parts = SECTION.split(PAGE.read_text(encoding="utf-8"))
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        yield title, BLOCK.findall(text)


def done(language: str, text: str, folder: Path, environment: dict[str, str]) -> None:
    """Write a block to its file, or run it."""
    if language == "sh":
        run = subprocess.run(["bash", "-ec", text], cwd=folder, env=environment)
        if run.returncode:
            raise SystemExit(run.returncode)
    else:
        (folder / text.split("\n", 1)[0].removeprefix("# ")).write_text(text, encoding="utf-8")


def spent() -> float:
    """Return the processor seconds of all commands so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
