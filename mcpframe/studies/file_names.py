"""Names of studies, sources and cases as names of files: none of them leads out of its folder."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

MOST = 200
"""Bytes of a name; file systems take 255, and a digest and suffixes follow."""
UNSAFE = re.compile(r"[^\w=.,+-]")
RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)")
"""Names that are devices on Windows."""


def file_name(name: str) -> str:
    """Return a name under which a file or folder can be made, on every system, within the folder it is for.

    Slashes and spaces become underscores. Where more than that is changed, a digest of the name follows, so
    that two names do not meet in one file.

    >>> file_name("pendulum/links=12"), file_name("../../etc")
    ('pendulum_links=12', '_etc-74ccf3c5')
    """
    plain = re.sub(r"[/ ]", "_", name)
    safe = UNSAFE.sub("_", plain).encode()[:MOST].decode(errors="ignore").rstrip(".")
    if not safe or safe.startswith(".") or RESERVED.match(safe):
        safe = f"_{safe.lstrip('._')}"
    if safe == plain:
        return safe
    return f"{safe}-{hashlib.sha256(name.encode(errors='replace')).hexdigest()[:8]}"


def is_within(path: Path, *folders: Path) -> bool:
    """Tell whether a path, whether or not it is there, lies in one of some folders; links are followed."""
    return any(path.resolve().is_relative_to(folder.resolve()) for folder in folders)
