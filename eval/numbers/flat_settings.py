"""Settings of nested sections by their full names, to say in which of them two configs differ."""

from collections.abc import Iterator, Mapping


def flat_settings(config: Mapping[str, object]) -> dict[str, object]:
    """Return every setting by its full name, such as "env.image_px"."""
    return dict(_flat(config, ""))


def _flat(config: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value
