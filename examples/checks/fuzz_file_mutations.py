"""Damage of files: bytes, archives, HDF5 trees and texts, each one way at a time, by a random generator."""

from __future__ import annotations

import io
import re
import sqlite3
import struct
import zipfile
from collections.abc import Callable

import h5py
import numpy as np

Rng = np.random.Generator
HUGE = (300_000_000, 2**31 - 1, 2**40, 2**62)
"""Sizes that a file declares without having them."""
NUMBERS = (
    *("0", "-1", "1", "1e999", "-inf", "nan", "inf", "1e-320", "1e308", "2", "0.5", "true", "''", "[]", "{}"),
    *("99999999999999999999", "-9223372036854775808", "1e5", "0x1F", "1979-05-27", '"x"', "[[1]]", "7"),
)
WORDS = (
    *(
        "name",
        "kind",
        "x",
        "nan",
        "../..",
        "/",
        "",
        "world",
        "pgs",
        "os",
        "\u0000",
        "\U0001f600",
        "a b",
        "%s",
    ),
    *(
        "1 2 3",
        "1 2",
        "0 0 0",
        "inf",
        "-1",
        "1e400",
        "file.py:f",
        "os:system",
        "lemke",
        "coulomb",
        "revolute",
    ),
)


def mutated(kind: str, content: bytes, rng: Rng) -> bytes:
    """Return a damaged file of a format: one to three kinds of damage, one after the other."""
    ways = [*BYTES, *OWN[kind] * 3]
    for _ in range(int(rng.integers(1, 4))):
        content = ways[rng.integers(len(ways))](content, rng)
    return content


def flip_bits(content: bytes, rng: Rng) -> bytes:
    """Turn a few bits over."""
    changed = bytearray(content)
    for place in rng.integers(len(content), size=int(rng.integers(1, 9))) if content else ():
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def cut(content: bytes, rng: Rng) -> bytes:
    """Leave the end away."""
    return content[: int(rng.integers(len(content) + 1))]


def drop(content: bytes, rng: Rng) -> bytes:
    """Leave a part away."""
    start, stop = sorted(rng.integers(len(content) + 1, size=2).tolist())
    return content[:start] + content[min(stop, start + 64) :]


def repeat(content: bytes, rng: Rng) -> bytes:
    """Put a part in twice."""
    start, stop = sorted(rng.integers(len(content) + 1, size=2).tolist())
    return content[:stop] + content[max(start, stop - 200) :]


def overwrite(content: bytes, rng: Rng) -> bytes:
    """Write random bytes, or the largest number, over a few others."""
    place, size = int(rng.integers(len(content) + 1)), int(rng.integers(1, 17))
    new = rng.bytes(size) if rng.integers(2) else b"\xff" * size
    return content[:place] + new + content[place + size :]


BYTES: list[Callable[[bytes, Rng], bytes]] = [flip_bits, cut, drop, repeat, overwrite]


def damage_archive(content: bytes, rng: Rng) -> bytes:
    """Change, drop, add or rename a member of an .npz file."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:
        return content
    names = list(members)
    name = names[rng.integers(len(names))] if names else "M.npy"
    match int(rng.integers(6)):
        case 0:
            members.pop(name, None)
        case 1:
            members[name] = npy(bad_array(rng))
        case 2:
            members[name] = declaring(rng)
        case 3:
            members[["../x.npy", "x/", "M", "kind.npy", "unused.npy"][rng.integers(5)]] = declaring(rng)
        case 4:
            members[name] = flip_bits(members.get(name, b""), rng)
        case _:
            other = names[rng.integers(len(names))] if names else name
            members[name] = members.get(other, b"")
    stream = io.BytesIO()
    with zipfile.ZipFile(
        stream, "w", zipfile.ZIP_DEFLATED if rng.integers(2) else zipfile.ZIP_STORED
    ) as archive:
        for key, value in members.items():
            archive.writestr(key or "x.npy", value)
    return stream.getvalue()


def npy(array: np.ndarray) -> bytes:
    """Return an array as a .npy file."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=True)
    return stream.getvalue()


def declaring(rng: Rng) -> bytes:
    """Return a .npy file whose header says more than there is behind it."""
    size = HUGE[rng.integers(len(HUGE))]
    shape = [f"({size},)", f"({size}, {size})", "(-1,)", "(3, 3)", "()", "('a',)", "(1e9,)"][rng.integers(7)]
    dtype = ["'<f8'", "'|O'", "'<U999999999'", "[('a', '<f8')]", "'<c16'", "'|V8'", "'<M8[s]'", "'|S3'"][
        rng.integers(8)
    ]
    text = f"{{'descr': {dtype}, 'fortran_order': False, 'shape': {shape}}}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(int(rng.integers(100)))


