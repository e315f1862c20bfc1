"""URDF elements, read strictly: names, types and counts of numbers are checked before anything is built.

yourdfpy, which turns the elements into numbers, guesses where a file is damaged: it repairs truncated XML,
takes a missing moment of inertia for one and a single number for three equal ones. So the XML is parsed and
checked here, and only links and joints that passed are handed on. Meshes are named, never opened.
"""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.parsers import expat

from mcpframe.exceptions import FileFormatError
from mcpframe.io.robot_files import LeftOut, import_reader, read_bytes
from mcpframe.io.untrusted import reading

JOINT_TYPES = ("fixed", "revolute", "continuous", "prismatic", "floating", "planar")
SHAPES = ("box", "cylinder", "sphere", "mesh")
READ = {
    "robot": {"link", "joint", "material"},
    "link": {"inertial", "collision", "visual"},
    "joint": {"parent", "child", "origin", "axis", "limit", "dynamics", "mimic"},
}
"""Elements that are read; others are named as left out. A material is a colour."""

DEEPEST = 50
"""Elements within each other; URDF has five, and parsers of deep ones lose their footing."""
NUMBERS = (
    ("link", "inertial/mass", ("value",), 1, True),
    ("link", "inertial/inertia", ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), 1, True),
    ("link", "inertial/origin", ("xyz", "rpy"), 3, False),
    ("link", "*/origin", ("xyz", "rpy"), 3, False),
    ("link", "*/geometry/sphere", ("radius",), 1, True),
    ("link", "*/geometry/cylinder", ("radius", "length"), 1, True),
    ("link", "*/geometry/box", ("size",), 3, True),
    ("link", "*/geometry/mesh", ("scale",), 3, False),
    ("joint", "origin", ("xyz", "rpy"), 3, False),
    ("joint", "axis", ("xyz",), 3, False),
    ("joint", "limit", ("lower", "upper", "effort", "velocity"), 1, False),
    ("joint", "dynamics", ("damping", "friction"), 1, False),
    ("joint", "mimic", ("multiplier", "offset"), 1, False),
)
"""Owner, path to the element, its attributes, count of numbers in each, whether they must be there."""


def read_robot(file: Path, body: str, left_out: LeftOut) -> Any:
    """Return the robot of a URDF file as a yourdfpy.Robot.

    Args:
        file: the file.
        body: "collision" or "visual": the geometry that is kept.
        left_out: told what the file holds and the robot does not.
    """
    yourdfpy = import_reader("yourdfpy")
    root = _parse(file)
    robot = Element("robot", name=root.get("name") or file.stem)
    _drop_unread(file, root, left_out)
    for element in root.findall("link") + root.findall("joint"):
        _check_names(file, element)
        _drop_unread(file, element, left_out)
        _keep_geometry(file, element, body, left_out)
        _check_numbers(file, element)
        robot.append(element)
    with reading(str(file), "is not a URDF that can be read"):
        stream = io.BytesIO(ElementTree.tostring(robot, encoding="utf-8"))
        return yourdfpy.URDF.load(stream, build_scene_graph=False, load_meshes=False).robot


def _parse(file: Path) -> Element:
    """Parse strictly, but without namespaces: robot files use prefixes that nobody declares."""
    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate()

    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise FileFormatError(f"{file}: line {parser.CurrentLineNumber}: elements are nested too deeply")
        builder.start(tag, {name: text for name, text in attributes.items() if not _is_foreign(name)})

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    content = read_bytes(file)
    with reading(str(file), "is not well-formed XML"):
        parser.Parse(content, True)
        root = builder.close()
    if root.tag != "robot":
        raise FileFormatError(f"{file}: root element is <{root.tag}>, that of a URDF file is <robot>")
    return root


def _is_foreign(name: str) -> bool:
    """Tell whether a tag or attribute belongs to another program (drake:, xacro:) or to XML (xmlns)."""
    return ":" in name or name == "xmlns"


def _drop_unread(file: Path, owner: Element, left_out: LeftOut) -> None:
    for element in [child for child in owner if child.tag not in READ[owner.tag]]:
        if element.tag.startswith("xacro:"):
            raise FileFormatError(f"{file}: is a xacro file; expand it first: xacro {file.name} > robot.urdf")
        of = element if owner.tag == "robot" else owner
        left_out.add(f"<{element.tag}>", of.get("name") or of.get("reference") or "without a name")
        owner.remove(element)


def _check_names(file: Path, element: Element) -> None:
    """Check that a link or joint has a name, and a joint its type and what it joins."""
    name = element.get("name")
    if not name:
        raise FileFormatError(f"{file}: a <{element.tag}> has no name")
    if element.tag == "link":
        return
    if element.get("type") not in JOINT_TYPES:
        raise FileFormatError(
            f"{file}: joint {name!r} has type {element.get('type')!r}; known are {', '.join(JOINT_TYPES)}"
        )
    for tag, attribute, required in (("parent", "link", 1), ("child", "link", 1), ("mimic", "joint", 0)):
        ends = element.findall(tag)
        if len(ends) < required or len(ends) > 1 or not all(end.get(attribute) for end in ends):
            raise FileFormatError(f"{file}: joint {name!r} needs one <{tag} {attribute}=...>")


def _keep_geometry(file: Path, link: Element, body: str, left_out: LeftOut) -> None:
    """Drop the bodies that are not asked for, and those with a shape unknown here, by name."""
    for element in [child for child in link if child.tag in ("collision", "visual")]:
        geometries = element.findall("geometry")
        shape = next(iter(geometries[0]), None) if geometries else None
        if element.tag != body:
            link.remove(element)
        elif shape is None or shape.tag not in SHAPES:
            left_out.add(f"{body} shape <{'' if shape is None else shape.tag}>", str(link.get("name")))
            link.remove(element)
        elif shape.tag == "mesh" and not shape.get("filename"):
            raise FileFormatError(f"{file}: link {link.get('name')!r}: a <mesh> has no filename")
        for material in element.findall("material"):
            element.remove(material)


def _check_numbers(file: Path, owner: Element) -> None:
    """Check that every attribute holds its count of finite numbers, and that masses come with inertias."""
    who = f"{file}: {owner.tag} {owner.get('name')!r}"
    for tag, path, attributes, count, required in NUMBERS:
        for element in owner.findall(path) if owner.tag == tag else ():
            for attribute in attributes:
                _check_attribute(who, element, attribute, count, required)
    for inertial in owner.findall("inertial"):
        if inertial.find("mass") is None or inertial.find("inertia") is None:
            raise FileFormatError(f"{who}: <inertial> needs both <mass> and <inertia>")


def _check_attribute(who: str, element: Element, attribute: str, count: int, required: bool) -> None:
    text = element.get(attribute)
    if text is None and not required:
        return
    numbers = [_number(word) for word in (text or "").split()]
    if len(numbers) != count or not all(map(math.isfinite, numbers)):
        expected = "one finite number is" if count == 1 else f"{count} finite numbers are"
        raise FileFormatError(f"{who}: {attribute}={text!r} of <{element.tag}>; {expected} expected")


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return math.nan
