"""The quick form of every study, run once for all tests that look at it."""

from pathlib import Path

import pytest

from liegg.studies import runner


@pytest.fixture(scope="session")
def quick_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `liegg reproduce all --quick` leaves; not to be changed."""
    folder = tmp_path_factory.mktemp("quick")
    results = runner.run_all(folder, quick=True)
    assert results is not None
    assert list(results) == [*runner.STUDIES, "claims"]
    return folder
