"""What an MJCF file declares is refused before MuJoCo takes time and memory for it."""

import pytest

from mcpframe import FileFormatError
from mcpframe.io.mjcf import load_mjcf
from mcpframe.io.mjcf_sizes import check_sizes

BALL = '<body><freejoint/><geom size=".1" mass="1"/></body>'
ROW = '<replicate count="{}" offset=".3 0 0">{}</replicate>'
FIELD = '<hfield name="h" nrow="{}" ncol="{}" size="1 1 1 1"/>'


def mjcf(inside):
    return f"<mujoco>\n<worldbody>{inside}</worldbody></mujoco>".encode()


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        (ROW.format(3_000_000, BALL), "<replicate>: makes 3e.06 copies; at most 10,000"),
        (ROW.format(200, ROW.format(200, BALL)), "<replicate>: makes 4e.04 copies"),
        (ROW.format("1e400", BALL), "<replicate>: makes .* copies"),
        ('<body><composite type="cable" count="100000 1 1"/></body>', "<composite>: makes 1e.05 copies"),
        (FIELD.format(40_000, 40_000), "<hfield>: declares 6.4 GB"),
        ('<texture builtin="flat" width="60000" height="60000"/>', "<texture>: declares 10.8 GB"),
    ],
)
def test_sizes_beyond_all_measure_are_refused_by_line_and_element(tmp_path, inside, words):
    path = tmp_path / "many.xml"
    path.write_bytes(mjcf(inside))
    with pytest.raises(FileFormatError, match=rf"many\.xml: line 2: {words}"):
        load_mjcf(path)


def test_copies_within_measure_are_made(tmp_path):
    pytest.importorskip("mujoco")
    path = tmp_path / "few.xml"
    path.write_bytes(mjcf(ROW.format(3, ROW.format(2, BALL)) + ROW.format(4, BALL)))
    assert len(load_mjcf(path).links) == 3 * 2 + 4


@pytest.mark.parametrize(
    "content", [b"<mujoco>", mjcf(ROW.format("many", BALL)), mjcf(FIELD.format(3, "")), b""]
)
def test_what_is_wrong_otherwise_is_left_to_mujoco(tmp_path, content):
    check_sizes(tmp_path / "odd.xml", content)
