"""Docstrings as the reference shows them: ``_|_`` is ⟂, and names that share a line get one each.

Docstrings say ``lower, upper: bounds [n]``, where the reference looks for one name at a time, to add its type
and default.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

SHARED = re.compile(r"^( {4})(\w+(?:, \w+)+): (.*(?:\n {8}.*)*)", re.MULTILINE)


class OneNameEach(Extension):
    """Rewrites the docstring of every object as it is read."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Rewrite the docstring of an object that has one."""
        if obj.docstring:
            obj.docstring.value = rewritten(obj.docstring.value)


def rewritten(docstring: str) -> str:
    """Return a docstring with ⟂ for ``_|_`` and an entry for every name."""
    return SHARED.sub(_entries, docstring.replace("_|_", "⟂"))


def _entries(match: re.Match[str]) -> str:
    indent, names, text = match.groups()
    return "\n".join(f"{indent}{name}: {text}" for name in names.split(", "))
