"""A file is complete, or the one before."""

import pytest

from liegg._utils.atomic_write import atomic_path, write_text
from liegg._utils.errors import ArgumentError


def test_a_failed_write_leaves_the_previous_file_and_nothing_else(tmp_path):
    path = write_text("before", tmp_path / "folder" / "file")

    def fail():
        with atomic_path(path) as temporary:
            temporary.write_text("half")
            raise OSError("full")

    with pytest.raises(OSError, match="full"):
        fail()
    assert path.read_text() == "before"
    assert list(path.parent.iterdir()) == [path]


def test_a_complete_write_replaces_it(tmp_path):
    path = tmp_path / "file"
    for text in ("one", "two"):
        assert write_text(text, path).read_text() == text
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match="is a folder; expected a file"):
        write_text("text", tmp_path)