def bad_array(rng: Rng) -> np.ndarray:
    """Return an array that no field should be."""
    choices = (
        np.array([np.nan, np.inf]),
        np.array("text"),
        np.array([["a", "b"]]),
        np.array([None, {}], dtype=object),
        np.zeros((0, 3)),
        np.zeros((2, 2, 2)),
        np.array([1 + 2j]),
        np.array(-5),
        np.array([2**62, -(2**62)]),
        np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
        np.array([True]),
        np.array(b"bytes"),
        np.array([1e308, -1e308]),
        np.array('{"a": [[["deep"]]]}'),
        np.array("[1, 2"),
        np.array([3], dtype=np.uint8),
        np.array("[[" * 60_000),
    )
    return choices[rng.integers(len(choices))]


def damage_tree(content: bytes, rng: Rng) -> bytes:
    """Change an HDF5 file by h5py: values, types, sizes, links, attributes."""
    stream = io.BytesIO(content)
    try:
        with h5py.File(stream, "r+") as file:
            names: list[str] = []
            file.visit(names.append)
            if names:
                TREE[rng.integers(len(TREE))](file, names[rng.integers(len(names))], rng)
    except Exception:
        return content
    return stream.getvalue()


def _remove(file: h5py.File, name: str, rng: Rng) -> None:
    del file[name]


def _replace(file: h5py.File, name: str, rng: Rng) -> None:
    del file[name]
    array = bad_array(rng)
    file[name] = (
        h5py.Empty("f8")
        if array.dtype.kind in "UO" and rng.integers(2)
        else np.bytes_(b"t")
        if array.dtype.kind in "UO"
        else array
    )


def _declare(file: h5py.File, name: str, rng: Rng) -> None:
    """Put a dataset there that is huge and has no bytes."""
    del file[name]
    size = HUGE[rng.integers(len(HUGE))]
    file.create_dataset(
        name,
        shape=[(size,), (30_000, 30_000)][rng.integers(2)],
        chunks=True,
        dtype=["f8", "i4"][rng.integers(2)],
    )


def _to_group(file: h5py.File, name: str, rng: Rng) -> None:
    is_group = isinstance(file[name], h5py.Group)
    del file[name]
    if is_group:
        file[name] = np.zeros(3)
    else:
        file.create_group(name)


def _link(file: h5py.File, name: str, rng: Rng) -> None:
    del file[name]
    targets = (
        h5py.ExternalLink("corpus.h5", "/problems/000000"),
        h5py.ExternalLink("/etc/passwd", "/"),
        h5py.SoftLink("/"),
        h5py.SoftLink(f"/{name}"),
        h5py.SoftLink("/nowhere"),
    )
    file[name] = targets[rng.integers(len(targets))]


def _external(file: h5py.File, name: str, rng: Rng) -> None:
    """Put a dataset there whose bytes are in another file."""
    del file[name]
    if rng.integers(2):
        file.create_dataset(name, shape=(8,), dtype="f8", external=[("/etc/passwd", 0, 64)])
    else:
        layout = h5py.VirtualLayout(shape=(8,), dtype="f8")
        layout[:] = h5py.VirtualSource("corpus.h5", "problems/000000/q", shape=(8,))
        file.create_virtual_dataset(name, layout)


def _value(file: h5py.File, name: str, rng: Rng) -> None:
    item = file[name]
    if isinstance(item, h5py.Dataset) and item.size:
        values = (0, -1, 1, 2**31 - 1, 300_000_000, 3, 2)
        floats = (np.nan, np.inf, -1.0, 1e308, 0.0)
        chosen = values if item.dtype.kind in "iu" else floats
        item[int(rng.integers(item.size)) if item.ndim == 1 else ...] = chosen[rng.integers(len(chosen))]


def _attribute(file: h5py.File, name: str, rng: Rng) -> None:
    names = [*file[name].attrs] or ["kind"]
    key = [*names, "name", "layout", "provenance", "version", "format"][rng.integers(len(names) + 5)]
    where = file if key in ("version", "format") else file[name]
    array = bad_array(rng)
    where.attrs[key] = (
        ["[[1]]", "{", "7", "friction", "[]"][rng.integers(5)] if array.dtype.kind in "UO" else array
    )


def _rename(file: h5py.File, name: str, rng: Rng) -> None:
    file.move(name, f"{name.rpartition('/')[0]}/{WORDS[rng.integers(3)]}{rng.integers(9)}")


