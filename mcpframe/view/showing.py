"""`Trajectory.plot` and `Trajectory.show`: a run as pictures in a notebook, or in the browser."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from mcpframe.exceptions import FileFormatError, OptionError
from mcpframe.multibody.model.node import Node
from mcpframe.notebook.progress import in_notebook
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.view.plots import save_page
from mcpframe.view.strip import save_gif, save_strip
from mcpframe.view.viewer import play

FPS, LONGEST = 12.5, 6.0
"""Pictures per second and seconds of a film; a longer run is played faster, so that it stays small."""


@dataclass(frozen=True, eq=False, repr=False)
class Picture:
    """A picture or a film that a notebook shows as the value of a cell.

    Attributes:
        kind: "png" or "gif".
        data: what its file holds.
    """

    kind: str
    data: bytes

    def __repr__(self) -> str:
        return f"Picture({self.kind!r}, {len(self.data) // 1000} kB)"

    def _repr_html_(self) -> str:
        text = b64encode(self.data).decode()
        return f'<img src="data:image/{self.kind};base64,{text}" style="max-width:100%">'

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture to a file and return its path."""
        try:
            Path(path).write_bytes(self.data)
        except OSError as error:
            raise FileFormatError(f"{path}: the picture cannot be written ({error.strerror})") from None
        return Path(path)


def plots(trajectory: Trajectory, node: Node | str | None = None) -> Picture:
    """Return motion, energy, contacts and solve time of a run on one page."""
    return _picture("png", lambda path: save_page(trajectory, path, node))


def strip(trajectory: Trajectory) -> Picture:
    """Return pictures of a run side by side."""
    return _picture("png", lambda path: save_strip(trajectory, path))


def film(trajectory: Trajectory) -> Picture:
    """Return a film of a run that repeats, of `LONGEST` seconds at the most."""
    span = float(trajectory.time[-1] - trajectory.time[0]) if len(trajectory) else 0.0
    return _picture("gif", lambda path: save_gif(trajectory, path, FPS, max(1.0, span / LONGEST)))


def show(trajectory: Trajectory, in_strip: bool = False) -> None:
    """Show a run below the cell of a notebook, elsewhere in the browser until Ctrl-C is pressed."""
    if in_notebook():
        import_module("IPython.display").display(strip(trajectory) if in_strip else film(trajectory))
        return
    if in_strip:
        raise OptionError(
            "strip: shown in a notebook only; mcpframe.view.strip.save_strip writes it to a file"
        )
    play(trajectory)


def _picture(kind: str, save: Callable[[Path], Path]) -> Picture:
    with TemporaryDirectory() as folder:
        return Picture(kind, save(Path(folder, f"picture.{kind}")).read_bytes())
