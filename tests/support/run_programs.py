"""Run programs in this process, each as ``python FILE ...`` would in an empty folder.

All that programs share is imported once, and kernels are loaded once: a process each would spend most of its
time on that.
"""

import contextlib
import io
import os
import runpy
import sys
import tempfile
import traceback
from pathlib import Path


def outcome(file, *arguments):
    """Run a program; return {"status", "out", "error", "left"}, the last being names of files it has made."""
    out, error = io.StringIO(), io.StringIO()
    with (
        tempfile.TemporaryDirectory() as empty,
        contextlib.chdir(empty),
        _as_main(file, arguments),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(error),
    ):
        status = _status(file)
        left = os.listdir(empty)
    return {"status": status, "out": out.getvalue(), "error": error.getvalue(), "left": left}


def _status(file):
    try:
        runpy.run_path(file, run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


@contextlib.contextmanager
def _as_main(file, arguments):
    """Have its arguments and its folder first on the path; forget modules of that folder afterwards."""
    known, path, argv = set(sys.modules), list(sys.path), sys.argv
    sys.path.insert(0, str(Path(file).parent))
    sys.argv = [file, *arguments]
    try:
        yield
    finally:
        sys.path[:], sys.argv = path, argv
        for name in set(sys.modules) - known:
            origin = getattr(sys.modules[name], "__file__", None) or ""
            if "examples" in Path(origin).parts:
                del sys.modules[name]
