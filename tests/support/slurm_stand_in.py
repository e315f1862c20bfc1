"""Commands of Slurm that run jobs on this machine: sbatch, srun, sacct and scancel, by the name of the file.

`install(folder)` writes them. Jobs of an array run one after the other, detached from who submitted them, and
leave their states in the folder.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

COMMANDS = ("sbatch", "srun", "sacct", "scancel")


def install(folder: Path) -> None:
    """Write the commands; a PATH that begins with the folder finds them."""
    folder.mkdir(parents=True)
    for name in COMMANDS:
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {sys.executable} {__file__} {folder} {name} "$@"\n')
        script.chmod(0o755)


def sbatch(folder: Path, script: str) -> None:
    """Start a script for each job of its array, and print its number."""
    number = 100 + len(list(folder.glob("*.state")))
    array = re.search(r"^#SBATCH --array=0-(\d+)", Path(script).read_text(), re.MULTILINE)
    names = [f"{number}_{k}" for k in range(int(array[1]) + 1)] if array else [str(number)]
    for name in names:
        (folder / f"{name}.state").write_text("PENDING")
    words = [sys.executable, __file__, str(folder), "run", script, *names]
    subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(f"Submitted batch job {number}")


def run(folder: Path, script: str, *names: str) -> None:
    """Run the jobs of an array one after the other."""
    for name in names:
        job, _, task = name.partition("_")
        ids = {"SLURM_ARRAY_JOB_ID": job, "SLURM_ARRAY_TASK_ID": task} if task else {}
        one = {"SLURM_NTASKS": "1", "SLURM_JOB_NUM_NODES": "1", "SLURM_JOB_NODELIST": "here"}
        ranks = dict.fromkeys(("SLURM_NODEID", "SLURM_PROCID", "SLURM_LOCALID"), "0")
        (folder / f"{name}.state").write_text("RUNNING")
        done = subprocess.run(["bash", script], env=os.environ | {"SLURM_JOB_ID": job} | ids | one | ranks)
        (folder / f"{name}.state").write_text("FAILED" if done.returncode else "COMPLETED")


def srun(folder: Path, *words: str) -> None:
    """Run a command with its output in the files that are asked for."""
    given = list(words)
    files = {}
    while given[0].startswith("--"):
        flag = given.pop(0)
        if flag in ("--output", "--error"):
            files[flag] = Path(_filled(given.pop(0)))
    with files["--output"].open("ab") as out, files["--error"].open("ab") as error:
        raise SystemExit(subprocess.run(given, stdout=out, stderr=error).returncode)


def _filled(pattern: str) -> str:
    job, task = os.environ["SLURM_JOB_ID"], os.environ.get("SLURM_ARRAY_TASK_ID", "")
    return pattern.replace("%j", job).replace("%A", job).replace("%a", task).replace("%t", "0")


def sacct(folder: Path, *words: str) -> None:
    """Print the states of all jobs."""
    print("JobID|State|NodeList")
    for state in sorted(folder.glob("*.state")):
        print(f"{state.stem}|{state.read_text()}|here")


def scancel(folder: Path, *words: str) -> None:
    """Do nothing: jobs of a test end by themselves."""


if __name__ == "__main__":
    globals()[sys.argv[2]](Path(sys.argv[1]), *sys.argv[3:])
