"""Folders that are made where they are missing."""

from __future__ import annotations

from pathlib import Path

from mcpframe.exceptions import OptionError


def make_folder(folder: Path, asked: str) -> list[Path]:
    """Make a folder and those above it; return the new ones, innermost first.

    Args:
        folder: may be there already.
        asked: who wants it, the start of an error: "--out".
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"{asked} {folder}: cannot be made a folder ({error.strerror})") from None
    return made
