"""Print the lowest versions that pyproject.toml declares, as constraints for pip; see `make lowest`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

BOUND = re.compile(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)")


def lowest() -> list[str]:
    """Return ``name==version`` for every dependency of the package itself."""
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    found = [BOUND.match(entry) for entry in tomllib.loads(text)["project"]["dependencies"]]
    return [f"{match[1]}=={match[2]}" for match in found if match is not None]


if __name__ == "__main__":
    print("\n".join(lowest()))
