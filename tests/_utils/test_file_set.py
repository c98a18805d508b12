"""A set of files: the old one or the new one after any fault, and nothing else in the folder is ever touched."""

import hashlib
import json
import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from liegg._utils import file_set
from liegg._utils.errors import RecordError
from liegg._utils.file_set import MANIFEST, check_target, is_plain, read_files, write_files

OLD = {"a.txt": b"old a", "b.txt": b"old b"}
NEW = {"a.txt": b"new a", "c.txt": b"new c"}


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Writing through to the disk is not what is tested, and slow."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_written_and_read(tmp_path):
    assert write_files(tmp_path / "x" / "run", OLD) == tmp_path / "x" / "run"
    assert read_files(tmp_path / "x" / "run", ["a.txt", "b.txt", "c.txt"]) == OLD
    assert set(everything(tmp_path)) == {"x/run/a.txt", "x/run/b.txt", f"x/run/{MANIFEST}"}


def test_a_new_set_replaces_the_old_one_and_nothing_else(tmp_path):
    write_files(tmp_path, OLD)
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / ".a.txt.part").write_text("mine too")
    write_files(tmp_path, NEW)
    assert read_files(tmp_path, ["a.txt", "b.txt", "c.txt"]) == NEW
    assert {".a.txt.part", "mine.txt", *NEW, MANIFEST} == set(everything(tmp_path))


def test_kept_files_stay(tmp_path):
    write_files(tmp_path, OLD)
    write_files(tmp_path, {"c.txt": b"c"}, keep=lambda _: ["b.txt"])
    assert read_files(tmp_path, ["a.txt", "b.txt", "c.txt"]) == {"b.txt": b"old b", "c.txt": b"c"}


def test_two_writers_keep_the_files_of_each_other(tmp_path):
    """What stays is asked when the folder is locked, not before: another writer may just have been at work."""
    write_files(tmp_path, {"a.txt": b"a"})

    def keep(listed):
        seen.append({*listed})
        return listed

    seen: list[set[str]] = []
    write_files(tmp_path, {"b.txt": b"b"}, keep=keep)
    write_files(tmp_path, {"c.txt": b"c"}, keep=keep)
    assert seen == [{"a.txt"}, {"a.txt", "b.txt"}]
    assert set(read_files(tmp_path, ["a.txt", "b.txt", "c.txt"])) == {"a.txt", "b.txt", "c.txt"}


def test_files_behind_a_link_in_place_of_the_subfolder_stay(tmp_path):
    """A manifest that someone else wrote names a subfolder that is a link to a folder of the user."""
    run, user = tmp_path / "run", tmp_path / "user"
    write_files(run, OLD)
    user.mkdir()
    (user / "b.txt").write_bytes(b"secret")
    record = json.loads((run / MANIFEST).read_text())
    record["files"]["b.txt"] = hashlib.sha256(b"secret").hexdigest()
    record["part"] = ".liegg-00000000.part"
    (run / MANIFEST).write_text(json.dumps(record))
    (run / "b.txt").unlink()
    (run / record["part"]).symlink_to(user)
    for reader in (lambda: read_files(run, ["b.txt"]), lambda: write_files(run, NEW)):
        with suppress(RecordError):
            assert reader() == run
        assert (user / "b.txt").read_bytes() == b"secret"
        assert not (run / "b.txt").exists() or (run / "b.txt").read_bytes() == NEW["b.txt"]


@pytest.mark.parametrize("old", [{}, OLD])
def test_nothing_stays_if_the_new_list_has_no_room(tmp_path, monkeypatch, old):
    """All files were written, and only the manifest that makes them count was not."""
    folder, real = tmp_path / "run", file_set._write_manifest
    if old:
        write_files(folder, old)

    def full(place, manifest):
        if set(NEW) <= set(manifest.files):
            raise OSError(28, "No space left on device")
        real(place, manifest)

    monkeypatch.setattr(file_set, "_write_manifest", full)
    with pytest.raises(RecordError, match="No space left on device"):
        write_files(folder, NEW)
    assert folder.exists() == bool(old)
    assert {*everything(folder)} == ({*OLD, MANIFEST} if old else set())
    if old:
        assert read_files(folder, OLD) == OLD


