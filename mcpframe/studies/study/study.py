"""What a study compares: sources of problems, formulations and solvers, and how its rows are made."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import Field

from mcpframe.exceptions import OptionError
from mcpframe.io.trust import Code
from mcpframe.notebook import html
from mcpframe.scene.settings import Positive, Settings
from mcpframe.solving.plugin import AbstractFormulation, AbstractPlugin, AbstractSolver
from mcpframe.solving.registry import FORMULATIONS, SOLVERS
from mcpframe.studies.sources.source import AbstractSource, Place, Recording, Start


class RunSettings(Settings):
    """How the rows of a study are made: the keys at the top of a study file."""

    tol: Positive = Field(1e-9, description="residual of the worst row of a solved problem, over 1 + its q")
    time_limit: Positive = Field(10.0, description="longest a solve may take, s; what goes on is stopped")
    build_limit: Positive = Field(300.0, description="longest a formulation may take to build or recover, s")
    warm_limit: Positive = Field(
        60.0, description="longest a solver may take over the tiny problem by which it is warmed up, s"
    )
    repeats: int = Field(1, ge=1, description="how often every solve is timed")
    starts: list[Start] = Field(["cold"], min_length=1, description="cold, warm or both")
    threads: int = Field(1, ge=1, description="threads of linear algebra in every worker")
    seed: int = Field(0, ge=0, description="of random states")
    labels: bool = Field(True, description="label every problem: rank, condition, sticking or sliding, ...")
    imports: list[str] = Field(
        [],
        description="modules, or .py files, that register solvers, formulations, laws or systems of your own",
    )


@dataclass(frozen=True)
class Setting:
    """One column of a study: a plugin with its options.

    Attributes:
        label: what the column is called.
        name: of the plugin.
        options: of the plugin.
    """

    label: str
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def formulation(self) -> AbstractFormulation:
        """Return the formulation."""
        return FORMULATIONS.create(self.name, self.options)

    def solver(self) -> AbstractSolver:
        """Return the solver."""
        return SOLVERS.create(self.name, self.options)


@dataclass(frozen=True, repr=False)
class Study:
    """A study, checked; plain values, so that it can be sent to other processes.

    Attributes:
        name: for folders and titles.
        settings: how rows are made.
        sources: where problems come from.
        formulations: of the sources that give steps.
        solvers: settings to compare.
        folder: against which paths are meant.
        text: the file.
        published: figures that the report shows beside those of the study.
        code: whether modules and functions that it and its scenes name may be imported.
    """

    name: str
    settings: RunSettings
    sources: tuple[AbstractSource, ...]
    formulations: tuple[Setting, ...]
    solvers: tuple[Setting, ...]
    folder: Path
    text: str = ""
    published: tuple[Mapping[str, Any], ...] = ()
    code: Code = Code.RUN

    def __repr__(self) -> str:
        sizes = (self.sources, self.formulations, self.solvers)
        counts = zip(("sources", "formulations", "solvers"), map(len, sizes), strict=True)
        return f"Study({self.name!r}, {', '.join(f'{name}={count}' for name, count in counts)})"

    def _repr_html_(self) -> str:
        way = self.settings
        about = {
            "problems": ", ".join(f"{source.name} ({source.kind})" for source in self.sources),
            "formulations": ", ".join(setting.label for setting in self.formulations),
            "solvers": ", ".join(setting.label for setting in self.solvers),
            "starts": ", ".join(way.starts),
            "each solve": f"up to {way.time_limit:g} s, tol {way.tol:g}, timed {way.repeats} x",
            "folder": self.folder,
        }
        return html.card(f"Study {self.name!r}", about)

    def place(self, recordings: Mapping[int, Recording] | None = None) -> Place:
        """Return what a source needs beside itself."""
        return Place(self.folder, self.settings.seed, recordings or {}, self.code)

    def starts(self, source: AbstractSource) -> list[Start]:
        """Return how the rows of a source start."""
        return self.settings.starts if source.starts is None else source.starts

    def load_imports(self) -> None:
        """Import the modules that register plugins, as far as that is allowed.

        Raises:
            OptionError: it is not, or one cannot be imported.
        """
        for name in self.settings.imports:
            _check_module(name, self.folder)
            if self.code.admits(name):
                import_plugins(name, self.folder)

    @property
    def unseen(self) -> bool:
        """Whether there are plugins that only code which is left alone would register."""
        return self.code is Code.SKIP and bool(self.settings.imports)

    def config(self) -> dict[str, Any]:
        """Return all that decides what the rows are, as plain values; of files, their digests."""
        return {
            "settings": self.settings.model_dump(),
            "problems": {source.name: self._source_config(source) for source in self.sources},
            "formulations": {
                setting.label: _resolved(setting.name, setting.formulation()) for setting in self.formulations
            },
            "solvers": {setting.label: _resolved(setting.name, setting.solver()) for setting in self.solvers},
        }

    def _source_config(self, source: AbstractSource) -> dict[str, Any]:
        files = {path.name: path.read_bytes() for path in source.files(self.place())}
        contents = {**files, **source.contents(self.place())}
        digests = {name: hashlib.sha256(data).hexdigest()[:16] for name, data in contents.items()}
        return {"kind": source.kind, **source.model_dump(), "files": digests}


def _resolved(name: str, plugin: AbstractPlugin) -> dict[str, Any]:
    """Return a plugin's name and all its options, the defaults included."""
    return {"name": name, **plugin.model_dump(mode="json")}


def _check_module(name: str, folder: Path) -> None:
    """Raise OptionError where there is no file of that name; modules are found when they are imported."""
    if name.endswith(".py") and not (folder / name).is_file():
        raise OptionError(f"imports: {name!r}: there is no such file in {folder}")


def import_plugins(name: str, folder: Path) -> None:
    """Import a module by its name, or a .py file by its path; what it registers can then be used."""
    try:
        if not name.endswith(".py"):
            importlib.import_module(name)
            return
        path = (folder / name).resolve()
        module_name = f"mcpframe_study_{path.stem}"
        if module_name in sys.modules and sys.modules[module_name].__file__ == str(path):
            return
        spec = importlib.util.spec_from_file_location(module_name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        spec.loader.exec_module(module)
    except Exception as error:
        raise OptionError(
            f"imports: {name!r} cannot be imported ({type(error).__name__}: {error})"
        ) from error
