"""Run a notebook in a kernel of this Python: run_notebook.py IN OUT. Sockets that it leaves die with it."""

import sys
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

LONGEST = 300
"""Seconds of a cell; the first ones compile kernels where none are cached."""


def run(source: Path, result: Path) -> None:
    manager = AsyncKernelManager()
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    manager._kernel_spec = KernelSpec(argv=command, display_name="tests", language="python")
    notebook = nbformat.read(source, as_version=4)
    NotebookClient(
        notebook, timeout=LONGEST, km=manager, resources={"metadata": {"path": result.parent}}
    ).execute()
    nbformat.write(notebook, result)


if __name__ == "__main__":
    run(Path(sys.argv[1]), Path(sys.argv[2]))
