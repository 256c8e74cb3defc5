"""pyarrow, which only the exchange of demonstrations needs."""

import sys
from typing import Any


def import_pyarrow() -> tuple[Any, Any]:
    """Return pyarrow and pyarrow.parquet; ValueError says how to install them."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ValueError(
            "demonstrations are exchanged as parquet files, and pyarrow is not installed; install it with "
            f"`{sys.executable} -m pip install 'pyarrow>=16'`"
        ) from None
    return pyarrow, pyarrow.parquet
