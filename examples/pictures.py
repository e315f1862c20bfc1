"""Draw the pictures of README and documentation anew.

    python examples/pictures.py [--only NAME ...] [--out docs/pictures]

`report` is what a browser shows, and needs Chromium; all others need matplotlib alone. Names are those of the
files without their ending, such as concepts/laws; a folder's name draws all that is in it.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
from collections.abc import Sequence
from pathlib import Path

from drawings import PICTURES
from PIL import Image
from rich.console import Console

OUT = Path(__file__).parents[1] / "docs" / "pictures"
COLOURS, ROUNDS = 256, 3
"""Of a picture: enough for drawings, and a third of the bytes; how often the choice of them is improved."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw what is asked for."""
    options, console = parsed(arguments), Console()
    for name, draw in PICTURES.items():
        if not options.only or any(name == word or name.startswith(f"{word}/") for word in options.only):
            path = options.out / f"{name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            draw(path)
            shrink(path)
            console.print(f"{path}, {path.stat().st_size // 1024} kB", soft_wrap=True, highlight=False)
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help=f"some of {', '.join(PICTURES)}")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for the pictures")
    return parser.parse_args(arguments)


def shrink(path: Path) -> None:
    """Keep a picture with few colours."""
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(COLOURS, Image.Quantize.MEDIANCUT, kmeans=ROUNDS)
    few.save(path, optimize=True)


if __name__ == "__main__":
    raise SystemExit(main())