TREE: list[Callable[[h5py.File, str, Rng], None]] = [
    *(_remove, _replace, _declare, _to_group, _link, _external, _value, _value, _attribute, _rename)
]


def damage_number(content: bytes, rng: Rng) -> bytes:
    """Write something else in the place of a number."""
    return _substituted(rb"-?\d+(\.\d*)?(e-?\d+)?", content, rng, NUMBERS)


def damage_text(content: bytes, rng: Rng) -> bytes:
    """Write something else between quotes."""
    return _substituted(rb'(?<=")[^"\n]*(?=")', content, rng, WORDS)


def damage_word(content: bytes, rng: Rng) -> bytes:
    """Put one word of the file in the place of another."""
    words = sorted(set(re.findall(rb"[A-Za-z_]\w*", content))) or [b"x"]
    return _substituted(rb"[A-Za-z_]\w*", content, rng, [words[rng.integers(len(words))].decode()])


def damage_lines(content: bytes, rng: Rng) -> bytes:
    """Drop, repeat or swap lines."""
    lines = content.split(b"\n")
    i, j = rng.integers(len(lines), size=2).tolist()
    match int(rng.integers(3)):
        case 0:
            del lines[i]
        case 1:
            lines.insert(j, lines[i])
        case _:
            lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def nest(content: bytes, rng: Rng) -> bytes:
    """Put a value there that is nested deeply."""
    depth = int(rng.choice([3, 400, 20_000]))
    return _substituted(rb"-?\d+(\.\d*)?(e-?\d+)?", content, rng, ["[" * depth + "1" + "]" * depth])


def nest_elements(content: bytes, rng: Rng) -> bytes:
    """Put elements there that are nested deeply, or that stand for many others."""
    if rng.integers(2):
        depth = int(rng.choice([3, 400, 20_000]))
        tag = ["link", "x", "body", "geometry"][rng.integers(4)].encode()
        return _substituted(
            rb"(?<=>)\s*(?=<)", content, rng, [(b"<%s>" % tag * depth + b"</%s>" % tag * depth).decode()]
        )
    entities = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10 if k else "lol"}">' for k in range(9))
    return re.sub(rb"(?=<(robot|mujoco)\b)", f"<!DOCTYPE r [{entities}]>".encode(), content, count=1).replace(
        b'name="', b'name="&e8;', 1
    )


def _substituted(pattern: bytes, content: bytes, rng: Rng, choices: list[str] | tuple[str, ...]) -> bytes:
    found = [match.span() for match in re.finditer(pattern, content)]
    if not found:
        return content
    start, stop = found[rng.integers(len(found))]
    return content[:start] + choices[rng.integers(len(choices))].encode() + content[stop:]


def damage_rows(content: bytes, rng: Rng) -> bytes:
    """Write something else into a column of an SQLite file, drop a table, or rename a column."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(content)
        tables = connection.execute("select name from sqlite_master where type = 'table'").fetchall()
        (table,) = tables[rng.integers(len(tables))]
        columns = [row[1] for row in connection.execute(f"pragma table_info('{table}')")]
        column = columns[rng.integers(len(columns))]
        value = [*NUMBERS, *WORDS][rng.integers(len(NUMBERS) + len(WORDS))]
        match int(rng.integers(8)):
            case 0:
                connection.execute(f"drop table '{table}'")
            case 1:
                connection.execute(f"alter table '{table}' rename column '{column}' to 'x'")
            case 2:
                connection.execute(f"delete from '{table}'")
            case 3:
                connection.execute(f"update '{table}' set '{column}' = ?", (rng.bytes(8),))
            case _:
                connection.execute(f"update or ignore '{table}' set '{column}' = ?", (value,))
        connection.commit()
        return connection.serialize()
    except sqlite3.Error:
        return content
    finally:
        connection.close()


TEXT = [damage_number, damage_number, damage_text, damage_text, damage_word, damage_lines]
OWN: dict[str, list[Callable[[bytes, Rng], bytes]]] = {
    "npz": [damage_archive] * 4,
    "corpus": [damage_tree] * 4,
    "fclib": [damage_tree] * 4,
    "urdf": [*TEXT, nest_elements],
    "mjcf": [*TEXT, nest_elements],
    "scene": [*TEXT, nest],
    "study": [*TEXT, nest],
    "nl": TEXT,
    "trajectory": [damage_tree] * 4,
    "store": [damage_rows] * 2,
}
"""Damage that knows a format."""
