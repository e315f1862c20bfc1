"""Fuzz of files: damaged and hostile ones through every reader, which must refuse them in words.

    python examples/checks/fuzz_files.py [N] [--formats npz,scene] [--seed 0] [--first 0] [--keep FOLDER]

N files (2,000) of each format: .npz, HDF5 corpus, FCLIB, URDF, MJCF, scene and study TOML, .nl, trajectory,
store of a study. File k of a seed is always the same: fuzz_file_mutations.py damages what fuzz_file_seeds.py
makes. It is a breach when a reader
  raises anything but an error of mcpframe, or one that does not name the file,
  prints a traceback, changes the file, or makes another one,
  takes more than 10 s of processor time or 1 GB of memory, hangs, or brings the process down.
Exit status 1 on a breach; such files go to the folder of --keep.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import contextlib
import multiprocessing as mp
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_file_mutations import mutated
from fuzz_file_seeds import SUFFIXES, companions, seeds

from mcpframe.exceptions import McpframeError
from mcpframe.io.corpus import Corpus
from mcpframe.io.detect import open_records
from mcpframe.io.fclib import read_fclib
from mcpframe.io.mjcf import load_mjcf
from mcpframe.io.npz import load_record
from mcpframe.io.trust import Code
from mcpframe.io.urdf import load_urdf
from mcpframe.modelling.nl import load_nl
from mcpframe.scene.scene_file import load_scene
from mcpframe.simulation.recording.trajectory import Trajectory
from mcpframe.studies.study.store import Store
from mcpframe.studies.study.study_file import load_study

SECONDS = 10.0
"""Processor time that a file may take at most; what waits for ever is found by the wall clock."""
MEMORY = 1 << 30
"""Bytes that a reader may take beyond what the process has."""
READ, REFUSED = "read", "refused"


@dataclass(frozen=True)
class Breach:
    """Something that must not happen, with the file that it happens on."""

    kind: str
    index: int
    what: str


def read_corpus(path: Path) -> None:
    """Read every problem of a corpus."""
    with Corpus(path) as corpus:
        corpus.texts()
        list(corpus)


def read_trajectory(path: Path) -> None:
    """Read a run, as plots and the viewer do."""
    run = Trajectory.load(path)
    run.contacts_at(0), run.impacts_at(-1), run.switches, run.total_energy, repr(run)
    run.link_poses(np.flatnonzero(np.isfinite(run.theta).all(axis=1)))


def read_store(path: Path) -> None:
    """Read all rows of a study."""
    with Store.read(path) as store:
        store.header, store.rows()


def read_any(path: Path) -> None:
    """Read the problems of a file as `mcpframe solve` does."""
    with open_records(path) as records:
        list(records)


READERS: dict[str, tuple[Callable[[Path], Any], ...]] = {
    "npz": (load_record, read_any),
    "corpus": (read_corpus, read_any),
    "fclib": (read_fclib, read_any),
    "urdf": (load_urdf,),
    "mjcf": (load_mjcf,),
    "scene": (partial(load_scene, allow_code=False),),
    "study": (partial(load_study, allow_code=False), partial(load_study, allow_code=Code.SKIP)),
    "nl": (load_nl,),
    "trajectory": (read_trajectory,),
    "store": (read_store,),
}
"""Who reads a format."""


def fuzz(
    kind: str, indices: Iterable[int], seed: int = 0, keep: Path | None = None
) -> tuple[Counter[str], list[Breach]]:
    """Read damaged files of one format; return how many were read and refused, and the breaches."""
    counts: Counter[str] = Counter()
    breaches: list[Breach] = []
    with tempfile.TemporaryDirectory() as place:
        made = seeds(kind, _made(Path(place) / "seeds"))
        waiting = list(indices)
        while waiting:
            for index, outcome in _watched(kind, made, list(waiting), seed, Path(place)):
                waiting.remove(index)
                counts[outcome if outcome in (READ, REFUSED) else "breach"] += 1
                if outcome not in (READ, REFUSED):
                    breaches.append(Breach(kind, index, outcome))
                    if keep is not None:
                        content = case(kind, made, index, seed)
                        (_made(keep) / f"{kind}-{index}{SUFFIXES[kind]}").write_bytes(content)
    return counts, breaches


def case(kind: str, made: Sequence[bytes], index: int, seed: int) -> bytes:
    """Return the index-th damaged file of a format."""
    rng = np.random.default_rng([seed, [*SUFFIXES].index(kind), index])
    return mutated(kind, made[rng.integers(len(made))], rng)


def _watched(
    kind: str, made: Sequence[bytes], indices: Sequence[int], seed: int, place: Path
) -> Iterator[tuple[int, str]]:
    """Read files in a process of its own; yield what became of each, up to one that ends the process."""
    ours, theirs = mp.Pipe()
    process = mp.Process(target=_serve, args=(theirs, kind, made, indices, seed, place))
    process.start()
    theirs.close()
    try:
        for index in indices:
            if not ours.poll(2 * SECONDS + 50.0):
                yield index, "hangs"
                return
            try:
                yield index, ours.recv()
            except EOFError:
                process.join()
                yield index, f"brings the process down (exit status {process.exitcode})"
                return
    finally:
        process.kill()
        process.join()


def _serve(
    pipe: Connection, kind: str, made: Sequence[bytes], indices: Sequence[int], seed: int, place: Path
) -> None:
    """Read files one after the other, in a folder whose contents are known."""
    folder = Path(tempfile.mkdtemp(dir=place))
    companions(folder)
    os.chdir(folder)
    path = folder / f"fuzzed{SUFFIXES[kind]}"
    _limit_memory()
    printed = folder.parent / f"{folder.name}.txt"
    with printed.open("w+b") as said:
        for number in (1, 2):
            os.dup2(said.fileno(), number)
        for index in indices:
            content = case(kind, made, index, seed)
            path.write_bytes(content)
            pipe.send(_judged(kind, path, content, said))


def _judged(kind: str, path: Path, content: bytes, said: Any) -> str:
    """Return READ, REFUSED, or what is wrong."""
    before = _listing(path.parent)
    outcome = READ
    for read in READERS[kind]:
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read(path)
        except McpframeError as error:
            outcome = REFUSED
            if path.name not in str(error):
                return f"{_name(read)}: does not name the file: {error}"[:300]
        except BaseException as error:
            return f"{_name(read)}: {type(error).__name__}: {error}"[:300]
        if time.process_time() - start > SECONDS:
            return f"{_name(read)}: took {time.process_time() - start:.0f} s"
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    if said.seek(0, os.SEEK_END):
        said.seek(0)
        text = said.read().decode(errors="replace")
        said.truncate(0)
        if "Traceback" in text:
            return f"prints {text[-200:]!r}"
    if path.read_bytes() != content:
        return "changes the file"
    if _listing(path.parent) != before:
        return f"makes files: {sorted(_listing(path.parent) - before)}"
    return outcome


def _name(read: Callable[[Path], Any]) -> str:
    return str(getattr(read, "__name__", getattr(getattr(read, "func", read), "__name__", "reader")))


def _listing(folder: Path) -> set[tuple[str, int]]:
    return {(str(path), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


def _limit_memory() -> None:
    """Refuse memory beyond what is needed, where the system can."""
    with contextlib.suppress(ImportError, OSError):
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY,) * 2)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the fuzz from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("n", nargs="?", type=int, default=2000, help="files of each format")
    parser.add_argument("--formats", default=",".join(SUFFIXES), help="which, with commas between")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first file")
    parser.add_argument(
        "--keep", type=Path, default=Path("out/fuzz-files"), help="folder for files of breaches"
    )
    options = parser.parse_args(arguments)
    found: list[Breach] = []
    for kind in options.formats.split(","):
        start = time.perf_counter()
        indices = range(options.first, options.first + options.n)
        counts, breaches = fuzz(kind, indices, options.seed, options.keep)
        seconds = time.perf_counter() - start
        print(
            f"{kind:7} {counts[REFUSED]:6} refused {counts[READ]:6} read {len(breaches):4} breaches "
            f"{seconds:7.1f} s",
            flush=True,
        )
        for breach in breaches:
            print(f"  {breach.kind} {breach.index}: {breach.what}")
        found += breaches
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
