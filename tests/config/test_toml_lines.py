"""Lines of keys: every key that tomllib finds has its line, in every way to write TOML."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from mcpframe.config.toml_lines import lines_of

ROOT = Path(__file__).parents[2]

TEXT = '''# a comment with [brackets] = and "quotes"
title = "a # that is no comment"   # and one that is
point = [1, 2,
  3,  # inside
]
"quoted key".'other' = 'literal \\'
a.b.c = { x = 1, y = [ {z = "}"}, {z = ']'} ] }

[table]
text = """
[not a table]
key = 1
quotes at the end"""""
path = \'\'\'C:\\new
[[neither]]\'\'\'
date = 1979-05-27T07:32:00Z

  [ table . "sub table" ]
  number = 1e-3

[[part]]
name = "first"
[[part.link]]
name = "one"
geometry = [
  { shape = "box" },
  { shape = "sphere" },
]
[[part.link]]
name = "two"
[part.link.pose]
xyz = [0, 0, 0]
[[part]]
name = "second"
[[part.link]]
name = "three"
'''

EXPECTED = {
    ("title",): 2,
    ("point",): 3,
    ("point", 1): 3,
    ("point", 2): 4,
    ("quoted key", "other"): 6,
    ("a",): 7,
    ("a", "b", "c", "y", 1, "z"): 7,
    ("table",): 9,
    ("table", "text"): 10,
    ("table", "path"): 14,
    ("table", "date"): 16,
    ("table", "sub table"): 18,
    ("table", "sub table", "number"): 19,
    ("part", 0): 21,
    ("part", 0, "name"): 22,
    ("part", 0, "link", 0, "name"): 24,
    ("part", 0, "link", 0, "geometry", 1, "shape"): 27,
    ("part", 0, "link", 1): 29,
    ("part", 0, "link", 1, "pose", "xyz"): 32,
    ("part", 1): 33,
    ("part", 1, "link", 0, "name"): 36,
}


def paths(value, path=()):
    """All paths that lead to a key or an entry of an array."""
    items = value.items() if isinstance(value, Mapping) else enumerate(value)
    for key, part in items:
        yield (*path, key)
        if isinstance(part, (Mapping, list)):
            yield from paths(part, (*path, key))


@pytest.mark.parametrize(("path", "line"), EXPECTED.items(), ids=lambda value: str(value))
def test_a_key_has_the_line_on_which_it_stands(path, line):
    assert lines_of(TEXT)[path] == line


FILES = sorted([*ROOT.glob("examples/scenes/*.toml"), ROOT / "pyproject.toml"])


@pytest.mark.parametrize("text", [TEXT, *(path.read_text() for path in FILES)], ids=range(len(FILES) + 1))
def test_the_walk_finds_exactly_the_paths_that_tomllib_finds(text):
    lines = lines_of(text)
    assert set(lines) == set(paths(tomllib.loads(text)))
    for path, line in lines.items():
        key = next(part for part in reversed(path) if isinstance(part, str))
        if isinstance(path[-1], str):
            assert key in text.splitlines()[line - 1]


def test_an_empty_text_has_no_keys():
    assert lines_of("") == lines_of("# nothing\n\n") == {}
