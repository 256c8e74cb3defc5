"""Our packages are called by common words: where somebody else's `eval` or `worlds` is found instead of ours."""

from importlib.util import find_spec
from pathlib import Path

PACKAGES = ("worlds", "task_synthesis", "policies", "mcrl", "eval")
"""As they are installed, beside each other."""


def check_names() -> None:
    """Do nothing where `import NAME` gives each of our packages.

    Raises:
        ValueError: one name leads elsewhere, with both places.
    """
    home = Path(__file__).resolve().parents[1]
    for name in PACKAGES:
        spec = find_spec(name)
        places = [] if spec is None else list(spec.submodule_search_locations or filter(None, [spec.origin]))
        if not any(Path(place).resolve() == home / name for place in places):
            found = f"leads to {places[0]}" if places else "leads nowhere"
            raise ValueError(
                f"the package name {name!r} {found}, not to ours in {home / name}; start from another folder with the "
                "command `mcrl`, or take the other one out of PYTHONPATH or this environment"
            )


def other_owners() -> dict[str, list[str]]:
    """Return which other distributions have put a package of ours' name into this environment, by that name.

    Files of such a package lie among ours, and pip lets the one installed last replace what both have.
    """
    from importlib import metadata  # here, since every `mcrl` command starts with the check above

    owners_of = metadata.packages_distributions()
    others = {name: sorted(set(owners_of.get(name, [])) - {"mcrl"}) for name in PACKAGES}
    return {name: owners for name, owners in others.items() if owners}
