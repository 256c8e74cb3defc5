"""A document that a person wrote, JSON or YAML, read field by field: a mistake is one sentence that names its field."""

import reprlib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from task_synthesis.json_text import parse_json

YAML_SUFFIXES = (".yaml", ".yml")
# Texts, and "<<", under which the fields of another object are taken over.
_YAML_NAMES = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge")


def read_document(path: Path) -> "Fields":
    """Return the fields of a file: YAML by its suffix, else JSON.

    Raises:
        ValueError: no such file, or one that cannot be parsed.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors of Windows begin with a mark
    except OSError:
        what = "a folder" if path.is_dir() else "no such file"
        raise ValueError(f"{path}: {what}; name a JSON or YAML file of tasks") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not UTF-8; save it as UTF-8 text") from None
    return Fields(
        _from_yaml(text, path) if path.suffix in YAML_SUFFIXES else _from_json(text, path), str(path), joint=": "
    )


class _TwinError(Exception):
    """Two fields of one name in an object: either could be meant. No ValueError, which JSON's readers raise of text."""

    def __init__(self, name: str) -> None:
        super().__init__(f"an object has {name!r} twice; keep one")


def _from_json(text: str, path: Path) -> object:
    try:
        whole: object = parse_json(text, object_pairs_hook=_without_twins)
    except ValueError as error:
        fix = "mend that line" if path.suffix == ".json" else "mend that line, or end the name in .yaml for YAML"
        raise ValueError(f"{path}: not JSON ({error}); {fix}") from None
    except _TwinError as twin:
        raise ValueError(f"{path}: {twin}") from None
    return whole


def _from_yaml(text: str, path: Path) -> object:
    import yaml  # only for those who write YAML

    class Loader(yaml.SafeLoader):
        """Safe, with names that are texts, and without YAML's habit of taking the last of two fields of one name."""

        def compose_mapping_node(self, anchor: str | None) -> yaml.MappingNode:
            node: yaml.MappingNode = super().compose_mapping_node(anchor)
            for key, _ in node.value:
                if not isinstance(key, yaml.ScalarNode) or key.tag not in _YAML_NAMES:
                    raise yaml.MarkedYAMLError(
                        problem="a field's name is no text, put it in quotes", problem_mark=key.start_mark
                    )
            try:
                _without_twins([(key.value, None) for key, _ in node.value])
            except _TwinError as twin:
                raise ValueError(f"{path}: line {node.start_mark.line + 1}: {twin}") from None
            return node

        def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
            if not isinstance(node, yaml.ScalarNode):
                return super().construct_object(node, deep)
            try:
                return super().construct_object(node, deep)
            except (ValueError, LookupError, AttributeError):  # "2024-13-45", "!!float" of nothing, "!!timestamp x"
                kind = node.tag.rpartition(":")[2]
                raise yaml.MarkedYAMLError(
                    problem=f"{node.value[:40]!r} is no {kind}", problem_mark=node.start_mark
                ) from None

    try:
        whole: object = yaml.load(text, Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        what = getattr(error, "problem", None) or "it cannot be read"
        raise ValueError(f"{path}: not YAML ({where}{what}); mend that line") from None
    except RecursionError:
        raise ValueError(f"{path}: not YAML that can be read (it is nested too deep); write fewer levels") from None
    return whole


def _without_twins(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of an object, or raise _TwinError."""
    seen: dict[str, Any] = {}
    for name, value in pairs:
        if name in seen:
            raise _TwinError(name)
        seen[name] = value
    return seen


class Fields:
    """An object of the file that is read field by field and must be used up."""

    def __init__(self, value: object, where: str, *, joint: str = ".") -> None:
        """`where` is the file or field that holds `value`, and `joint` what stands between it and a field's name."""
        if not isinstance(value, dict):
            if value is None:
                raise ValueError(f"{where}: is empty; `mcrl synth --from --help` shows what to write")
            what = type(value).__name__
            raise ValueError(f"{where} must be an object in braces, got {what}")
        self.where, self._joint = where, joint
        self._left: dict[str, Any] = dict(value)
        self._known: list[str] = []

    def take(self, name: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
        """Return a field of the type `kind`; without a default it must be there."""
        self._known.append(name)
        if name not in self._left:
            if default is None:
                misspelt = get_close_matches(name, self._left, n=1)
                fix = f"is {misspelt[0]} meant to be it?" if misspelt else "add it"
                raise ValueError(f"{self.where}{self._joint}{name} is missing; {fix}")
            return default
        value = self._left.pop(name)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            words = " or ".join(_WORDS[one] for one in kinds)
            raise ValueError(f"{self.where}{self._joint}{name} must be {words}, got {reprlib.repr(value)}")
        return value

    def has(self, name: str) -> bool:
        """Return whether a field is there and not taken yet."""
        return name in self._left

    def rest(self) -> Mapping[str, Any]:
        """Return the fields not taken, as taken."""
        left, self._left = self._left, {}
        return left

    def end(self) -> None:
        """Refuse fields that nobody asked for."""
        for name in self._left:
            raise ValueError(
                f"{self.where}{self._joint}{name} is not a field; the fields are {', '.join(sorted(self._known))}"
            )


_WORDS: dict[type, str] = {
    int: "an integer",
    float: "a number",
    str: "a text",
    list: "a list in brackets",
    dict: "an object in braces",
}
