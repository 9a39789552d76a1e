"""Reads settings as users write them, and describes them.

A settings file is YAML with the tree of groups; `--set group.name=value` overrides it. An unknown or ill-typed
setting is an error that names the nearest setting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from quern.schemas.errors import QuernError
from quern.schemas.settings import Settings
from quern.schemas.words.meant import meant


class SettingsError(QuernError):
    """A settings file or an override that is wrong; the message says which setting and what to do."""


def group_doc(group: str) -> str:
    """What the settings of a group are about, in a line."""
    return (type(getattr(Settings(), group)).__doc__ or "").split("\n")[0]


def setting_names() -> list[str]:
    """Every setting as `group.name`, in the order of the tree."""
    return [f"{group}.{name}" for group, name, _, _ in describe(Settings())]


def describe(settings: Settings) -> Iterator[tuple[str, str, Any, str]]:
    """Rows of (group, name, value, description), in the order of the tree."""
    for group in Settings.model_fields:
        values = getattr(settings, group)
        for name, field in type(values).model_fields.items():
            meaning, names = field.description or "", _choices(field.annotation)
            # What it can be, where its description does not name all of it.
            if not all(f"`{one}`" in meaning for one in names):
                one_or_any = "One" if get_origin(field.annotation) is Literal else "Any"
                meaning = f"{meaning} {one_or_any} of: {', '.join(names)}."
            yield group, name, getattr(values, name), meaning


def choices(group: str, name: str) -> tuple[str, ...]:
    """The values that the setting `group.name` can have, where they are names; none for others."""
    return _choices(type(getattr(Settings(), group)).model_fields[name].annotation)


def _choices(annotation: Any) -> tuple[str, ...]:
    if get_origin(annotation) is Literal:
        return tuple(str(one) for one in get_args(annotation))
    return next((values for below in get_args(annotation) if (values := _choices(below))), ())


def _explain(error: ErrorDetails, where: str) -> str:
    path = ".".join(str(p) for p in error["loc"])
    if error["type"] == "extra_forbidden":
        groups = list(Settings.model_fields)
        # `retrieve.topk`, `grph.k`: a group and a name are both to be found, and a wrong hint costs a glance.
        elsewhere = [name for name in setting_names() if name.endswith(f".{path.rpartition('.')[2]}")]
        near = elsewhere[0] if len(elsewhere) == 1 else meant(path, setting_names() + groups, 0.4)
        hint = f"; did you mean {near}?" if near else "; `quern settings` lists them all"
        return f"{where}: there is no setting {path}{hint}"
    # Of a name that is none of a list pydantic tells the list, as a sentence.
    names = re.findall(r"'(.+?)'", error["ctx"]["expected"]) if error["type"] == "literal_error" else []
    near = meant(str(error["input"]), names)
    hint = f"; did you mean {near}?" if near else ""
    message = error["msg"].removeprefix("Value error, ")
    return f"{where}: setting {path} is {error['input']!r}: {message[:1].lower()}{message[1:]}{hint}"


def _read(path: Path) -> dict[str, Any]:
    try:
        tree = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"settings file {path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"settings file {path} is not valid YAML: {' '.join(str(error).split())}") from error
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise SettingsError(f"settings file {path} must hold groups of settings, like: link: {{k: 2}}")
    dotted = [name for name in tree if "." in str(name)]
    if dotted:
        group, _, leaf = str(dotted[0]).partition(".")
        raise SettingsError(f"settings file {path}: write {dotted[0]} as a group: {group}: {{{leaf}: ...}}")
    return tree


def load_settings(path: Path | None = None, overrides: Sequence[str] = (), base: Settings | None = None) -> Settings:
    """Settings from `base` or the defaults, then the YAML file at `path`, then `group.name=value` overrides.

    Raises SettingsError: the file cannot be read, or a setting is unknown or ill-typed.
    """
    tree: dict[str, Any] = base.model_dump() if base else {}
    for group, branch in (_read(path) if path else {}).items():
        below = tree.get(group)
        tree[group] = {**below, **branch} if isinstance(below, dict) and isinstance(branch, dict) else branch
    for override in overrides:
        name, equals, value = override.partition("=")
        group, dot, leaf = name.strip().partition(".")
        if not equals or not dot:
            raise SettingsError(f"--set {override}: write it as group.name=value, for example --set link.k=2")
        branch = tree.setdefault(group, {})
        if not isinstance(branch, dict):
            raise SettingsError(f"--set {override}: {group} is not a group of settings")
        try:
            branch[leaf] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise SettingsError(f"--set {override}: {value!r} is not a valid value") from error
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        where = f"settings file {path}" if path and not overrides else "settings"
        raise SettingsError("; ".join(_explain(e, where) for e in error.errors())) from None