@pytest.mark.parametrize("kind", ["file", "folder", "link", "pipe"])
def test_other_things_under_its_names_are_refused(tmp_path, kind):
    folder, path = tmp_path / "run", tmp_path / "run" / "a.txt"
    folder.mkdir()
    (tmp_path / "thesis.txt").write_text("mine")
    if kind == "file":
        path.write_text("mine")
    elif kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(tmp_path / "thesis.txt")
    else:
        os.mkfifo(path)
    for refused in (lambda: check_target(folder, OLD), lambda: write_files(folder, OLD)):
        with pytest.raises(RecordError, match=r"already holds a\.txt"):
            refused()
    assert [one.name for one in folder.iterdir()] == ["a.txt"]
    assert (tmp_path / "thesis.txt").read_text() == "mine"


@pytest.mark.parametrize("kind", ["changed", "link", "pipe"])
def test_a_file_that_was_changed_is_neither_read_nor_overwritten(tmp_path, kind):
    folder, path = write_files(tmp_path / "run", OLD), tmp_path / "run" / "a.txt"
    (tmp_path / "thesis.txt").write_bytes(b"old a")  # the same bytes, elsewhere
    path.unlink()
    if kind == "changed":
        path.write_text("edited")
    elif kind == "link":
        path.symlink_to(tmp_path / "thesis.txt")
    else:
        os.mkfifo(path)
    for refused in (lambda: read_files(folder, OLD), lambda: write_files(folder, NEW)):
        with pytest.raises(RecordError, match=r"a\.txt"):
            refused()
    assert read_files(folder, ["b.txt"]) == {"b.txt": b"old b"}
    assert (tmp_path / "thesis.txt").read_bytes() == b"old a"
    assert kind != "changed" or path.read_text() == "edited"


def test_a_missing_file_is_named_and_can_be_written_again(tmp_path):
    write_files(tmp_path, OLD)
    (tmp_path / "b.txt").unlink()
    with pytest.raises(RecordError, match=r"b\.txt is missing"):
        read_files(tmp_path, OLD)
    write_files(tmp_path, OLD)
    assert read_files(tmp_path, OLD) == OLD


@pytest.mark.parametrize(
    "change",
    [
        {"files": {"../thesis.txt": "0"}},
        {"files": {"/etc/passwd": "0"}},
        {"files": {"a/b": "0"}},
        {"files": [1, 2]},
        {"stale": {"../thesis.txt": "0"}},
        {"part": "photos"},
        {"part": "../photos"},
        {"part": 3},
        {"format": 2},
    ],
)
def test_a_manifest_that_points_elsewhere_is_refused(tmp_path, change):
    folder = write_files(tmp_path / "run", OLD)
    (tmp_path / "thesis.txt").write_text("mine")
    (folder / "photos").mkdir()
    (folder / "photos" / "one.jpg").write_text("mine")
    record = json.loads((folder / MANIFEST).read_text()) | change
    (folder / MANIFEST).write_text(json.dumps(record))
    before = everything(tmp_path)
    for refused in (lambda: read_files(folder, OLD), lambda: write_files(folder, NEW)):
        with pytest.raises(RecordError, match="damaged"):
            refused()
    assert everything(tmp_path) == before


def test_a_listed_file_of_someone_else_is_not_removed(tmp_path):
    """A manifest that lists a file with another checksum removes nothing."""
    folder = write_files(tmp_path, OLD)
    (folder / "thesis.txt").write_text("mine")
    record = json.loads((folder / MANIFEST).read_text())
    record |= {"stale": {"thesis.txt": "0" * 64}, "part": ".liegg-00000000.part"}
    (folder / MANIFEST).write_text(json.dumps(record))
    write_files(folder, NEW)
    assert (folder / "thesis.txt").read_text() == "mine"
    assert read_files(folder, NEW) == NEW


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_manifest_is_named(tmp_path, content):
    folder = write_files(tmp_path, OLD)
    (folder / MANIFEST).write_bytes(content)
    with pytest.raises(RecordError, match=r"manifest\.json is damaged"):
        read_files(folder, OLD)


