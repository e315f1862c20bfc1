"""Sizes that an MJCF file declares, checked before MuJoCo's compiler takes time and memory for them."""

from __future__ import annotations

import math
from pathlib import Path
from xml.parsers import expat

from mcpframe.exceptions import FileFormatError
from mcpframe.io.untrusted import check_size

MOST_COPIES = 10_000
"""Bodies that <replicate>, <composite> and <flexcomp> may make of one, those within each other multiplied."""
ENTRIES = {"hfield": (("nrow", "ncol"), 4), "texture": (("width", "height"), 3)}
"""Attributes whose product counts the entries of an element, and bytes of an entry."""


def check_sizes(path: Path, content: bytes) -> None:
    """Refuse elements of a file that declare more than fits it; files that it includes are not looked at.

    Raises:
        FileFormatError: there are too many copies, or too large heights or textures.
    """
    parser, copies = expat.ParserCreate(), [1.0]

    def start(tag: str, attributes: dict[str, str]) -> None:
        where = f"{path}: line {parser.CurrentLineNumber}: <{tag}>"
        copies.append(copies[-1] * _product(attributes.get("count", "1")))
        if copies[-1] > MOST_COPIES:
            raise FileFormatError(f"{where}: makes {copies[-1]:.3g} copies; at most {MOST_COPIES:,}")
        names, width = ENTRIES.get(tag, ((), 0))
        entries = math.prod(_product(attributes.get(name, "0")) for name in names)
        check_size(where, int(entries) * width, len(content))

    def end(tag: str) -> None:
        copies.pop()

    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(content, True)
    except expat.ExpatError:
        return  # MuJoCo says what is wrong with it, and reads some XML that is not strict


def _product(text: str) -> float:
    """Return the product of the numbers of an attribute, 1 where it holds none: MuJoCo refuses that."""
    try:
        found = math.prod(max(1.0, float(word)) for word in text.split())
    except ValueError:
        return 1.0
    return found if math.isfinite(found) else float(1 << 62)
