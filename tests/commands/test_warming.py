"""`mcpframe warmup` compiles all that there is."""

import re

from mcpframe.cli import main
from mcpframe.jit import KERNELS
from mcpframe.jit.cache import _pending


def test_all_kernels_are_compiled_and_counted(capsys, monkeypatch):
    monkeypatch.delenv("MCPFRAME_QUIET", raising=False)
    assert main(["warmup"]) == 0
    told = capsys.readouterr()
    assert re.search(rf"^{len(KERNELS)} kernels are ready, after [0-9.]+ s$", told.out, re.MULTILINE)
    assert "compiling" not in told.err, "the bar tells"
    assert not _pending
    assert any(name.startswith("mcpframe.simulation.") for name in KERNELS)