def faults(monkeypatch, after: int, error: BaseException) -> list[str]:
    """Let the file operation number `after` fail, and all after it if the process is to be dead by then."""
    calls: list[str] = []

    def failing(name, real):
        def call(*given, **named):
            calls.append(name)
            if len(calls) == after or (len(calls) > after and isinstance(error, SystemExit)):
                raise error
            return real(*given, **named)

        return call

    for owner, name in ((Path, "replace"), (Path, "unlink"), (Path, "mkdir"), (Path, "rmdir")):
        monkeypatch.setattr(owner, name, failing(name, getattr(owner, name)))
    monkeypatch.setattr(os, "fsync", failing("fsync", os.fsync))
    return calls


@pytest.mark.parametrize("error", [SystemExit(), KeyboardInterrupt(), OSError(28, "No space left")])
def test_a_fault_at_any_moment_leaves_the_old_set_or_the_new_one(tmp_path, error):
    """Killed (every later operation fails too), interrupted, or out of space at the n-th operation, for every n."""
    outcomes = set()
    for after in range(1, 100):
        folder = write_files(tmp_path / str(after), OLD)
        (folder / "mine.txt").write_text("mine")
        with pytest.MonkeyPatch.context() as patch:
            calls = faults(patch, after, error)
            try:
                write_files(folder, NEW)
                done = True
            except (SystemExit, KeyboardInterrupt, RecordError):
                done = False
        if len(calls) < after:
            break
        names = ["a.txt", "b.txt", "c.txt"]
        found = read_files(folder, names)
        assert found in (OLD, NEW)
        assert not done or found == NEW
        if isinstance(error, OSError):  # the message says that nothing was changed
            assert done or found == OLD
        outcomes.add(found == NEW)
        assert (folder / "mine.txt").read_text() == "mine"
        write_files(folder, {"d.txt": b"d"})
        assert read_files(folder, [*names, "d.txt"]) == {"d.txt": b"d"}
        left = set(everything(folder)) - {"d.txt", "mine.txt", MANIFEST}
        dead = isinstance(error, SystemExit)  # may leave the manifest it was writing, never more
        assert all(dead and name.startswith(f".{MANIFEST}.") for name in left)
        assert len(left) <= 1
    else:
        pytest.fail("the writing never came to its end")
    assert outcomes == {True, False}


def test_a_refusal_leaves_no_folder_behind(tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        faults(patch, 6, OSError(28, "No space left on device"))
        with pytest.raises(RecordError, match="No space left on device"):
            write_files(tmp_path / "a" / "b" / "c", OLD)
    assert list(tmp_path.iterdir()) == []


def test_a_file_where_a_folder_should_be(tmp_path):
    (tmp_path / "file").write_text("mine")
    for path in (tmp_path / "file", tmp_path / "file" / "run"):
        for refused in (check_target, write_files):
            with pytest.raises(RecordError, match="is a file; expected a folder"):
                refused(path, OLD)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("place", ["link", "link/a/b"])
def test_a_link_to_nowhere_is_refused_before_anything_is_computed(tmp_path, place):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for refused in (check_target, write_files):
        with pytest.raises(RecordError, match=r"is a link to .*nowhere, which does not exist"):
            refused(tmp_path / place, OLD)
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


def test_writers_wait_for_each_other(tmp_path):
    """Eight threads write different sets; the result is one of them."""
    sets = [{"a.txt": bytes([i]) * 1000, "b.txt": bytes([i]) * 10} for i in range(8)]
    seen, failures = [], []

    def write(files):
        try:
            for _ in range(5):
                write_files(tmp_path, files)
                seen.append(read_files(tmp_path, files))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(files,)) for files in sets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert all(found in sets for found in seen)
    assert set(everything(tmp_path)) == {"a.txt", "b.txt", MANIFEST}


def test_a_held_lock_is_named(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(file_set, "LOCK_SECONDS", 0.05)
    write_files(tmp_path, OLD)
    handle = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        for refused in (lambda: write_files(tmp_path, NEW), lambda: read_files(tmp_path, OLD)):
            with pytest.raises(RecordError, match="being written by another process"):
                refused()
    finally:
        os.close(handle)
    assert read_files(tmp_path, OLD) == OLD


def test_plain_names():
    assert all(map(is_plain, ["a", "a.b", ".a", "ä ö", "a..b"]))
    assert not any(map(is_plain, ["", ".", "..", "a/b", "/a", "a\\b", "a\0", MANIFEST, None, 3]))
