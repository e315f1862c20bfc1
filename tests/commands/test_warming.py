"""`mcpframe warmup` compiles all that there is."""

import re

import pytest

from mcpframe.cli import main
from mcpframe.commands.warming import _import
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


def test_what_is_not_installed_is_passed_over_but_not_what_is_broken_here(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "needs_an_extra.py").write_text("import no_such_package\n")
    (tmp_path / "is_broken.py").write_text("from mcpframe.jit import no_such_name\n")
    _import("needs_an_extra")
    with pytest.raises(ImportError, match="no_such_name"):
        _import("is_broken")
