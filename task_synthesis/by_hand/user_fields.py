"""A document that a person wrote, JSON or YAML, read field by field: a mistake is one sentence that names its field."""

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

YAML_SUFFIXES = (".yaml", ".yml")


def read_document(path: Path) -> "Fields":
    """Return the fields of a file: YAML by its suffix, else JSON.

    Raises:
        ValueError: no such file, or one that cannot be parsed.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        what = "a folder" if path.is_dir() else "no such file"
        raise ValueError(f"{path}: {what}; name a JSON or YAML file of tasks") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not UTF-8; save it as UTF-8 text") from None
    return Fields(
        _from_yaml(text, path) if path.suffix in YAML_SUFFIXES else _from_json(text, path), str(path), joint=": "
    )


def _from_json(text: str, path: Path) -> object:
    try:
        whole: object = json.loads(text, object_pairs_hook=lambda pairs: _without_twins(pairs, str(path)))
    except json.JSONDecodeError as error:
        fix = "mend that line" if path.suffix == ".json" else "mend that line, or end the name in .yaml for YAML"
        raise ValueError(f"{path}: not JSON (line {error.lineno}: {error.msg}); {fix}") from None
    return whole


def _from_yaml(text: str, path: Path) -> object:
    import yaml  # only for those who write YAML

    class Loader(yaml.SafeLoader):
        """Safe, and without YAML's habit of taking the last of two fields of one name."""

        def compose_mapping_node(self, anchor: str | None) -> yaml.MappingNode:
            node: yaml.MappingNode = super().compose_mapping_node(anchor)
            names = [(key.value, None) for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            _without_twins(names, f"{path}: line {node.start_mark.line + 1}")
            return node

    try:
        whole: object = yaml.load(text, Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        what = getattr(error, "problem", None) or "it cannot be read"
        raise ValueError(f"{path}: not YAML ({where}{what}); mend that line") from None
    return whole


def _without_twins(pairs: Sequence[tuple[str, Any]], where: str) -> dict[str, Any]:
    """Return the fields of an object; ValueError where one is there twice: either could be meant."""
    seen: dict[str, Any] = {}
    for name, value in pairs:
        if name in seen:
            raise ValueError(f"{where}: an object has {name!r} twice; keep one")
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
            raise ValueError(f"{self.where}{self._joint}{name} must be {words}, got {value!r}")
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
