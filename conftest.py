"""Shape contracts are enforced in the tests only: every `liegg` module is imported through jaxtyping's hook."""

import pytest
from jaxtyping import install_import_hook

install_import_hook("liegg", "beartype.beartype")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where several processes share the tests, a file stays in one, and so do all that look at the quick form of the studies."""
    for item in items:
        shared = "quick_folder" in getattr(item, "fixturenames", ())
        item.add_marker(pytest.mark.xdist_group("quick" if shared else str(item.path)))
