"""Environments of their own for packages that tests install.

    python environments.py FOLDER SOURCE

makes one in a folder and installs a package into it, as ``make plugin`` does.
"""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path


class Environment:
    """A new environment that also sees the packages of this one."""

    def __init__(self, folder):
        venv.create(folder, with_pip=False, symlinks=True)
        self.python = folder / "bin" / "python"
        site_packages = next((folder / "lib").glob("python*/site-packages"))
        here = sysconfig.get_path("purelib")
        # addsitedir, not a bare path: it also runs the .pth files there, which editable installs need.
        (site_packages / "parent.pth").write_text(f"import site; site.addsitedir({here!r})\n")

    def install(self, source):
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "install", "--quiet"]
        offline = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
        subprocess.run([*pip, *offline, str(source)], check=True)

    def run(self, code, folder=None):
        return subprocess.run([str(self.python), "-c", code], cwd=folder, capture_output=True, text=True)


if __name__ == "__main__":
    folder, source = map(Path, sys.argv[1:])
    Environment(folder).install(source)
