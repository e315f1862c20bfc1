"""The keys of a study file in Markdown, from the classes that read them."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from mcpframe.scene.settings import Settings
from mcpframe.studies.study.study import RunSettings
from mcpframe.studies.study.study_file import KINDS

WORDS = {str: "text", float: "number", int: "integer", bool: "true or false", dict: "table", Any: "anything"}


def reference() -> str:
    """Return tables of all keys: those at the top, and those of every kind of ``[[problems]]``."""
    parts = ["### At the top", "", *_table(RunSettings, ())]
    for kind, source in KINDS.items():
        parts += ["", f"### Problems from `{kind}`", "", _first_line(source), "", *_table(source, (kind,))]
    return "\n".join(parts) + "\n"


def _table(settings: type[Settings], first: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a table, with the keys that make the kind first."""
    yield "| key | type | unless given | meaning |"
    yield "| --- | --- | --- | --- |"
    for name in [*first, *(name for name in settings.model_fields if name not in first)]:
        about = settings.model_fields[name]
        kind = type_in_words(about.annotation).replace("|", "\\|")
        yield f"| `{name}` | {kind} | {_default(about)} | {about.description} |"


def type_in_words(annotation: Any) -> str:
    """Return a type as users say it: ``number``, ``list of integer``, ``"cold" or "warm"``."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return type_in_words(inner[0])
    if origin is Literal:
        return " or ".join(f'"{choice}"' for choice in inner)
    if origin in (Union, types.UnionType):
        return " or ".join(type_in_words(part) for part in inner if part is not type(None))
    if origin is list:
        return f"list of {type_in_words(inner[0])}"
    return WORDS[origin or annotation]


def _default(about: FieldInfo) -> str:
    if about.is_required():
        return "must be given"
    if about.default is None or about.default == "":
        return ""
    text = str(about.default).lower() if isinstance(about.default, bool) else repr(about.default)
    return f"`{text}`".replace("'", '"')


def _first_line(cls: type[Settings]) -> str:
    return (cls.__doc__ or "").strip().partition("\n")[0]
